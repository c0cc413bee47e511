package hooks_test

import (
	"slices"
	"strings"
	"testing"
)

// The main story: refused, reviewed, pushed with its record, never twice.
func TestAChangeIsRefusedThenReviewedThenPushed(t *testing.T) {
	s := newSite(t)
	head := s.change("1.1.0")
	out := s.refused("token_missing", "HEAD:main")
	for _, want := range []string{"next: evolve review " + head + " --ref refs/heads/main --base " + s.base, "next: evolve push REMOTE " + head + ":refs/heads/main --token TOKEN"} {
		if !strings.Contains(out, want) {
			t.Errorf("the pusher does not read %q:\n%s", want, out)
		}
	}
	token := s.review(mainRef, s.base, head)
	s.accepted("--atomic", "HEAD:main", record(token))
	s.at(mainRef, head)
	s.reaped()
	if got := s.moves(); !slices.Equal(got, []string{mainRef + " " + head}) {
		t.Errorf("audited moves %v", got)
	}
	s.clone.Git("revert", "--no-edit", "HEAD")
	undone := s.clone.Git("rev-parse", "HEAD")
	undo := s.review(mainRef, head, undone)
	s.accepted("--atomic", "HEAD:main", record(undo))
	s.clone.Git("revert", "--no-edit", "HEAD")
	s.refused("token_used", "--push-option=token="+token.String(), "HEAD:main")
	entries := audit(t, s.server)
	if last := entries[len(entries)-1]; last.Verdict != "refused" || last.Code != "token_used" || last.By != "pre-receive" {
		t.Errorf("the last audit line is %+v", last)
	}
}

func TestAChangeThatNoReviewCoversNeedsNone(t *testing.T) {
	s := newSite(t)
	head := s.note("two")
	s.accepted("HEAD:main")
	s.at(mainRef, head)
	s.reaped()
	if got := s.moves(); len(got) != 1 {
		t.Errorf("audited moves %v", got)
	}
}
