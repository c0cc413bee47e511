//go:build bench

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pushShapes are the small and the large repository.
var pushShapes = []shape{
	{name: "28,000 objects", objects: 28_000},
	{name: "1,160,000 objects", objects: 1_160_000},
}

// shellGate is the simplest hook that looks at the declarations at all.
const shellGate = `#!/bin/sh
while read old new ref; do
	case $old in *[!0]*) git diff-tree -r --name-only $old $new -- agent/mcp >/dev/null || exit 1 ;; esac
done
`

// pushes are whole pushes of one commit over the file system, process against
// process: with no hook, with a shell hook, and with evolve's.
func pushes(t *testing.T, b *table) {
	t.Helper()
	b.head("repository", "what is pushed", "no hook", "a shell hook with `git diff-tree`", "ratio", "evolve's hooks", "ratio")
	for _, s := range pushShapes {
		s.servers, s.changed = 20, 1
		p := makePushes(t, makeRepo(t, s))
		for _, what := range []struct{ name, commit, record string }{
			{"no declaration", p.plain, ""},
			{"one changed declaration and its record", p.main, p.record()},
		} {
			var all []work
			for _, hooks := range []string{"none", "shell", "evolve"} {
				all = append(all, p.push(hooks, what.commit, what.record))
			}
			c := measure(t, p.repo, all...)
			b.row(s.name, what.name, c[0].String(), c[1].String(), times(ratio(c[1], c[0])), c[2].String(), times(ratio(c[2], c[0])))
		}
		p.moved(t)
		noError(t, os.RemoveAll(filepath.Dir(p.dir)))
	}
}

// pushing is a server with three sets of hooks, and a clone that shares its
// objects.
type pushing struct {
	*repo
	clone string
	plain string // a commit on live that changes no declaration
}

func makePushes(t *testing.T, r *repo) *pushing {
	t.Helper()
	p := &pushing{repo: r, clone: filepath.Join(filepath.Dir(r.dir), "clone")}
	r.git(t, "", "clone", "-q", "--bare", "--shared", r.dir, p.clone)
	r.git(t, p.clone, "fetch", "-q", "origin", p.record()+":"+p.record())
	tree := r.gitInput(t, strings.NewReader(r.git(t, r.dir, "ls-tree", r.live)+"\n100644 blob "+
		r.gitInput(t, strings.NewReader("note\n"), p.clone, "hash-object", "-w", "--stdin")+"\tnote\n"), p.clone, "mktree")
	p.plain = r.git(t, p.clone, "commit-tree", "-p", r.live, "-m", "note", tree)
	for _, ref := range []string{"refs/heads/main", p.record()} {
		r.git(t, r.dir, "update-ref", "-d", ref)
	}
	r.evolve(t, "hook", "install")
	noError(t, os.Rename(filepath.Join(r.dir, "hooks"), filepath.Join(r.dir, "hooks-evolve")))
	for _, name := range []string{"none", "shell"} {
		noError(t, os.Mkdir(filepath.Join(r.dir, "hooks-"+name), 0o755))
	}
	noError(t, os.WriteFile(filepath.Join(r.dir, "hooks-shell", "pre-receive"), []byte(shellGate), 0o755))
	return p
}

func (p *pushing) record() string {
	return "refs/evolve/reviews/" + strings.TrimPrefix(p.token, "mcp-review:")
}

// push is one push, after the server was put back to where it was.
func (p *pushing) push(hooks, commit, record string) work {
	args := []string{"-C", p.clone, "push", "-q", "--atomic", p.dir, commit + ":refs/heads/live"}
	if record != "" {
		args = append(args, record)
	}
	w := git(args...)
	w.name = fmt.Sprintf("push with %s hooks", hooks)
	w.before = func(t *testing.T) {
		link := filepath.Join(p.dir, "hooks")
		noError(t, os.RemoveAll(link))
		p.git(t, p.dir, "update-ref", "refs/heads/live", p.live)
		p.git(t, p.dir, "update-ref", "-d", p.record())
		for _, kept := range []string{"claims", "audit.jsonl"} {
			noError(t, os.RemoveAll(filepath.Join(p.dir, "evolve", kept)))
		}
		noError(t, os.Symlink("hooks-"+hooks, link))
	}
	return w
}

// moved checks that the last push was one with evolve's hooks that went through.
func (p *pushing) moved(t *testing.T) {
	t.Helper()
	if at := p.git(t, p.dir, "rev-parse", "refs/heads/live"); at != p.main {
		t.Errorf("the server is at %s after the last push, want %s", at, p.main)
	}
	log, err := os.ReadFile(filepath.Join(p.dir, "evolve", "audit.jsonl"))
	if err != nil || !strings.Contains(string(log), p.main) {
		t.Errorf("no hook of evolve's wrote the move down: %v", err)
	}
}
