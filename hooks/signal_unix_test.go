//go:build unix

package hooks_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A hook that is asked to end takes the git that it waits for with it: one that
// walks a long history would go on for nobody. Git's long walk is a wait here.
func TestAHookThatEndsLeavesNoGit(t *testing.T) {
	s := newSite(t)
	s.clone.Git("commit", "-q", "--amend", "-m", "another one")
	git, err := exec.LookPath("git")
	noError(t, err)
	bin := t.TempDir()
	for _, name := range []string{"pid", "alive", "never"} {
		noError(t, syscall.Mkfifo(filepath.Join(bin, name), 0o600))
	}
	noError(t, os.WriteFile(filepath.Join(bin, "git"), fmt.Appendf(nil, `#!/bin/sh
case "$*" in *' merge-base '*)
	exec 9>'%[1]s/alive'
	echo $$ $PPID >'%[1]s/pid'
	exec cat '%[1]s/never' ;;
esac
exec '%[2]s' "$@"
`, bin, git), 0o755))
	noError(t, os.WriteFile(s.server.Path("hooks/pre-receive"),
		fmt.Appendf(nil, "#!/bin/sh\nPATH='%s':$PATH exec '%s' pre-receive \"$@\"\n", bin, hookProgram), 0o755))
	alive, err := os.OpenFile(filepath.Join(bin, "alive"), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	noError(t, err)
	defer func() { _ = alive.Close() }()
	push := exec.Command("git", "push", "-q", "--force", s.server.Dir(), "HEAD:main")
	push.Dir, push.Env = s.clone.Dir(), s.clone.Env()
	noError(t, push.Start())
	data, err := os.ReadFile(filepath.Join(bin, "pid")) // once it waits
	noError(t, err)
	var child, hook int
	_, err = fmt.Sscan(string(data), &child, &hook)
	noError(t, err)
	noError(t, syscall.Kill(hook, syscall.SIGTERM))
	if push.Wait() == nil {
		t.Error("the push went through")
	}
	s.at(mainRef, s.base)
	noError(t, alive.SetReadDeadline(time.Now().Add(10*time.Second)))
	if _, err := io.ReadAll(alive); err != nil {
		t.Errorf("its git goes on: %v", err)
		_ = syscall.Kill(child, syscall.SIGKILL)
	}
}
