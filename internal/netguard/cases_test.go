package netguard

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
)

// testCase is one line of testdata/cases.jsonl; its README explains the fields.
type testCase struct {
	ID              string              `json:"id"`
	URL             string              `json:"url"`
	DNS             map[string][]string `json:"dns"`
	InjectedPrivate []netip.Prefix      `json:"injected_private"`
	Redirects       []string            `json:"redirects"`
	DenyHop         int                 `json:"deny_hop"`
	Want            string              `json:"want"`
	Reason          Reason              `json:"reason"`
	Class           Class               `json:"class"`
	CanonicalHost   string              `json:"canonical_host"`
	Origin          string              `json:"origin"`
	Addrs           []netip.Addr        `json:"addrs"`
	MustNotContain  []string            `json:"audit_must_not_contain"`
	WHATWGHost      *string             `json:"whatwg_host"`
	WHATWGDiffers   bool                `json:"whatwg_differs"`
}

const caseCount = 564

func loadCases(t testing.TB) []testCase {
	t.Helper()
	f, err := os.Open("testdata/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cases []testCase
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var c testCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil || len(cases) != caseCount {
		t.Fatalf("read %d cases, want %d: %v", len(cases), caseCount, err)
	}
	return cases
}

// fakeDNS answers from a map and records what it was asked.
type fakeDNS struct {
	answers map[string][]string
	asked   []string
}

func (f *fakeDNS) LookupHost(_ context.Context, name string) ([]string, error) {
	f.asked = append(f.asked, name)
	answers, ok := f.answers[name]
	if !ok {
		return nil, errors.New("no such name")
	}
	return answers, nil
}

func TestCases(t *testing.T) {
	t.Parallel()
	for _, c := range loadCases(t) {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			dns := &fakeDNS{answers: c.DNS}
			p := &Policy{TrustedNetworks: c.InjectedPrivate, Resolver: dns}

			target, reason := Read(c.URL)
			first := p.Decide(t.Context(), c.URL)
			if (reason == Allowed) != (first.CanonicalHost != "") {
				t.Errorf("Read says %q, Decide says host %q", reason, first.CanonicalHost)
			}
			last, hop := first, 0
			for _, location := range c.Redirects {
				if !last.Allowed {
					break
				}
				hop++
				target, last = p.Redirect(t.Context(), Hop{From: target, Location: location, Number: hop})
			}

			if last.Allowed != (c.Want == "allow") {
				t.Errorf("allowed %v (%s), want %s", last.Allowed, last.Reason, c.Want)
			}
			if last.Allowed != (last.Reason == Allowed) {
				t.Errorf("allowed %v with reason %s", last.Allowed, last.Reason)
			}
			if c.Reason != "*" && last.Reason != c.Reason {
				t.Errorf("reason %q, want %q", last.Reason, c.Reason)
			}
			if last.Class != c.Class {
				t.Errorf("class %q, want %q", last.Class, c.Class)
			}
			if !sameHost(first.CanonicalHost, c.CanonicalHost) {
				t.Errorf("host %q, want %q", first.CanonicalHost, c.CanonicalHost)
			}
			if c.DNS == nil && len(dns.asked) > 0 {
				t.Errorf("the resolver was asked for %q", dns.asked)
			}
			if c.Origin != "" && first.Origin != c.Origin {
				t.Errorf("origin %q, want %q", first.Origin, c.Origin)
			}
			if c.Addrs != nil && !slices.Equal(first.Addresses, c.Addrs) {
				t.Errorf("addresses %v, want %v", first.Addresses, c.Addrs)
			}
			if len(c.Redirects) > 0 && c.Want == "deny" && hop != c.DenyHop {
				t.Errorf("hop %d was refused, want %d", hop, c.DenyHop)
			}
			shown, err := json.Marshal(last.Audit())
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range c.MustNotContain {
				for _, text := range []string{string(shown), fmt.Sprintf("%+v %#v %v", last, target, struct{ t Target }{target})} {
					if strings.Contains(text, secret) {
						t.Errorf("%q is shown in %s", secret, text)
					}
				}
			}
		})
	}
}

// TestCasesReadNoOtherHost holds the canonical host against what a browser
// reads: it may refuse, and may drop the trailing dot, but never differ.
func TestCasesReadNoOtherHost(t *testing.T) {
	t.Parallel()
	for _, c := range loadCases(t) {
		target, reason := Read(c.URL)
		if reason != Allowed {
			continue
		}
		if c.WHATWGHost == nil || !sameHost(target.Host, *c.WHATWGHost) {
			t.Errorf("%s: read %q, a browser reads %v", c.ID, target.Host, c.WHATWGHost)
		}
	}
}

// sameHost compares addresses as addresses and names without a trailing dot.
func sameHost(a, b string) bool {
	strip := func(s string) string {
		return strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"), ".")
	}
	a, b = strip(a), strip(b)
	x, errX := netip.ParseAddr(a)
	y, errY := netip.ParseAddr(b)
	if errX == nil && errY == nil {
		return x == y
	}
	return a == b
}
