package review

import (
	"testing"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// TestReviewers: how many people accepted a change, and whether one of them moves
// the ref.
func TestReviewers(t *testing.T) {
	h := build(t)
	ada, adaPublic := h.keygen("ada")
	ada2, ada2Public := h.keygen("ada2", "-t", "ecdsa")
	bob, bobPublic := h.keygen("bob", "-t", "rsa", "-b", "2048")
	h.signers(line("ada@example.com", adaPublic), line("ada@example.com,ada@example.org", ada2Public), line("bob@example.com", bobPublic))
	h.Git("config", "evolve.requiredReviews", "2")
	m := h.move(h.bump("docs", "2"))
	by := func(key string) Token {
		h.as(key)
		return h.review(m).Token
	}
	a, a2, b := by(ada), by(ada2), by(bob)
	alias := func() Token { // the key of ada2, under its other name
		h.Git("config", "user.email", "ada@example.org")
		h.env("GIT_AUTHOR_EMAIL", "ada@example.org")
		return h.review(m).Token
	}
	h.as(ada2)
	a3 := alias()
	wantCode(t, h.verify(m, a), fault.ReviewsInsufficient)
	wantCode(t, h.verify(m, a, a), fault.ReviewsInsufficient)
	wantCode(t, h.verify(m, a, a2), fault.ReviewsInsufficient)  // one person, two keys
	wantCode(t, h.verify(m, a2, a3), fault.ReviewsInsufficient) // one key, two names
	if err := h.verify(m, a, b); err != nil {
		t.Errorf("two people: %v", err)
	}
	if err := h.verify(m, a, a2, a3, b); err != nil {
		t.Errorf("two people among four records: %v", err)
	}
	wantCode(t, h.verify(m, a, b, Token{digits}), fault.TokenUnknown)

	h.Git("config", "evolve.forbidSelfReview", "true")
	by2 := func(p Pusher, tokens ...Token) error {
		_, err := h.verifyAs(p, m, tokens...)
		return err
	}
	wantCode(t, by2(Pusher{Name: "carol@example.com"}, a, b), fault.SelfReview) // not proved
	wantCode(t, by2(Pusher{Name: "bob@example.com", Authenticated: true}, a, b), fault.SelfReview)
	bobKey, problem := readKey(bobPublic)
	if problem != "" {
		t.Fatal(problem)
	}
	wantCode(t, by2(Pusher{Name: "robert", KeyFingerprint: fingerprint(bobKey), Authenticated: true}, a, b), fault.SelfReview)
	if err := by2(Pusher{Name: "carol@example.com", Authenticated: true}, a, b); err != nil {
		t.Errorf("somebody else: %v", err)
	}
}

// TestDistinct: a principal counts once, a key counts once, whatever the order.
func TestDistinct(t *testing.T) {
	k := makeKeys(t)
	record := func(who, public string) *Record {
		key, problem := readKey(public)
		if problem != "" {
			t.Fatal(problem)
		}
		return &Record{Statement: &Statement{body: statementBody{Predicate: predicate{Reviewer: who}}}, key: key}
	}
	for name, c := range map[string]struct {
		want    int
		records []*Record
	}{
		"nobody":                 {0, nil},
		"one":                    {1, []*Record{record("a", k.ada)}},
		"one with two keys":      {1, []*Record{record("a", k.ada), record("a", k.bob)}},
		"two with one key":       {1, []*Record{record("a", k.ada), record("b", k.ada)}},
		"two":                    {2, []*Record{record("a", k.ada), record("b", k.bob)}},
		"a chain of shared keys": {2, []*Record{record("a", k.ada), record("a", k.bob), record("b", k.ada)}},
		"a longer chain":         {3, []*Record{record("a", k.ada), record("b", k.ada), record("b", k.bob), record("c", k.bob), record("c", k.large)}},
		"three of two keys":      {2, []*Record{record("a", k.ada), record("b", k.bob), record("c", k.ada), record("c", k.bob)}},
	} {
		for range 8 { // maps have no order
			if n := distinct(c.records); n != c.want {
				t.Errorf("%s: %d, want %d", name, n, c.want)
			}
		}
	}
}
