package gitrepo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

const mainRef = "refs/heads/live"

// moving is a repository whose ref refs/heads/live is at one and shall go to two.
type moving struct {
	g          *gittest.Repo
	r          *Repo
	one, two   ID
	three      ID
	underLocks int
}

func newMoving(t *testing.T, options ...gittest.Option) *moving {
	t.Helper()
	m := &moving{g: gittest.New(t, options...)}
	m.one = ID(m.g.Commit(map[string]string{"a": "1\n"}, "one"))
	m.two = ID(m.g.Commit(map[string]string{"a": "2\n"}, "two"))
	m.three = ID(m.g.Commit(map[string]string{"a": "3\n"}, "three"))
	m.g.Git("update-ref", mainRef, string(m.one))
	m.r = open(t, m.g)
	return m
}

// move is the move from one to two, with changes.
func (m *moving) move(change func(*Move)) Move {
	mv := Move{Ref: mainRef, Old: m.one, New: m.two, Message: "evolve promote", UnderLock: func(context.Context) error {
		m.underLocks++
		return nil
	}}
	if change != nil {
		change(&mv)
	}
	return mv
}

func (m *moving) at(t *testing.T, ref string, want ID) {
	t.Helper()
	got, err := m.r.ReadRef(context.WithoutCancel(t.Context()), ref)
	noError(t, err)
	equal(t, ref, got, want)
}

// nothingLeft checks that a refused move changed nothing and left nothing.
func (m *moving) nothingLeft(t *testing.T, before [32]byte) {
	t.Helper()
	equal(t, "refs, index and worktree", state(t, m.g), before)
	noLocks(t, m.g)
}

func noLocks(t *testing.T, g *gittest.Repo) {
	t.Helper()
	noError(t, filepath.WalkDir(g.Dir(), func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".lock") {
			t.Errorf("%s is left", path)
		}
		return err
	}))
}

func TestMoveRef(t *testing.T) {
	type kind struct {
		options []gittest.Option
		prepare func(m *moving)
	}
	kinds := map[string]kind{
		"loose":  {nil, func(*moving) {}},
		"packed": {nil, func(m *moving) { m.g.Git("pack-refs", "--all") }},
		"packed and loose": {nil, func(m *moving) {
			m.g.Git("update-ref", mainRef, string(m.three))
			m.g.Git("pack-refs", "--all")
			m.g.Git("update-ref", mainRef, string(m.one))
		}},
		"bare":   {[]gittest.Option{gittest.Bare}, func(*moving) {}},
		"sha256": {[]gittest.Option{gittest.SHA256}, func(*moving) {}},
		"with a branch named HEAD": {nil, func(m *moving) {
			m.g.Git("update-ref", "refs/heads/HEAD", string(m.three))
			m.g.Git("update-ref", "refs/tags/live", string(m.three))
		}},
	}
	if gittest.HasReftable() {
		kinds["reftable"] = kind{[]gittest.Option{gittest.Reftable}, func(*moving) {}}
	}
	for name, c := range kinds {
		t.Run(name, func(t *testing.T) {
			m := newMoving(t, c.options...)
			c.prepare(m)
			noError(t, m.r.MoveRef(t.Context(), m.move(nil)))
			m.at(t, mainRef, m.two)
			equal(t, "calls of UnderLock", m.underLocks, 1)
			equal(t, "reflog", m.g.Git("reflog", "-1", "--format=%H %gs", mainRef), string(m.two)+" evolve promote")
			noLocks(t, m.g)
			noFsckErrors(t, m.g)
		})
	}
}

func TestMoveRefHoldsTheLock(t *testing.T) {
	m := newMoving(t)
	held := false
	err := m.r.MoveRef(t.Context(), m.move(func(mv *Move) {
		mv.UnderLock = func(ctx context.Context) error {
			held = exists(m.g.Path(".git/" + mainRef + ".lock"))
			if _, err := m.g.Try("", "update-ref", mainRef, string(m.three)); err == nil {
				t.Error("another git moved the ref")
			}
			value, err := m.r.ReadRef(ctx, mainRef)
			equal(t, "the ref under the lock", value, m.one)
			return err
		}
	}))
	noError(t, err)
	equal(t, "the lock was held", held, true)
	m.at(t, mainRef, m.two)
}

