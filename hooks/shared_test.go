//go:build unix

package hooks_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// A second user pushes to a shared repository (git init --shared=group): the
// hooks write claims and the audit log that both can write.
func TestASecondUserOnASharedRepository(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be two users")
	}
	s := newSite(t)
	noError(t, os.Chmod(filepath.Dir(hookProgram), 0o755))
	s.server.Git("config", "core.sharedRepository", "group")
	noError(t, exec.Command("chmod", "-R", "g+w", s.server.Dir()).Run())
	first := s.note("the owner pushes")
	s.accepted("HEAD:main")
	head := s.change("1.1.0")
	token := s.review(mainRef, first, head)

	const nobody = 65534 // of every Linux and BSD; the group is the owner's
	home := t.TempDir()
	noError(t, os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[safe]\n\tdirectory = *\n"), 0o644))
	for dir := home; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		noError(t, os.Chmod(dir, 0o755))
	}
	push := func(args ...string) (string, error) {
		cmd := exec.Command("git", append([]string{"push", "-q"}, insertRemote(s.server.Dir(), args)...)...)
		cmd.Dir = s.clone.Dir()
		cmd.Env = append(s.clone.Env(), "HOME="+home, "GIT_CONFIG_GLOBAL="+filepath.Join(home, ".gitconfig"))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: uint32(os.Getegid())}}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := push("HEAD:main"); err == nil {
		t.Errorf("an unreviewed push of the second user went through:\n%s", out)
	}
	if out, err := push("--atomic", "HEAD:main", record(token)); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.at(mainRef, head)
	s.note("the owner again")
	s.accepted("HEAD:main")
	s.reaped()
	if got := s.moves(); len(got) != 3 {
		t.Errorf("%d moves are audited, want 3", len(got))
	}
}
