package hooks

import (
	"bufio"
	"io"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
)

// update is one line "old new ref" of a hook's standard input.
type update struct {
	old, new gitrepo.ID // "" for none
	ref      string
	full     string // with the namespace that a push serves
	line     string // as Git wrote it
	// symbolic says that the ref would become a symbolic one, or stop being one.
	symbolic bool
}

// readUpdates reads all lines. Git writes them; a line that is not of that form
// refuses the whole, since something stands between Git and the hook.
func readUpdates(r io.Reader) ([]update, error) {
	var out []update
	lines := bufio.NewScanner(io.LimitReader(r, maxInput+1))
	lines.Buffer(make([]byte, 0, 4096), 1<<20)
	total := 0
	for lines.Scan() {
		total += len(lines.Bytes()) + 1
		u, ok := parseUpdate(lines.Text())
		if !ok || total > maxInput {
			return nil, fault.New(fault.GitFailed, "the hook's input is not what Git writes").
				WithHint("check what runs the hook; it must pass standard input through unchanged")
		}
		out = append(out, u)
	}
	if err := lines.Err(); err != nil {
		return nil, fault.New(fault.IOFailed, "the hook's input could not be read").WithCause(err)
	}
	return out, nil
}

func parseUpdate(line string) (update, bool) {
	old, rest, ok := strings.Cut(line, " ")
	if !ok {
		return update{}, false
	}
	next, ref, ok := strings.Cut(rest, " ")
	if !ok || ref == "" {
		return update{}, false
	}
	u := update{ref: ref, line: line}
	var okOld, okNew bool
	u.old, okOld = value(old, &u)
	u.new, okNew = value(next, &u)
	return u, okOld && okNew
}

// value reads an object id, zero for none, or "ref:TARGET" (Git 2.46 and newer
// lists symbolic updates so).
func value(s string, u *update) (gitrepo.ID, bool) {
	if strings.HasPrefix(s, "ref:") {
		u.symbolic = true
		return "", true
	}
	if len(s) != 40 && len(s) != 64 || strings.Trim(s, "0123456789abcdef") != "" {
		return "", false
	}
	if strings.Trim(s, "0") == "" {
		return "", true
	}
	return gitrepo.ID(s), true
}
