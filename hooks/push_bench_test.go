package hooks_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/evolve-mcp/evolve/hooks"
)

// BenchmarkPush is one push of one commit, over the file system: with no hook, with
// a shell hook that runs git diff-tree, and with evolve's; of a change that no
// review covers, and of one that a record comes with.
func BenchmarkPush(b *testing.B) {
	diffTree := "#!/bin/sh\nwhile read old new ref; do\ncase $old in *[!0]*) git diff-tree -r --name-only $old $new -- agent/mcp >/dev/null || exit 1;; esac\ndone\n"
	for _, gate := range []struct {
		name  string
		hooks map[string]string
	}{
		{"no-hook", map[string]string{}},
		{"diff-tree", map[string]string{"pre-receive": diffTree}},
		{"evolve", nil},
	} {
		for _, reviewed := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/declaration=%v", gate.name, reviewed), func(b *testing.B) {
				s := newSite(b)
				if gate.hooks != nil {
					for _, name := range hooks.Names {
						noError(b, os.Remove(s.server.Path("hooks/"+name)))
					}
					for name, text := range gate.hooks {
						noError(b, os.WriteFile(s.server.Path("hooks/"+name), []byte(text), 0o755))
					}
				}
				at := s.base
				for i := 0; b.Loop(); i++ {
					b.StopTimer()
					args := []string{"--atomic", "HEAD:main"}
					if reviewed {
						head := s.change(fmt.Sprintf("1.%d.0", i+1))
						args = append(args, record(s.review(mainRef, at, head)))
						at = head
					} else {
						s.note(fmt.Sprint("note ", i))
					}
					b.StartTimer()
					s.accepted(args...)
				}
			})
		}
	}
}