func TestMoveRefCreates(t *testing.T) {
	for _, options := range [][]gittest.Option{nil, {gittest.Bare}} {
		m := newMoving(t, options...)
		noError(t, m.r.MoveRef(t.Context(), m.move(func(mv *Move) { mv.Ref, mv.Old = "refs/heads/team/new", "" })))
		m.at(t, "refs/heads/team/new", m.two)
		equal(t, "reflog", m.g.Git("reflog", "-1", "--format=%gs", "refs/heads/team/new"), "evolve promote")
		err := m.r.MoveRef(t.Context(), m.move(func(mv *Move) { mv.Ref, mv.Old, mv.New = "refs/heads/team/new", "", m.three }))
		wantCode(t, err, fault.RefMoved)
		m.at(t, "refs/heads/team/new", m.two)
	}
}

func TestMoveRefRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(t *testing.T, m *moving)
		change  func(m *moving, mv *Move)
		code    fault.Code
		hint    string // a part of it
	}{
		"stale": {nil, func(m *moving, mv *Move) { mv.Old = m.three }, fault.RefMoved, "again"},
		"stale, packed": {func(_ *testing.T, m *moving) { m.g.Git("pack-refs", "--all") },
			func(m *moving, mv *Move) { mv.Old = m.three }, fault.RefMoved, "again"},
		"was deleted":    {nil, func(_ *moving, mv *Move) { mv.Ref = "refs/heads/gone" }, fault.RefMoved, "again"},
		"exists already": {nil, func(_ *moving, mv *Move) { mv.Old = "" }, fault.RefMoved, "again"},
		"a directory is in the way": {func(_ *testing.T, m *moving) { m.g.Git("update-ref", "refs/heads/dir/x", string(m.one)) },
			func(_ *moving, mv *Move) { mv.Ref, mv.Old = "refs/heads/dir", "" }, fault.GitFailed, "conflicting name"},
		"a file is in the way": {nil, func(_ *moving, mv *Move) { mv.Ref, mv.Old = mainRef+"/x", "" }, fault.GitFailed, "conflicting name"},
		"a packed ref is in the way": {func(_ *testing.T, m *moving) { m.g.Git("pack-refs", "--all") },
			func(_ *moving, mv *Move) { mv.Ref, mv.Old = mainRef+"/x", "" }, fault.GitFailed, "conflicting name"},
		"a blob": {nil, func(m *moving, mv *Move) { mv.New = ID(m.g.WriteRawObject("blob", []byte("x"))) }, fault.GitFailed, ""},
		"absent": {nil, func(_ *moving, mv *Move) { mv.New = ID(strings.Repeat("ab", 20)) }, fault.GitFailed, ""},
		"a hook refuses": {func(t *testing.T, m *moving) {
			writeFile(t, m.g.Path(".git/hooks/reference-transaction"), "#!/bin/sh\ntest \"$1\" != prepared\n", 0o755)
		}, nil, fault.GitFailed, "hook"},

		// What Git would take for a deletion, for any old value, or for more
		// commands, is not even asked.
		"no new value":   {nil, func(_ *moving, mv *Move) { mv.New = "" }, fault.Internal, ""},
		"zeros":          {nil, func(_ *moving, mv *Move) { mv.New = ID(strings.Repeat("0", 40)) }, fault.Internal, ""},
		"zeros before":   {nil, func(_ *moving, mv *Move) { mv.Old = ID(strings.Repeat("0", 40)) }, fault.Internal, ""},
		"a word":         {nil, func(_ *moving, mv *Move) { mv.New = "main" }, fault.Internal, ""},
		"HEAD":           {nil, func(_ *moving, mv *Move) { mv.Ref = "HEAD" }, fault.RefInvalid, ""},
		"two commands":   {nil, func(_ *moving, mv *Move) { mv.Ref = mainRef + "\x00" + "x" }, fault.RefInvalid, ""},
		"a bad name":     {nil, func(_ *moving, mv *Move) { mv.Ref, mv.Old = "refs/heads/a..b", "" }, fault.GitFailed, ""},
		"outside refs":   {nil, func(_ *moving, mv *Move) { mv.Ref, mv.Old = "refs/../HEAD", "" }, fault.GitFailed, ""},
		"no name at all": {nil, func(_ *moving, mv *Move) { mv.Ref = "" }, fault.RefInvalid, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMoving(t)
			if c.prepare != nil {
				c.prepare(t, m)
			}
			mv := m.move(nil)
			if c.change != nil {
				c.change(m, &mv)
			}
			before := state(t, m.g)
			f := wantCode(t, m.r.MoveRef(t.Context(), mv), c.code)
			if !strings.Contains(f.Hint, c.hint) {
				t.Errorf("hint %q does not hold %q", f.Hint, c.hint)
			}
			equal(t, "calls of UnderLock", m.underLocks, 0)
			m.nothingLeft(t, before)
		})
	}
}

