//go:build bench

package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
)

// byHandVariable makes this test's program the simplest client there can be: it
// starts that many servers, four at a time, asks each for its tools, and ends them
// all side by side. Its arguments are the servers' command.
const byHandVariable = "EVOLVE_BENCH_BY_HAND"

func byHand() int {
	count, err := strconv.Atoi(os.Getenv(byHandVariable))
	if err != nil {
		return 2
	}
	slots := make(chan struct{}, 4)
	var mu sync.Mutex
	var all sync.WaitGroup
	tools, failed := 0, 0
	for range count {
		all.Go(func() {
			slots <- struct{}{}
			n, end, err := listByHand(os.Args[1], os.Args[2:])
			<-slots
			if end != nil {
				end()
			}
			mu.Lock()
			defer mu.Unlock()
			tools += n
			if err != nil {
				failed = 1
			}
		})
	}
	all.Wait()
	fmt.Println(tools)
	return failed
}

// listByHand speaks just enough of the protocol.
func listByHand(command string, args []string) (tools int, end func(), err error) {
	cmd := exec.Command(command, args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, nil, err
	}
	if err := cmd.Start(); err != nil {
		return 0, nil, err
	}
	end = func() {
		_ = in.Close()
		_ = cmd.Wait()
	}
	lines := bufio.NewReader(out)
	if _, err := ask(in, lines, 1, "initialize",
		`{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"by-hand","version":"1"}}`); err != nil {
		return 0, end, err
	}
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		return 0, end, err
	}
	raw, err := ask(in, lines, 2, "tools/list", `{}`)
	if err != nil {
		return 0, end, err
	}
	var list struct{ Tools []json.RawMessage }
	err = json.Unmarshal(raw, &list)
	return len(list.Tools), end, err
}

func ask(in io.Writer, out *bufio.Reader, id int, method, params string) (json.RawMessage, error) {
	if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params); err != nil {
		return nil, err
	}
	for {
		line, err := out.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		var reply struct {
			ID     json.RawMessage
			Result json.RawMessage
		}
		if json.Unmarshal(line, &reply) == nil && string(reply.ID) == strconv.Itoa(id) && reply.Result != nil {
			return reply.Result, nil
		}
	}
}
