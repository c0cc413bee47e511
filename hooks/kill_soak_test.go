//go:build soak && linux

package hooks_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evolve-mcp/evolve/promote"
)

// kills is how often a process of a push is killed, times SOAK_SCALE.
const kills = 300

// A hook, or the server's receive-pack, is killed at a random moment of a push:
// never does an unreviewed change arrive, a reviewed one arrives or does not, its
// token is good until it has, and every move has one audit line in the end.
func TestKilledPushes(t *testing.T) {
	scale, err := strconv.ParseFloat(os.Getenv("SOAK_SCALE"), 64)
	if err != nil {
		scale = 1
	}
	s := newSite(t)
	random := rand.New(rand.NewPCG(20260301, 1))
	at := s.base
	killed := map[string]int{}
	longest := time.Second
	for round, n := 0, 0; n < max(2, int(kills*scale)) && round < 4*kills; round++ {
		head := s.change(fmt.Sprintf("2.%d.0", round))
		args := []string{"--atomic", "HEAD:main"}
		reviewed := round%2 == 0
		if reviewed {
			args = append(args, record(s.review(mainRef, at, head)))
		}
		start := time.Now()
		wanted, after := "", time.Duration(random.Int64N(int64(longest)))
		if round%4 >= 2 { // the short one, under the lock, would seldom be met
			wanted, after = "reference-transaction", time.Duration(random.Int64N(int64(60*time.Millisecond)))
		}
		name := s.killedPush(wanted, after, random, args)
		if name == "" {
			longest = max(time.Since(start), longest*9/10) // it ended before
		} else {
			n++
			killed[name]++
		}
		now := s.server.Git("rev-parse", mainRef)
		switch {
		case !reviewed && now != at:
			t.Fatalf("round %d: an unreviewed change arrived, with %q killed", round, name)
		case now != at && now != head:
			t.Fatalf("round %d: main is at %s", round, now)
		case reviewed && now == at:
			s.accepted(args...)
		}
		if reviewed {
			at = head
		} else {
			s.clone.Git("reset", "-q", "--hard", at)
		}
	}
	t.Logf("killed: %v", killed)
	repo, policy := s.open(s.server)
	gate := &promote.Gate{Repo: repo, Policy: policy, Now: func() time.Time { return time.Now().Add(11 * time.Minute) }}
	noError(t, gate.Reconcile(t.Context()))
	s.reaped()
	lines := map[string]int{}
	for _, e := range audit(t, s.server) {
		if e.Verdict == promote.VerdictMoved {
			lines[string(e.Old)+" "+string(e.New)]++
		}
	}
	steps := strings.Fields(s.server.Git("rev-list", "--first-parent", "--reverse", mainRef))
	for i := 1; i < len(steps); i++ {
		if lines[steps[i-1]+" "+steps[i]] != 1 {
			t.Errorf("the move to %s has %d audit lines", steps[i], lines[steps[i-1]+" "+steps[i]])
		}
	}
}

// killedPush pushes, kills one process of the server's side after a while (counted
// from when a hook named wanted runs, if one is), waits
// for all others, and removes the lock that a killed Git leaves, as a host does.
// It returns what was killed, "" if the push had ended.
func (s *site) killedPush(wanted string, after time.Duration, random *rand.Rand, args []string) string {
	s.t.Helper()
	cmd := exec.Command("git", append([]string{"push", "-q"}, insertRemote(s.server.Dir(), args)...)...)
	cmd.Dir, cmd.Env = s.clone.Dir(), s.clone.Env()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	noError(s.t, cmd.Start())
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	name := ""
	waitFor(cmd.Process.Pid, wanted, ended)
	select {
	case <-ended:
	case <-time.After(after):
		victims := serverSide(cmd.Process.Pid)
		if programs := slices.DeleteFunc(slices.Clone(victims), func(v victim) bool { return v.name == "receive-pack" }); len(programs) > 0 && random.IntN(4) > 0 {
			victims = programs
		}
		if len(victims) > 0 {
			v := victims[random.IntN(len(victims))]
			if syscall.Kill(v.pid, syscall.SIGKILL) == nil {
				name = v.name
			}
		}
		<-ended
	}
	for orphans := serverSide(cmd.Process.Pid); len(orphans) > 0; orphans = serverSide(cmd.Process.Pid) {
		noError(s.t, awaitExit(orphans[0].pid))
	}
	for _, lock := range []string{"refs/heads/main.lock", "HEAD.lock"} {
		_ = os.Remove(s.server.Path(lock))
	}
	locks, _ := filepath.Glob(s.server.Path("refs/evolve/reviews/*.lock"))
	for _, lock := range locks {
		_ = os.Remove(lock)
	}
	return name
}

// waitFor returns when a hook of that name runs, or the push has ended.
func waitFor(group int, name string, ended <-chan struct{}) {
	for name != "" {
		for _, v := range serverSide(group) {
			if v.name == name {
				return
			}
		}
		select {
		case <-ended:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// awaitExit returns when a process that is not ours to wait for has ended.
func awaitExit(pid int) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	for {
		_, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

type victim struct {
	pid  int
	name string
}

// serverSide lists the hooks and the receive-pack of a push's process group.
func serverSide(group int) []victim {
	var out []victim
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		name, rest, _ := strings.Cut(strings.TrimPrefix(string(data[strings.IndexByte(string(data), '('):]), "("), ") ")
		fields := strings.Fields(rest) // state, ppid, pgrp
		if len(fields) < 3 || fields[2] != strconv.Itoa(group) || fields[0] == "Z" {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		switch {
		case name == "evolve-hook":
			words := strings.Split(string(line), "\x00")
			out = append(out, victim{pid, strings.Join(words[1:min(2, len(words))], " ")})
		case strings.Contains(string(line), "receive-pack") && !strings.HasPrefix(name, "sh"):
			out = append(out, victim{pid, "receive-pack"})
		}
	}
	return out
}
