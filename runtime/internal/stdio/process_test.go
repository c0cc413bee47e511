//go:build unix

package stdio

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shell starts a shell command as a child.
func shell(t *testing.T, script string) *Process {
	t.Helper()
	grace := 200 * time.Millisecond
	p, err := Start(Spec{
		Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=/usr/bin:/bin"}, Dir: t.TempDir(),
		Graces: Graces{Stdin: grace, Term: grace, Kill: 5 * time.Second}, SpoolDir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Close()
		_ = p.Stderr().Close()
	})
	return p
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// gone waits for a process that was killed and that init has to reap.
func gone(t *testing.T, pid int) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for alive(pid) && !zombie(pid) {
		if time.Now().After(deadline) {
			t.Fatalf("%d is still there", pid)
		}
	}
}

func zombie(pid int) bool {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(rest, "Z")
}

// TestAChildThatDiesIsReapedAtOnce, without Close.
func TestAChildThatDiesIsReapedAtOnce(t *testing.T) {
	p := shell(t, "exit 3")
	<-p.Exited()
	if alive(p.Pid()) {
		t.Error("a zombie is left")
	}
}

// TestStoppingGoesInSteps: closing standard input suffices for a good child, TERM
// for a deaf one, KILL for every other.
func TestStoppingGoesInSteps(t *testing.T) {
	for _, tt := range []struct{ name, script, says string }{
		{"reads to the end", "cat; echo input ended >&2", "input ended"},
		{"ends on TERM", "trap 'echo term >&2; exit' TERM; echo up; while :; do sleep 0.01; done", "term"},
		{"ignores TERM", "trap '' TERM; echo up; while :; do sleep 0.01; done", ""},
	} {
		p := shell(t, tt.script)
		if tt.name != "reads to the end" {
			if _, err := bufio.NewReader(p).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		_ = p.Close()
		if alive(p.Pid()) {
			t.Errorf("%s: still there", tt.name)
		}
		if tail, _ := p.Stderr().Tail(100); !strings.HasSuffix(strings.TrimSpace(string(tail)), tt.says) {
			t.Errorf("%s: says %q", tt.name, tail)
		}
	}
}

// TestTheWholeGroupGoes: what a child started in the background dies with it,
// also if the child itself is already dead.
func TestTheWholeGroupGoes(t *testing.T) {
	for _, script := range []string{"sleep 1000 & echo $!; cat", "sleep 1000 & echo $!; exit"} {
		p := shell(t, script)
		line, err := bufio.NewReader(p).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		pid, _ := strconv.Atoi(strings.TrimSpace(line))
		_ = p.Close()
		gone(t, pid)
	}
}

// TestTheEnvironmentIsTheGivenOne: nothing is inherited.
func TestTheEnvironmentIsTheGivenOne(t *testing.T) {
	t.Setenv("INHERITED", "yes")
	p, err := Start(Spec{Path: "/usr/bin/env", Dir: t.TempDir(), Graces: DefaultGraces()})
	if err != nil {
		t.Fatal(err)
	}
	out, _ := io.ReadAll(p)
	_ = p.Close()
	_ = p.Stderr().Close()
	if len(out) != 0 {
		t.Errorf("%q", out)
	}
}

// TestStandardErrorIsKeptInANamelessFile of bounded size; its end survives.
func TestStandardErrorIsKeptInANamelessFile(t *testing.T) {
	dir := t.TempDir()
	s, w, err := newSpool(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.limit = 1 << 20
	if list, _ := filepath.Glob(filepath.Join(dir, "*")); len(list) != 0 {
		t.Errorf("files: %v", list)
	}
	for i := range 100_000 {
		if _, err := io.WriteString(w, "line number "+strconv.Itoa(i)+" of many\n"); err != nil {
			t.Fatal(err)
		}
	}
	_ = w.Close()
	s.finish(time.Second)
	tail, cut := s.Tail(1000)
	if !cut || !strings.HasSuffix(string(tail), "line number 99999 of many\n") || len(tail) != 1000 {
		t.Errorf("cut %v, ends with %q", cut, tail[len(tail)-40:])
	}
	if info, err := s.file.Stat(); err != nil || info.Size() > 1<<20 {
		t.Errorf("%v bytes, %v", info.Size(), err)
	}
	_ = s.Close()
}

func TestACommandThatCannotStart(t *testing.T) {
	_, err := Start(Spec{Path: "/nowhere/at/all", Dir: t.TempDir(), SpoolDir: t.TempDir()})
	var own Error
	if !errors.As(err, &own) || own != ErrStart {
		t.Errorf("%v", err)
	}
	if _, err := Start(Spec{Path: "/bin/true", SpoolDir: "/nowhere/at/all"}); !errors.Is(err, ErrStderr) {
		t.Errorf("%v", err)
	}
}
