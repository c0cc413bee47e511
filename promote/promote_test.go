package promote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/review"
)

func TestPromoteMovesAndWritesItDown(t *testing.T) {
	f := newFixture(t)
	o := f.order(func(o *Order) { o.Reason = "read the notes" })
	noError(t, f.promote(o))
	f.at(f.two)
	f.settled()
	all := lines(t, f.path("audit.jsonl"))
	if len(all) != 1 {
		t.Fatalf("%d audit lines, want 1", len(all))
	}
	for key, want := range map[string]any{
		"who": "grace@example.com", "by": "promote", "ref": live, "old": string(f.one), "new": string(f.two),
		"verdict": "moved", "reason": "read the notes", "at": "2026-03-01T12:00:00Z", "recovered": nil, "code": nil,
	} {
		if all[0][key] != want {
			t.Errorf("audit %s is %v, want %v", key, all[0][key], want)
		}
	}
	if got := f.g.Git("reflog", "-1", "--format=%gs", live); got != "evolve promote: read the notes" {
		t.Errorf("reflog %q", got)
	}
}

// Whatever refuses a move is an audit line with its code, and changes nothing
// else.
func TestRefusedMovesAreWrittenDown(t *testing.T) {
	none := []review.Token{}
	for name, c := range map[string]struct {
		prepare func(f *fixture)
		change  func(f *fixture, o *Order)
		code    fault.Code
	}{
		"no token": {nil, func(_ *fixture, o *Order) { o.Tokens = none }, fault.TokenMissing},
		"a token for less": {nil, func(f *fixture, o *Order) {
			o.New, o.Tokens = f.three, []review.Token{f.token(f.one, f.two)}
		}, fault.TokenStale},
		"not approved": {nil, func(_ *fixture, o *Order) {
			o.Approve = func(context.Context, *Judgement) (bool, error) { return false, nil }
		}, fault.ApprovalRequired},
		"approval fails": {nil, func(_ *fixture, o *Order) {
			o.Approve = func(context.Context, *Judgement) (bool, error) {
				return false, fault.New(fault.IOFailed, "no terminal").WithHint("use one")
			}
		}, fault.IOFailed},
		"deletion":     {nil, func(_ *fixture, o *Order) { o.New, o.Tokens = "", none }, fault.RefProtected},
		"evolve's own": {nil, func(f *fixture, o *Order) { o.Ref, o.Old, o.Tokens = review.RecordRefs+"x", "", none }, fault.RefProtected},
		"backward":     {nil, func(f *fixture, o *Order) { o.Old, o.New, o.Tokens = f.two, f.one, none }, fault.NotFastForward},
		"checked out":  {func(f *fixture) { f.g.Git("switch", "-q", "live") }, nil, fault.WorktreeBusy},
		"broken declaration": {nil, func(f *fixture, o *Order) {
			o.New = gitrepo.ID(f.g.CommitOn([]string{string(f.one)}, map[string]string{"agent/mcp/docs.yaml": "command: [\n"}, "broken"))
			o.Tokens = none
		}, fault.DeclarationInvalid},
		"moved before": {func(f *fixture) { f.g.Git("update-ref", live, string(f.three)) }, nil, fault.RefMoved},
		"a hook refuses": {func(f *fixture) {
			writeFile(f.t, f.g.Path(".git/hooks/reference-transaction"), "#!/bin/sh\ntest \"$1\" != prepared\n", 0o755)
		}, nil, fault.GitFailed},
		"a lock left behind": {func(f *fixture) { writeFile(f.t, f.g.Path(".git/"+live+".lock"), "", 0o644) }, nil, fault.GitFailed},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			o := f.order(func(o *Order) {
				if c.change != nil {
					c.change(f, o)
				}
			})
			if c.prepare != nil {
				c.prepare(f)
			}
			before := f.state()
			wantCode(t, f.promote(o), c.code)
			if f.state() != before {
				t.Error("refs, index or worktree changed")
			}
			f.wantVerdicts("refused " + string(c.code))
			f.settled()
		})
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	f := newFixture(t)
	for _, o := range []Order{f.order(nil), f.order(func(o *Order) { o.Tokens = []review.Token{} })} {
		o.DryRun = true
		o.Approve = func(context.Context, *Judgement) (bool, error) { panic("asked") }
		_ = f.promote(o)
	}
	f.at(f.one)
	for _, name := range []string{"audit.jsonl", "claims"} {
		if _, err := os.Lstat(f.path(name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s was made", name)
		}
	}
}

