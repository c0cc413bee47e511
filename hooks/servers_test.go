//go:build servers

package hooks_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
	"github.com/evolve-mcp/evolve/promote"
)

// need is the path of a program, or the end of the test, which names it: these
// tests do not pass where a server is missing.
func need(t *testing.T, name, pkg string) string {
	t.Helper()
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin", "/usr/local/sbin") {
		if path := filepath.Join(dir, name); runnable(path) {
			return path
		}
	}
	t.Fatalf("missing: %s (Debian: apt-get install %s)", name, pkg)
	return ""
}

func runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// inetd runs a program for each connection to a port of the loopback interface, as
// inetd(8) does, and returns the port.
func inetd(t *testing.T, env []string, argv ...string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(conn, env, argv)
		}
	}()
	_, port, err := net.SplitHostPort(l.Addr().String())
	noError(t, err)
	return port
}

func serve(conn net.Conn, env, argv []string) {
	f, err := conn.(*net.TCPConn).File()
	_ = conn.Close()
	if err != nil {
		return
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout = env, f, f
	_ = cmd.Run()
	_ = f.Close()
}

// sshSite is an sshd on loopback, with programs and a home of its own.
type sshSite struct {
	t    *testing.T
	dir  string
	bin  string // evolve, evolve-hook, and ssh and scp that find the server
	home string // of the account on the server
}

// startSSH starts sshd for this user. Root needs the directory that Debian's unit
// makes; anybody else needs nothing of the system.
func startSSH(t *testing.T) *sshSite {
	t.Helper()
	sshd := need(t, "sshd", "openssh-server")
	need(t, "ssh", "openssh-client")
	if os.Geteuid() == 0 {
		noError(t, os.MkdirAll("/run/sshd", 0o755))
	}
	s := &sshSite{t: t, dir: t.TempDir(), bin: programs(t)}
	s.home = filepath.Join(s.dir, "account")
	noError(t, os.MkdirAll(filepath.Join(s.home, ".ssh"), 0o700))
	s.makeKey("host")
	config := s.read("../testdata/servers/sshd_config")
	config = strings.NewReplacer("@DIR@", s.dir, "@HOME@", s.home, "@PATH@", s.bin+":"+os.Getenv("PATH")).Replace(config)
	s.write("sshd_config", config, 0o600)
	port := inetd(t, []string{"PATH=" + os.Getenv("PATH")}, sshd, "-i", "-f", filepath.Join(s.dir, "sshd_config"))
	me, err := user.Current()
	noError(t, err)
	public := s.read(filepath.Join(s.dir, "host.pub"))
	s.write("known_hosts", "git.example.org "+public, 0o600)
	s.write("ssh_config", fmt.Sprintf("Host git.example.org\n  HostKeyAlias git.example.org\n  HostName 127.0.0.1\n  Port %s\n  User %s\n  UserKnownHostsFile %s/known_hosts\n  BatchMode yes\n", port, me.Username, s.dir), 0o600)
	for _, name := range []string{"ssh", "scp"} {
		body := fmt.Sprintf("#!/bin/sh\n[ -z \"$TEST_IDENTITY\" ] || set -- -i \"$TEST_IDENTITY\" -o IdentitiesOnly=yes \"$@\"\nexec %s -F '%s/ssh_config' \"$@\"\n", need(t, name, "openssh-client"), s.dir)
		noError(t, os.WriteFile(filepath.Join(s.bin, name), []byte(body), 0o755))
	}
	return s
}

func (s *sshSite) read(path string) string {
	s.t.Helper()
	data, err := os.ReadFile(path)
	noError(s.t, err)
	return string(data)
}

func (s *sshSite) write(name, text string, mode os.FileMode) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	noError(s.t, os.MkdirAll(filepath.Dir(path), 0o755))
	noError(s.t, os.WriteFile(path, []byte(text), mode))
	return path
}