func TestMoveRefWhenUnderLockRefuses(t *testing.T) {
	own := errors.New("not now")
	for _, pack := range []bool{false, true} {
		m := newMoving(t)
		if pack {
			m.g.Git("pack-refs", "--all")
		}
		before := state(t, m.g)
		err := m.r.MoveRef(t.Context(), m.move(func(mv *Move) { mv.UnderLock = func(context.Context) error { return own } }))
		if !errors.Is(err, own) {
			t.Errorf("got %v, want the error of UnderLock", err)
		}
		m.nothingLeft(t, before)
		err = m.r.MoveRef(t.Context(), m.move(func(mv *Move) {
			mv.Ref, mv.Old = "refs/heads/x/new", ""
			mv.UnderLock = func(context.Context) error { return own }
		}))
		if !errors.Is(err, own) {
			t.Errorf("got %v, want the error of UnderLock", err)
		}
		m.at(t, "refs/heads/x/new", "")
		m.nothingLeft(t, before)
	}
}

func TestMoveRefNamesALockThatIsHeld(t *testing.T) {
	m := newMoving(t)
	lock := m.g.Path(".git/" + mainRef + ".lock")
	writeFile(t, lock, "", 0o666)
	before := state(t, m.g)
	f := wantCode(t, m.r.MoveRef(t.Context(), m.move(nil)), fault.GitFailed)
	if !strings.Contains(f.Hint, lock) {
		t.Errorf("the hint does not name the lock: %s", f.Hint)
	}
	equal(t, "refs", state(t, m.g), before)
	noError(t, os.Remove(lock))
	noError(t, m.r.MoveRef(t.Context(), m.move(nil)))
}

// An alias is never written through, nor overwritten by accident: callers name
// its target.
func TestMoveRefOfASymbolicRefMovesNoOther(t *testing.T) {
	m := newMoving(t)
	m.g.Git("symbolic-ref", "refs/heads/alias", mainRef)
	_ = m.r.MoveRef(t.Context(), m.move(func(mv *Move) { mv.Ref = "refs/heads/alias" }))
	m.at(t, mainRef, m.one)
}

func TestMoveRefInALinkedWorktree(t *testing.T) {
	m := newMoving(t)
	linked := filepath.Join(filepath.Dir(m.g.Dir()), "linked")
	m.g.Git("worktree", "add", "-q", "-b", "side", linked)
	r := open(t, m.g.At(linked))
	noError(t, r.MoveRef(t.Context(), m.move(nil)))
	m.at(t, mainRef, m.two)
}

// One of many racing moves is made, and each of the others is told.
func TestMoveRefRace(t *testing.T) {
	m := newMoving(t)
	const racers = 6
	results := make(chan error, racers)
	for i := range racers {
		target := []ID{m.two, m.three}[i%2]
		go func() {
			results <- m.r.MoveRef(t.Context(), m.move(func(mv *Move) { mv.New, mv.UnderLock = target, nil }))
		}()
	}
	won := 0
	for range racers {
		err := <-results
		if err == nil {
			won++
		} else if code := fault.CodeOf(err); code != fault.RefMoved && code != fault.GitFailed {
			t.Error(err)
		}
	}
	equal(t, "moves that were made", won, 1)
	noLocks(t, m.g)
}
