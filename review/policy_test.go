package review

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

func TestPolicyDefaults(t *testing.T) {
	p := build(t).policy()
	if p.Expiry != 24*time.Hour || p.MaxExpiry != 7*24*time.Hour || p.RequiredReviews != 1 || p.ForbidSelfReview ||
		p.Bind != BindChange || p.AllowNonFastForward || p.Repository != "" || p.Guard != nil || p.CorePatterns != nil || p.KnownValues != nil {
		t.Errorf("%+v", p)
	}
	for _, s := range p.Settings() {
		if s.Origin != "default" && s.Name != "core.sharedRepository" {
			t.Errorf("%s comes from %s", s.Name, s.Origin)
		}
	}
}

func TestPolicyReadsSettings(t *testing.T) {
	h := build(t)
	for _, kv := range [][2]string{
		{"evolve.guard", "refs/heads/main"}, {"evolve.guard", "refs/heads/live"}, {"evolve.core", "agents/*"}, {"evolve.knownValue", "a value"},
		{"evolve.repository", "example.org/agent"}, {"evolve.expiry", "90m"}, {"evolve.maxExpiry", "2w"}, {"evolve.requiredReviews", "2"},
		{"evolve.forbidSelfReview", "yes"}, {"evolve.bind", "commit"}, {"evolve.allowNonFastForward", "1"}, {"core.sharedRepository", "group"},
	} {
		h.Git("config", "--add", kv[0], kv[1])
	}
	h.Git("config", "--global", "evolve.signingKey", "/keys/ada")
	p := h.policy()
	if !slices.Equal(p.Guard, []string{"refs/heads/main", "refs/heads/live"}) || !slices.Equal(p.CorePatterns, []string{"agents/*"}) ||
		!slices.Equal(p.KnownValues, []string{"a value"}) || p.Repository != "example.org/agent" || p.Expiry != 90*time.Minute ||
		p.MaxExpiry != 14*24*time.Hour || p.RequiredReviews != 2 || !p.ForbidSelfReview || p.Bind != BindCommit || !p.AllowNonFastForward ||
		!p.shared() || p.signingKey != "/keys/ada" {
		t.Errorf("%+v", p)
	}
	origins := map[string]string{}
	for _, s := range p.Settings() {
		origins[s.Name] = s.Origin
		if strings.Contains(s.Value, "a value") {
			t.Error("a known value is among the settings")
		}
	}
	if !strings.HasSuffix(origins["evolve.bind"], "/.git/config") || !strings.HasSuffix(origins["evolve.signingKey"], "gitconfig") || origins["gpg.format"] != "default" {
		t.Errorf("origins: %v", origins)
	}
	// The key that Git signs with comes first, where that is an SSH key.
	h.Git("config", "user.signingKey", "0xABCD")
	if got := h.policy().signingKey; got != "/keys/ada" {
		t.Errorf("an OpenPGP key signs: %s", got)
	}
	h.Git("config", "gpg.format", "ssh")
	if got := h.policy().signingKey; got != "0xABCD" {
		t.Errorf("user.signingKey is left out: %s", got)
	}
}

func TestPolicyRefused(t *testing.T) {
	h := build(t)
	for _, c := range [][2]string{
		{"evolve.expiry", "a day"}, {"evolve.expiry", "0h"}, {"evolve.expiry", "-1h"}, {"evolve.expiry", "1.5h"}, {"evolve.expiry", ""},
		{"evolve.expiry", "8d"}, {"evolve.maxExpiry", "367d"}, {"evolve.maxExpiry", "1000000h"}, {"evolve.requiredReviews", "0"},
		{"evolve.requiredReviews", "17"}, {"evolve.requiredReviews", "two"}, {"evolve.forbidSelfReview", "maybe"}, {"evolve.bind", "tree"},
		{"evolve.bind", "Commit"}, {"evolve.allowNonFastForward", "true"}, {"evolve.repository", "a\nb"}, {"evolve.guard", "main"},
		{"evolve.core", "../elsewhere"}, {"evolve.core", ""},
	} {
		h.Git("config", c[0], c[1])
		_, err := LoadPolicy(h.ctx, h.repo)
		f := wantCode(t, err, fault.ConfigInvalid)
		if !strings.Contains(f.Message, c[0]) || !strings.Contains(f.Message, "/.git/config)") {
			t.Errorf("%v: the message does not name the setting and its origin: %s", c, f.Message)
		}
		h.Git("config", "--unset-all", c[0])
	}
	h.Git("config", "evolve.maxExpiry", "1h")
	if p := h.policy(); p.Expiry != time.Hour {
		t.Errorf("a default beyond evolve.maxExpiry: %s", p.Expiry)
	}
}

