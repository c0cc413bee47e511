package promote

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
	"github.com/evolve-mcp/evolve/review"
)

// The bypass table. Each row is a real repository of two commits: base holds the
// server's declaration and files, head is base with one change. The row says
// what the gate must answer to a move from base to head that names no token:
//
//	token KIND:PATH ...         a token is needed, and must name these items
//	refused CODE PROBLEM        no token can allow it
//	free                        not bound: docs/threat-model.md says why
//
// testdata/bypass/README.md explains how to read and add rows.
type bypass struct {
	name   string
	server string // agent/mcp/docs.yaml in both commits, unless it is ""
	base   files
	head   files // put on top of base
	want   string
}

// files are contents by path. A mark in front of a path says what it is: "*" an
// executable file, "@" a symbolic link, "^" a submodule, "-" nothing any more, "=" a plain file
// whose name begins with a mark.
type files map[string]string

const submodule = "1234567890123456789012345678901234567890"

// twoCommits makes the repository of a row, with one run of git fast-import.
func (b bypass) twoCommits(t *testing.T) (gate *Gate, base, head gitrepo.ID) {
	t.Helper()
	top := t.TempDir()
	dir := filepath.Join(top, "repo.git")
	for name, data := range map[string]string{
		"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\trepositoryformatversion = 0\n\tbare = true\n", "objects/.keep": "", "refs/.keep": "",
	} {
		writeFile(t, filepath.Join(dir, name), data, 0o644)
	}
	first := maps.Clone(b.base)
	if first == nil {
		first = files{}
	}
	if b.server != "" {
		first["agent/mcp/docs.yaml"] = strings.ReplaceAll(b.server, "; ", "\n") + "\n"
	}
	env := []string{}
	for name, value := range gittest.Environment(top) {
		env = append(env, name+"="+value)
	}
	git := exec.Command("git", "--git-dir", dir, "fast-import", "--quiet", "--done")
	git.Env = env
	git.Stdin = strings.NewReader(commitStream("base", "", first) + commitStream("head", "from refs/heads/base\n", b.head) + "done\n")
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("git fast-import: %v: %s", err, out)
	}
	return openGate(t, dir, env), loose(t, dir, "base"), loose(t, dir, "head")
}

func loose(t *testing.T, dir, branch string) gitrepo.ID {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "refs/heads", branch))
	noError(t, err)
	return gitrepo.ID(strings.TrimSpace(string(data)))
}

func openGate(t *testing.T, dir string, env []string) *Gate {
	t.Helper()
	repo, err := gitrepo.Open(t.Context(), gitrepo.Options{Dir: dir, Env: env})
	noError(t, err)
	t.Cleanup(func() { noError(t, repo.Close()) })
	policy, err := review.LoadPolicy(t.Context(), repo)
	noError(t, err)
	return &Gate{Repo: repo, Policy: policy, Now: func() time.Time { return start }}
}

func commitStream(branch, from string, changes files) string {
	var s strings.Builder
	fmt.Fprintf(&s, "commit refs/heads/%s\ncommitter Grace Example <grace@example.com> 1767258000 +0000\ndata 0\n%s", branch, from)
	for _, path := range slices.Sorted(maps.Keys(changes)) {
		data, mode := changes[path], "100644"
		switch path[0] {
		case '-':
			fmt.Fprintf(&s, "D %s\n", quotePath(path[1:]))
			continue
		case '^':
			fmt.Fprintf(&s, "M 160000 %s %s\n", data, quotePath(path[1:]))
			continue
		case '*':
			mode, path = "100755", path[1:]
		case '@':
			mode, path = "120000", path[1:]
		case '=':
			path = path[1:]
		}
		fmt.Fprintf(&s, "M %s inline %s\ndata %d\n%s\n", mode, quotePath(path), len(data), data)
	}
	return s.String()
}

// quotePath quotes a path as fast-import reads it.
func quotePath(p string) string {
	var s strings.Builder
	s.WriteByte('"')
	for i := range len(p) {
		if c := p[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			fmt.Fprintf(&s, `\%03o`, c)
		} else {
			s.WriteByte(c)
		}
	}
	return s.String() + `"`
}

func runBypasses(t *testing.T, rows []bypass) {
	t.Helper()
	names := map[string]bool{}
	for _, row := range rows {
		if names[row.name] {
			t.Errorf("two rows are called %q", row.name)
		}
		names[row.name] = true
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			gate, base, head := row.twoCommits(t)
			if got := gate.answer(t, base, head); got != row.want {
				t.Errorf("the gate says %q, want %q", got, row.want)
			}
		})
	}
}

// answer is what the gate says to a move without a token, in the words of the
// table.
func (g *Gate) answer(t *testing.T, base, head gitrepo.ID) string {
	t.Helper()
	j, err := g.Judge(t.Context(), Proposal{Ref: live, Old: base, New: head})
	var items []string
	for _, d := range j.Deltas {
		items = append(items, fmt.Sprintf("%s:%s", d.Key.Kind, d.Key.Path))
	}
	switch code := fault.CodeOf(err); {
	case err == nil && len(items) == 0:
		return "free"
	case code == fault.TokenMissing:
		return "token " + strings.Join(items, " ")
	case code == fault.DeclarationInvalid:
		// path: line: field: code: words
		parts := strings.Split(strings.TrimPrefix(err.Error(), string(code)+": "), ": ")
		for _, p := range parts[1:] {
			if p != "" && strings.Trim(p, "abcdefghijklmnopqrstuvwxyz_") == "" && strings.Contains(p, "_") {
				return "refused " + string(code) + " " + p
			}
		}
		return "refused " + string(code)
	case code != "":
		return "refused " + string(code)
	}
	return fmt.Sprintf("%v %v", items, err)
}

// TestWhatIsNotBoundIsWrittenDown holds the free rows of the table to the threat
// model: each is named there.
func TestWhatIsNotBoundIsWrittenDown(t *testing.T) {
	model, err := os.ReadFile("../docs/threat-model.md")
	noError(t, err)
	text := strings.Join(strings.Fields(string(model)), " ")
	for _, row := range allBypasses() {
		if row.want == "free" && !strings.Contains(text, row.name) {
			t.Errorf("docs/threat-model.md does not tell why this is not bound: %q", row.name)
		}
	}
}

func allBypasses() []bypass {
	return slices.Concat(launchBypasses, runnerBypasses, projectBypasses, nameBypasses, attributeBypasses, coreBypasses, fileBypasses)
}