// What can change after the judging is seen under the lock.
func TestRecheckUnderTheLock(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(f *fixture, r *review.Record)
		code      fault.Code
	}{
		"expired":           {func(f *fixture, _ *review.Record) { f.clock = f.clock.Add(time.Hour) }, fault.TokenExpired},
		"clock jumped back": {func(f *fixture, _ *review.Record) { f.clock = f.clock.Add(-time.Hour) }, fault.TokenNotYetValid},
		"revoked": {func(f *fixture, r *review.Record) {
			signer, err := review.LoadSigner(f.t.Context(), f.repo, f.gate.Policy)
			noError(f.t, err)
			noError(f.t, review.Revoke(f.t.Context(), f.repo, signer, r.Token, f.clock))
		}, fault.TokenRevoked},
		"a revocation of no worth": {func(f *fixture, r *review.Record) {
			f.g.Git("update-ref", review.RevocationRefs+r.Token.Hex(), string(f.one))
		}, fault.TokenRevoked},
		"moved elsewhere": {func(f *fixture, _ *review.Record) { f.g.Git("update-ref", live, string(f.three)) }, fault.RefMoved},
		"moved there":     {func(f *fixture, _ *review.Record) { f.g.Git("update-ref", live, string(f.two)) }, fault.RefMoved},
		"deleted":         {func(f *fixture, _ *review.Record) { f.g.Git("update-ref", "-d", live) }, fault.RefMoved},
		"checked out":     {func(f *fixture, _ *review.Record) { f.g.Git("switch", "-q", "live") }, fault.WorktreeBusy},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			r := f.record(live, f.one, f.two)
			o := f.order(func(o *Order) { o.Tokens = []review.Token{r.Token} })
			var after [32]byte
			o.Approve = func(context.Context, *Judgement) (bool, error) {
				c.meanwhile(f, r)
				after = f.state()
				return true, nil
			}
			wantCode(t, f.promote(o), c.code)
			if f.state() != after {
				t.Error("the refused move changed something")
			}
			f.wantVerdicts("refused " + string(c.code))
			f.settled()
			// Nothing is left that a later command could take for a move.
			noError(t, f.gate.Reconcile(t.Context()))
			f.wantVerdicts("refused " + string(c.code))
		})
	}
}

// An interrupt before the move is an audit line too, and no claim stays.
func TestInterruptedPromotion(t *testing.T) {
	f := newFixture(t)
	o := f.order(nil)
	ctx, cancel := context.WithCancel(t.Context())
	o.Approve = func(context.Context, *Judgement) (bool, error) {
		cancel()
		return true, nil
	}
	before := f.state()
	_, err := f.gate.Promote(ctx, o)
	wantCode(t, err, fault.Interrupted)
	if f.state() != before {
		t.Error("refs, index or worktree changed")
	}
	f.wantVerdicts("refused interrupted")
	f.settled()
}

// A token that created the ref is used up by the audit log alone: no history
// could say so.
func TestATokenCreatesARefOnce(t *testing.T) {
	f := newFixture(t)
	const ref = "refs/heads/new"
	r := f.record(ref, "", f.two)
	create := f.order(func(o *Order) { o.Ref, o.Old, o.Tokens = ref, "", []review.Token{r.Token} })
	noError(t, f.promote(create))
	f.g.Git("update-ref", "-d", ref)
	wantCode(t, f.promote(create), fault.TokenUsed)
	f.wantVerdicts("moved, refused token_used")
}

func TestAnUnwritableGitDirectory(t *testing.T) {
	for name, block := range map[string]func(f *fixture){
		"the folder is a file": func(f *fixture) {
			noError(f.t, os.Rename(f.path(""), f.g.Path(".git/kept")))
			writeFile(f.t, f.g.Path(".git/evolve"), "", 0o644)
		},
		"the log is a directory": func(f *fixture) { noError(f.t, os.Mkdir(f.path("audit.jsonl"), 0o700)) },
		"the claims are a file":  func(f *fixture) { writeFile(f.t, f.path("claims"), "", 0o644) },
		"the claims are closed": func(f *fixture) {
			skipRoot(f.t)
			noError(f.t, os.MkdirAll(f.path("claims"), 0o500))
		},
		"the Git directory is closed": func(f *fixture) {
			skipRoot(f.t)
			noError(f.t, os.RemoveAll(f.path("claims")))
			noError(f.t, os.Chmod(f.path(""), 0o500))
			f.t.Cleanup(func() { _ = os.Chmod(f.path(""), 0o700) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			// The move itself needs no token, so that only the claim is in the way.
			plain := f.g.CommitOn([]string{string(f.one)}, map[string]string{
				"agent/mcp/docs.yaml": declaration("1.0.0"), "README": "2\n",
			}, "plain")
			f.record(live, f.one, f.two) // makes the folder
			block(f)
			before := f.state()
			o := f.order(func(o *Order) { o.New, o.Tokens = gitrepo.ID(plain), []review.Token{} })
			fl := wantCode(t, f.promote(o), fault.IOFailed)
			if strings.Contains(fl.Error(), f.g.Dir()) {
				t.Errorf("the message holds a path of the machine: %v", fl)
			}
			if f.state() != before {
				t.Error("refs, index or worktree changed")
			}
		})
	}
}

func skipRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("modes do not stop root")
	}
}