// TestPolicyOfARepository: no file that a checkout writes sets the policy.
func TestPolicyOfARepository(t *testing.T) {
	h := build(t)
	h.Write(map[string]string{"policy/config": "[evolve]\n\trequiredReviews = 1\n"})
	outside := filepath.Join(h.dir(), "policy")
	write(t, outside, "[evolve]\n\trequiredReviews = 2\n")
	link := filepath.Join(h.dir(), "link")
	through := filepath.Join(h.dir(), "through")
	for target, name := range map[string]string{h.Path("policy/config"): link, h.Path("out"): through} {
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, h.Path("out")); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(h.dir(), "linked")
	h.Git("worktree", "add", "-q", "--detach", linked)
	write(t, filepath.Join(linked, "config"), "[evolve]\n\trequiredReviews = 1\n")
	for name, path := range map[string]string{
		"a file of the worktree":           h.Path("policy/config"),
		"a relative path":                  "../policy/config",
		"a link to one":                    link,
		"a link of the worktree":           h.Path("out"),
		"a link to a link of the worktree": through,
		"a file of another worktree":       filepath.Join(linked, "config"),
	} {
		h.Git("config", "include.path", path)
		_, err := LoadPolicy(h.ctx, h.repo)
		if f := wantCode(t, err, fault.ConfigInvalid); !strings.Contains(f.Message, "evolve.requiredReviews") || !strings.Contains(f.Message, "worktree") {
			t.Errorf("%s: %s", name, f.Message)
		}
	}
	h.Git("config", "include.path", outside)
	if p := h.policy(); p.RequiredReviews != 2 {
		t.Error("a file outside does not count")
	}
	if p, err := LoadPolicy(h.ctx, h.from(linked)); err != nil || p.RequiredReviews != 2 {
		t.Errorf("from a linked worktree: %v", err)
	}
	bare := &house{Repo: gittest.New(t, gittest.Bare), t: t, ctx: t.Context()}
	bare.Git("config", "evolve.bind", "commit")
	bare.open()
	if bare.policy().Bind != BindCommit {
		t.Error("a bare repository's own settings do not count")
	}
}

func TestExpiryFor(t *testing.T) {
	p := &Policy{Expiry: time.Hour, MaxExpiry: 14 * 24 * time.Hour}
	for s, d := range map[string]time.Duration{
		"": time.Hour, "1s": time.Second, "90m": 90 * time.Minute, "24h": 24 * time.Hour, "3d": 72 * time.Hour, "2w": 14 * 24 * time.Hour,
	} {
		if got, err := p.ExpiryFor(s); err != nil || got != d {
			t.Errorf("%q: %s, %v", s, got, err)
		}
	}
	for _, s := range []string{"0h", "15d", "3w", "h", "1", "1y", "1H", " 1h", "1h ", "+1h", "-1h", "1h30m", "1e3h", "0x1h", "1_0h", "1000000s", "٣h"} {
		if _, err := p.ExpiryFor(s); fault.CodeOf(err) != fault.Usage {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, d := range []time.Duration{time.Second, 90 * time.Minute, 24 * time.Hour, 48 * time.Hour, 7 * 24 * time.Hour} {
		if again, ok := parseDuration(inWords(d)); !ok || again != d {
			t.Errorf("%s is written %s", d, inWords(d))
		}
	}
}

func TestCheckReason(t *testing.T) {
	for _, s := range []string{"", "fine", "grün <&> \"quoted\"", strings.Repeat("a", 500)} {
		if err := CheckReason(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, s := range []string{strings.Repeat("a", 501), "a\nb", "a\rb", "a\x1b[1m", "\xff", "a\u0085b", "\x7f"} {
		wantCode(t, CheckReason(s), fault.Usage)
	}
}

// TestHostFiles: who else could write a file that policy rests on.
func TestHostFiles(t *testing.T) {
	h := build(t)
	p := h.policy()
	dir := filepath.Join(h.dir(), "etc")
	file := filepath.Join(dir, "signers")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, file, "text")
	chmod := func(path string, mode os.FileMode) {
		t.Helper()
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := p.place.readHostFile(file, "it"); err != nil || string(data) != "text" {
		t.Fatalf("%v", err)
	}
	refused := func(name, path, problem string) {
		t.Helper()
		_, err := p.place.readHostFile(path, "it")
		if f := wantCode(t, err, fault.ConfigInvalid); !strings.Contains(f.Message, problem) {
			t.Errorf("%s: %s", name, f.Message)
		}
	}
	for mode, problem := range map[os.FileMode]string{0o620: "others", 0o602: "others", 0o666: "others"} {
		chmod(file, mode)
		refused(mode.String(), file, problem)
	}
	chmod(file, 0o644)
	chmod(dir, 0o757)
	refused("an open directory", file, "directory that anybody can write")
	chmod(dir, os.ModeSticky|0o777)
	if _, err := p.place.readHostFile(file, "it"); err != nil {
		t.Errorf("in a sticky directory: %v", err)
	}
	chmod(dir, 0o755)
	if os.Geteuid() == 0 {
		if err := os.Chown(file, 12345, 12345); err != nil {
			t.Fatal(err)
		}
		refused("another user's", file, "another user")
		if err := os.Chown(file, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	refused("a relative path", "signers", "absolute")
	refused("a directory", dir, "regular")
	inside := h.Path("signers")
	write(t, inside, "text")
	refused("a file of the worktree", inside, "worktree")
	write(t, file, strings.Repeat("#", maxHostFile+1))
	refused("a huge one", file, "1 MiB")
	open := filepath.Join(h.dir(), "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	chmod(open, 0o777)
	if err := os.Symlink(file, filepath.Join(open, "link")); err != nil {
		t.Fatal(err)
	}
	write(t, file, "text")
	refused("a link that anybody can replace", filepath.Join(open, "link"), "directory that anybody can write")
	for _, name := range []string{"a", "b"} {
		other := map[string]string{"a": "b", "b": "a"}[name]
		if err := os.Symlink(filepath.Join(dir, other), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	refused("a loop", filepath.Join(dir, "a"), "read")
	// A worktree inside a Git directory is a worktree all the same.
	nested := filepath.Join(h.repo.CommonDir(), "nested")
	h.Git("worktree", "add", "-q", "--detach", nested)
	write(t, filepath.Join(nested, "signers"), "text")
	p = h.policy()
	refused("a worktree in the Git directory", filepath.Join(nested, "signers"), "worktree")
}
