package review

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// Host is what LoadPolicy asks of a repository.
type Host interface {
	Config(ctx context.Context) (*gitrepo.Config, error)
	Worktrees(ctx context.Context) ([]string, error)
	WorkTree() string
	GitDir() string
	CommonDir() string
}

// LoadPolicy reads the host's settings. A setting that comes from a file inside
// a worktree is refused, since whoever writes the repository would set it.
// Codes: config_invalid, naming the setting and where it is set.
func LoadPolicy(ctx context.Context, repo Host) (*Policy, error) {
	config, err := repo.Config(ctx)
	if err != nil {
		return nil, err
	}
	trees, err := repo.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	l := &policyLoader{repo: repo, config: config, p: &Policy{place: newPlace(repo, trees)}}
	l.load()
	l.check()
	if l.err != nil {
		return nil, l.err
	}
	return l.p, nil
}

// policyLoader keeps the first error.
type policyLoader struct {
	repo   Host
	config *gitrepo.Config
	p      *Policy
	err    error
}

func (l *policyLoader) load() {
	p := l.p
	p.Guard = l.list("evolve.guard")
	p.CorePatterns = l.list("evolve.core")
	p.KnownValues = l.list("evolve.knownValue")
	p.Repository = l.text("evolve.repository", "")
	p.MaxExpiry = l.duration("evolve.maxExpiry", defaultMaxExpiry)
	p.Expiry = l.duration("evolve.expiry", min(defaultExpiry, p.MaxExpiry))
	p.RequiredReviews = l.count("evolve.requiredReviews", 1)
	p.ForbidSelfReview = l.boolean("evolve.forbidSelfReview")
	p.Bind = Bind(l.text("evolve.bind", string(BindChange)))
	p.AllowNonFastForward = l.boolean("evolve.allowNonFastForward")
	p.PusherVariable = l.text("evolve.pusherVariable", "")
	p.SharedRepository = l.text("core.sharedRepository", "")
	p.signProgram = l.text("gpg.ssh.program", "")
	p.signersFile = l.text("gpg.ssh.allowedSignersFile", "")
	p.revocationFile = l.text("gpg.ssh.revocationFile", "")
	p.signingKey = l.text("evolve.signingKey", "")
	format, key := l.text("gpg.format", ""), l.text("user.signingKey", "")
	if format == "ssh" && key != "" {
		p.signingKey = key
	}
}

// check holds the settings against each other and against their forms.
func (l *policyLoader) check() {
	p := l.p
	for _, rule := range []struct {
		key, problem string
		broken       bool
	}{
		{"evolve.bind", "takes change or commit", p.Bind != BindChange && p.Bind != BindCommit},
		{"evolve.allowNonFastForward", "needs evolve.bind=commit beside it", p.AllowNonFastForward && p.Bind != BindCommit},
		{"evolve.maxExpiry", "may be 366d at most", p.MaxExpiry > maxMaxExpiry},
		{"evolve.expiry", "is longer than evolve.maxExpiry", p.Expiry > p.MaxExpiry},
		{"evolve.pusherVariable", "names an environment variable, such as GL_USER", strangeVariable(p.PusherVariable)},
		{"evolve.repository", "must be one line of at most 255 bytes", len(p.Repository) > maxRepository || !oneLine(p.Repository)},
		{"evolve.guard", "takes full names of refs, such as refs/heads/main", slices.ContainsFunc(p.Guard, func(s string) bool { return !validRef(s) })},
		{"evolve.core", "takes directories below the top, such as agents/*", slices.ContainsFunc(p.CorePatterns, strangePattern)},
	} {
		if rule.broken {
			l.fail(rule.key, rule.problem)
		}
	}
}

// strangePattern reports whether a pattern of evolve.core can name no directory
// of a repository.
func strangePattern(pattern string) bool {
	for segment := range strings.SplitSeq(strings.Trim(pattern, "/"), "/") {
		if segment == "" || segment == "." || segment == ".." || !oneLine(segment) {
			return true
		}
	}
	return false
}

func (l *policyLoader) fail(key, problem string) {
	origin := "default"
	if s, ok := l.config.Last(key); ok {
		origin = s.Origin
	}
	l.failAt(key, problem, origin)
}

func (l *policyLoader) failAt(key, problem, origin string) {
	if l.err == nil {
		l.err = fault.New(fault.ConfigInvalid, "%s %s (set in %s)", key, problem, safetext.Terminal(origin)).
			WithHint("git config --show-origin --get-all %s", key)
	}
}

// all returns every value of a setting, refusing one that the repository's own
// content could have made.
func (l *policyLoader) all(key string) []gitrepo.Setting {
	all := l.config.All(key)
	for _, s := range all {
		path, file := strings.CutPrefix(s.Origin, "file:")
		switch {
		case file && l.inWorktree(path):
			l.failAt(key, "comes from a file inside a worktree, which the repository's content decides", s.Origin)
		case strings.HasPrefix(s.Origin, "blob:"):
			l.failAt(key, "comes from an object of the repository", s.Origin)
		}
	}
	return all
}

// inWorktree judges where a configuration file lies. Git names one relative to
// the directory that it ran in.
func (l *policyLoader) inWorktree(path string) bool {
	if !filepath.IsAbs(path) {
		top := l.repo.WorkTree()
		if top == "" {
			top = l.repo.GitDir()
		}
		path = filepath.Join(top, path)
	}
	return l.p.place.inside(path)
}

// value returns the setting in force, noted for doctor, and whether it is set.
func (l *policyLoader) value(key, fallback string) (string, bool) {
	all := l.all(key)
	if len(all) == 0 {
		l.note(key, fallback, "default")
		return fallback, false
	}
	s := all[len(all)-1]
	l.note(key, s.Value, s.Origin)
	return s.Value, true
}

func (l *policyLoader) note(key, value, origin string) {
	l.p.settings = append(l.p.settings, EffectiveSetting{Name: key, Value: value, Origin: origin})
}

func (l *policyLoader) text(key, fallback string) string {
	s, _ := l.value(key, fallback)
	return s
}

func (l *policyLoader) list(key string) []string {
	all := l.all(key)
	if len(all) == 0 {
		l.note(key, "", "default")
	}
	var out []string
	for _, s := range all {
		shown := s.Value
		if key == "evolve.knownValue" {
			shown = fmt.Sprintf("(%d bytes)", len(s.Value))
		}
		l.note(key, shown, s.Origin)
		out = append(out, s.Value)
	}
	return out
}

func (l *policyLoader) duration(key string, fallback time.Duration) time.Duration {
	s, set := l.value(key, inWords(fallback))
	if !set {
		return fallback
	}
	d, ok := parseDuration(s)
	if !ok {
		l.fail(key, "is no duration such as 24h, 90m, 7d or 2w")
	}
	return d
}

func (l *policyLoader) count(key string, fallback int) int {
	s, set := l.value(key, strconv.Itoa(fallback))
	if !set {
		return fallback
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > maxReviews {
		l.fail(key, fmt.Sprintf("must be a number from 1 to %d", maxReviews))
	}
	return n
}

// boolean reads what git-config(1) calls a boolean.
func (l *policyLoader) boolean(key string) bool {
	s, _ := l.value(key, "false")
	switch strings.ToLower(s) {
	case "true", "yes", "on":
		return true
	case "false", "no", "off", "":
		return false
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		l.fail(key, "must be true or false")
	}
	return n != 0
}