// A move whose audit line cannot be written is told as it is, and the line is
// made up for when it can be.
func TestAMoveThatCouldNotBeWrittenDown(t *testing.T) {
	f := newFixture(t)
	o := f.order(nil)
	writeFile(t, f.g.Path(".git/hooks/reference-transaction"), "#!/bin/sh\n"+
		"test \"$1\" = committed && rm \"$0\" .git/evolve/audit.jsonl && mkdir .git/evolve/audit.jsonl\nexit 0\n", 0o755)
	fl := wantCode(t, f.promote(o), fault.IOFailed)
	if !strings.Contains(fl.Message, "moved to") {
		t.Errorf("the message does not say that the ref moved: %s", fl.Message)
	}
	f.at(f.two)
	noError(t, os.Remove(f.path("audit.jsonl")))
	wantCode(t, f.promote(o), fault.RefMoved)
	f.wantVerdicts("recovered, refused ref_moved")
	f.settled()
}

// Shared repositories keep the audit log and the claims open to the group; a
// private one obeys the umask.
func TestSharedRepository(t *testing.T) {
	for _, c := range []struct {
		setting   string
		file, dir os.FileMode
	}{
		{"", 0o600, 0o700}, {"umask", 0o600, 0o700}, {"group", 0o660, 0o770 | os.ModeSetgid}, {"all", 0o664, 0o775 | os.ModeSetgid},
		{"0640", 0o640, 0o750 | os.ModeSetgid}, {"0660", 0o660, 0o770 | os.ModeSetgid},
	} {
		t.Run(c.setting, func(t *testing.T) {
			umask(t, 0o077)
			p, err := sharedPermissions(c.setting)
			noError(t, err)
			top := filepath.Join(t.TempDir(), "evolve")
			log := auditLog{path: filepath.Join(top, "audit.jsonl"), perms: p}
			noError(t, log.append(Entry{Ref: live}))
			all := claims{dir: filepath.Join(top, "claims"), perms: p}
			noError(t, all.write(Claim{Ref: live}))
			for path, want := range map[string]os.FileMode{
				top: c.dir, all.dir: c.dir, log.path: c.file, all.path(live, "", ""): c.file,
			} {
				info, err := os.Stat(path)
				noError(t, err)
				if got := info.Mode() &^ os.ModeDir; got != want {
					t.Errorf("%s has mode %v, want %v", filepath.Base(path), got, want)
				}
			}
		})
	}
	for _, bad := range []string{"0070", "9", "1777", "friends", "-1"} {
		_, err := sharedPermissions(bad)
		wantCode(t, err, fault.ConfigInvalid)
	}
}

// unreadableOnce makes a git that cannot read refs once a move was committed, which
// its hook tells by a file, and does what more says then. The fixture is opened with
// it; the result is that file.
func (f *fixture) unreadableOnce(more string) (committed string) {
	f.t.Helper()
	top := f.t.TempDir()
	git, err := exec.LookPath("git")
	noError(f.t, err)
	committed = filepath.Join(top, "committed")
	script := func(path, text string) {
		noError(f.t, os.MkdirAll(filepath.Dir(path), 0o755))
		noError(f.t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755))
	}
	script(f.g.Path(".git/hooks/reference-transaction"), fmt.Sprintf("[ \"$1\" != committed ] || { : >'%s'; %s; }\n", committed, more))
	script(filepath.Join(top, "bin", "git"), fmt.Sprintf(
		"if [ -e '%s' ]; then case $* in *for-each-ref*) exit 1 ;; esac; fi\nexec '%s' \"$@\"\n", committed, git))
	f.openWith("PATH=" + filepath.Join(top, "bin") + ":" + os.Getenv("PATH"))
	return committed
}

// TestAMoveThatCannotBeReadBackIsWrittenDown: Git made the move, and then cannot
// read the ref. The claim stays, and the next command writes the move down.
func TestAMoveThatCannotBeReadBackIsWrittenDown(t *testing.T) {
	f := newFixture(t)
	order := f.order(nil)
	committed := f.unreadableOnce(":")
	err := f.promote(order)
	if fault.CodeOf(err) != fault.GitFailed || !AfterMove(err) || !strings.Contains(err.Error(), "Git moved refs/heads/live") {
		t.Errorf("the move is told as %v", err)
	}
	f.wantVerdicts("")
	noError(t, os.Remove(committed))
	f.at(f.two)
	noError(t, f.gate.Reconcile(t.Context()))
	f.wantVerdicts("recovered")
	f.settled()
}

// TestALostAnswerIsWrittenDown: Git made the move and was killed before it said so,
// and then the ref cannot be read. Nobody knows that nothing moved: the claim stays,
// and the next command writes the move down.
func TestALostAnswerIsWrittenDown(t *testing.T) {
	f := newFixture(t)
	order := f.order(nil)
	committed := f.unreadableOnce("kill -KILL $PPID")
	if err := f.promote(order); fault.CodeOf(err) != fault.GitFailed || !AfterMove(err) {
		t.Errorf("the move is told as %v", err)
	}
	noError(t, os.Remove(committed))
	f.at(f.two)
	noError(t, f.gate.Reconcile(t.Context()))
	f.wantVerdicts("recovered")
	f.settled()
}