// makeKey makes a key in the site's directory and returns its path.
func (s *sshSite) makeKey(name string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	noError(s.t, os.MkdirAll(filepath.Dir(path), 0o700))
	out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// shell runs the text of a page's block.
func (s *sshSite) shell(dir, text string, env ...string) (string, error) {
	cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", text)
	cmd.Dir = dir
	all := gittest.Environment(s.dir)
	all["PATH"] = s.bin + ":" + os.Getenv("PATH")
	for name, value := range all {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (s *sshSite) must(dir, text string, env ...string) string {
	s.t.Helper()
	out, err := s.shell(dir, text, env...)
	if err != nil {
		s.t.Fatalf("%s\n%v\n%s", text, err, out)
	}
	return out
}

// The set-up over ssh, word by word as docs/server.md has it: the server, the
// reviewer, a change, a later one; and what is refused between them.
func TestServerPageOverSSH(t *testing.T) {
	s := startSSH(t)
	here := strings.NewReplacer("/srv/git", filepath.Join(s.dir, "srv"), "/etc/evolve", filepath.Join(s.dir, "etc-evolve"))
	text := func(name string) string { return here.Replace(block(t, name)) }
	laptop := filepath.Join(s.dir, "laptop")
	noError(t, os.MkdirAll(filepath.Join(laptop, ".ssh"), 0o700))
	key := s.makeKey("laptop/.ssh/id_ed25519")
	s.write("account/.ssh/authorized_keys", s.read(key+".pub"), 0o600)
	s.write("grace.pub", s.read(key+".pub"), 0o644)
	reviewer := []string{"HOME=" + laptop, "GIT_CONFIG_GLOBAL=" + filepath.Join(laptop, ".gitconfig"), "TEST_IDENTITY=" + key}

	server := strings.Replace(text("server"), "$(cat grace.pub)", "$(cat "+s.dir+"/grace.pub)", 1)
	out := s.must(s.dir, server, "HOME="+s.home, "GIT_CONFIG_GLOBAL="+filepath.Join(s.home, ".gitconfig"))
	if !strings.Contains(out, "all hooks hold") {
		t.Errorf("hook status says\n%s", out)
	}
	s.must(laptop, text("reviewer"), reviewer...)
	clone := filepath.Join(laptop, "agent")
	s.must(clone, text("change"), reviewer...)
	out, err := s.shell(clone, "echo 'command: other' > agent/mcp/docs.yaml && git commit -qam Other && git push -q origin HEAD:main", reviewer...)
	if err == nil || !strings.Contains(out, "evolve: token_missing: ") {
		t.Errorf("an unreviewed push: %v\n%s", err, out)
	}
	s.must(clone, "git reset -q --hard HEAD~1", reviewer...)
	s.must(clone, text("later"), reviewer...)
	git := gittest.New(t).At(filepath.Join(s.dir, "srv", "agent.git"))
	if got, want := git.Git("rev-parse", "main"), strings.TrimSpace(s.must(clone, "git rev-parse HEAD", reviewer...)); got != want {
		t.Errorf("main is at %s, want %s", got, want)
	}
	moved := 0
	for _, e := range audit(t, git) {
		if e.Verdict == promote.VerdictMoved {
			moved++
		}
	}
	if moved != 2 {
		t.Errorf("%d moves were audited, want 2", moved)
	}
}

// The set-up of docs/server.md for gitolite, on gitolite3 behind sshd: its common
// hooks, and who pushes from GL_USER.
func TestServerPageOnGitolite(t *testing.T) {
	gitolite := need(t, "gitolite", "gitolite3")
	s := startSSH(t)
	account := []string{"HOME=" + s.home, "GIT_CONFIG_GLOBAL=" + filepath.Join(s.home, ".gitconfig"), "USER=git", "LOGNAME=git"}
	admin, alice, grace := s.makeKey("admin"), s.makeKey("alice"), s.makeKey("grace")
	s.must(s.home, gitolite+" setup -pk '"+admin+".pub'", account...)
	rc := filepath.Join(s.home, ".gitolite.rc")
	noError(t, os.WriteFile(rc, []byte(strings.Replace(s.read(rc), `# LOCAL_CODE                =>  "$ENV{HOME}/local"`, `LOCAL_CODE => "$ENV{HOME}/local"`, 1)), 0o600))

	as := func(key string) []string { return []string{"TEST_IDENTITY=" + key} }
	s.must(s.dir, "git clone -q git.example.org:gitolite-admin && cp alice.pub grace.pub gitolite-admin/keydir/", as(admin)...)
	s.must(filepath.Join(s.dir, "gitolite-admin"), "printf 'repo agent\\n    RW+ = @all\\n' >> conf/gitolite.conf && git add . && git commit -qm agent && git push -q origin HEAD:master", as(admin)...)

	s.write("account/signers", `grace namespaces="mcp-review@evolve,mcp-revoke@evolve" `+s.read(grace+".pub"), 0o644)
	out := s.must(s.home, block(t, "gitolite"), account...)
	if !strings.Contains(out, "all hooks hold") {
		t.Errorf("hook status says\n%s", out)
	}
	repo := gittest.New(t).At(filepath.Join(s.home, "repositories", "agent.git"))
	guarded := strings.Fields(repo.Git("config", "--get-all", "evolve.guard"))[0]
	repo.Git("config", "evolve.forbidSelfReview", "true")

	s.must(s.dir, "git clone -q git.example.org:agent", as(alice)...)
	clone := filepath.Join(s.dir, "agent")
	s.must(clone, "mkdir -p agent/mcp && echo 'command: docs' > agent/mcp/docs.yaml && git add . && git commit -qm One", as(alice)...)
	push := "git push -q --atomic origin HEAD:" + guarded
	out, err := s.shell(clone, push, as(alice)...)
	if err == nil || !strings.Contains(out, "evolve: token_missing: ") {
		t.Errorf("an unreviewed push: %v\n%s", err, out)
	}
	for key, value := range map[string]string{
		"evolve.repository": "example.org/team/agent", "gpg.format": "ssh", "user.signingKey": grace + ".pub",
		"gpg.ssh.allowedSignersFile": filepath.Join(s.home, "signers"),
	} {
		s.must(clone, "git config "+key+" '"+value+"'")
	}
	token := strings.TrimSpace(s.must(clone, "evolve review HEAD --ref "+guarded+" --approve 2>/dev/null | tail -n 1"))
	if !strings.HasPrefix(token, "mcp-review:") {
		t.Fatalf("no token: %q", token)
	}
	evolvePush := "evolve push origin HEAD:" + guarded + " --token " + token
	out, err = s.shell(clone, evolvePush, as(grace)...)
	if err == nil || !strings.Contains(out, "evolve: self_review: ") {
		t.Errorf("the reviewer's own push: %v\n%s", err, out)
	}
	s.must(clone, evolvePush, as(alice)...)
	entries := audit(t, repo)
	if last := entries[len(entries)-1]; last.Who != "alice" || last.Verdict != promote.VerdictMoved {
		t.Errorf("audited %+v", last)
	}
	out, err = s.shell(clone, "git push -q origin :"+guarded, as(alice)...)
	if err == nil || !strings.Contains(out, "evolve: ref_protected: ") {
		t.Errorf("a delete: %v\n%s", err, out)
	}
}

// git daemon, which knows nobody: pushes are judged all the same.
func TestPushToGitDaemon(t *testing.T) {
	s := newSite(t)
	daemon := filepath.Join(s.server.Git("--exec-path"), "git-daemon")
	if !runnable(daemon) {
		t.Fatal("missing: git daemon (Debian: apt-get install git)")
	}
	port := inetd(t, s.server.Env(), daemon, "--inetd", "--export-all", "--enable=receive-pack", "--base-path="+filepath.Dir(s.server.Dir()))
	remote := "git://127.0.0.1:" + port + "/repo"
	head := s.change("1.1.0")
	out, err := pushFrom(s.clone, remote, "HEAD:main")
	if err == nil || !strings.Contains(out, "evolve: token_missing: ") {
		t.Errorf("%v\n%s", err, out)
	}
	token := s.review(mainRef, s.base, head)
	if out, err = pushFrom(s.clone, remote, "--atomic", "HEAD:main", record(token)); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	s.at(mainRef, head)
	s.reaped()
}
