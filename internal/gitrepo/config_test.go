package gitrepo

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

func TestConfig(t *testing.T) {
	g := gittest.New(t)
	g.Git("config", "evolve.repository", "example/docs")
	g.Git("config", "--add", "evolve.guard", "refs/heads/main")
	g.Git("config", "--add", "evolve.guard", "refs/heads/live")
	g.Git("config", "evolve.maxExpiry", "7d\n")
	g.Git("config", "Remote.Fork.url", "two")
	g.Git("config", "remote.fork.url", "one")
	included := filepath.Join(filepath.Dir(g.Dir()), "included")
	writeFile(t, included, "[evolve]\n\texpiry = 1h\n", 0o666)
	g.Git("config", "include.path", included)
	home, _ := Lookup(g.Env(), "GIT_CONFIG_GLOBAL")
	config := g.Git("config", "--file", home, "--list")
	if config == "" {
		t.Fatal("the user has no configuration")
	}
	writeFile(t, g.Path(".git/config"), readFile(t, g.Path(".git/config"))+"[evolve]\n\tforbidSelfReview\n\tbind =\n", 0o666)

	c, err := open(t, g).Config(t.Context())
	noError(t, err)
	for _, want := range []Setting{
		{"evolve.repository", "example/docs", "local", "file:" + g.Path(".git/config")},
		{"evolve.guard", "refs/heads/live", "local", "file:" + g.Path(".git/config")},
		{"evolve.maxexpiry", "7d\n", "local", "file:" + g.Path(".git/config")},
		{"evolve.forbidselfreview", "true", "local", "file:" + g.Path(".git/config")},
		{"evolve.bind", "", "local", "file:" + g.Path(".git/config")},
		{"evolve.expiry", "1h", "local", "file:" + included},
		{"user.name", "Grace Example", "global", "file:" + home},
		{"remote.fork.url", "one", "local", "file:" + g.Path(".git/config")},
		{"remote.Fork.url", "two", "local", "file:" + g.Path(".git/config")},
	} {
		got, ok := c.Last(want.Key)
		if !ok || got != want {
			t.Errorf("%s: got %q, want %q", want.Key, got, want)
		}
	}
	equal(t, "number of guards", len(c.All("Evolve.GUARD")), 2)
	if _, ok := c.Last("EVOLVE.forbidSelfReview"); !ok {
		t.Error("section and name are compared with case")
	}
	if s, ok := c.Last("evolve.absent"); ok {
		t.Errorf("got %q", s)
	}
	// What we tell our own git is no setting of the host.
	if s, ok := c.Last("core.fsmonitor"); ok {
		t.Errorf("got %q", s)
	}
}

// A pusher chooses the environment of a hook over ssh; a policy must not come
// from there.
func TestConfigOfAHookIgnoresTheEnvironment(t *testing.T) {
	g := gittest.New(t)
	g.Git("config", "evolve.requiredReviews", "2")
	elsewhere := filepath.Join(t.TempDir(), "config")
	writeFile(t, elsewhere, "[evolve]\n\tallowNonFastForward = true\n", 0o666)
	env := g.Env("GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=evolve.requiredReviews", "GIT_CONFIG_VALUE_0=0",
		"GIT_CONFIG_PARAMETERS='evolve.forbidselfreview'='false'", "GIT_CONFIG_GLOBAL="+elsewhere, "GIT_CONFIG_SYSTEM="+elsewhere,
		"GIT_CONFIG_NOSYSTEM=0")
	c, err := openWith(t, Options{Dir: g.Dir(), Env: env, Hook: true}).Config(t.Context())
	noError(t, err)
	s, _ := c.Last("evolve.requiredReviews")
	equal(t, "required reviews", s.Value, "2")
	for _, key := range []string{"evolve.allowNonFastForward", "evolve.forbidSelfReview"} {
		if s, ok := c.Last(key); ok {
			t.Errorf("%s comes from %s", key, s.Origin)
		}
	}
	// Outside hooks the user's files count, single values in the environment do not.
	c, err = openWith(t, Options{Dir: g.Dir(), Env: env}).Config(t.Context())
	noError(t, err)
	s, _ = c.Last("evolve.requiredReviews")
	equal(t, "required reviews", s.Value, "2")
	if _, ok := c.Last("evolve.allowNonFastForward"); !ok {
		t.Error("GIT_CONFIG_GLOBAL is ignored outside a hook")
	}
}

func TestConfigThatBreaksLater(t *testing.T) {
	g := gittest.New(t)
	r := open(t, g)
	writeFile(t, g.Path(".git/config"), "[core]\n\tbare = \"secret\n", 0o666)
	_, err := r.Config(t.Context())
	if f := wantCode(t, err, fault.ConfigInvalid); strings.Contains(f.Message+f.Hint, "secret") {
		t.Errorf("the message quotes the file: %s", f.Message)
	}
}
