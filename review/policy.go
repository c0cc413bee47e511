package review

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// Policy is the host's settings, from Git's configuration.
type Policy struct {
	Guard               []string // evolve.guard: full ref names that the hooks protect
	CorePatterns        []string // evolve.core
	KnownValues         []string // evolve.knownValue
	Repository          string   // evolve.repository
	Expiry              time.Duration
	MaxExpiry           time.Duration
	RequiredReviews     int
	ForbidSelfReview    bool
	BindCommit          bool // evolve.bind=commit
	AllowNonFastForward bool
	SharedRepository    string // core.sharedRepository, "" if not set

	signingKey     string // what signs, "" for the generated key
	signProgram    string // gpg.ssh.program
	signersFile    string // gpg.ssh.allowedSignersFile, "" for the generated one
	revocationFile string // gpg.ssh.revocationFile

	settings []EffectiveSetting
}

// EffectiveSetting is one effective setting, for doctor.
type EffectiveSetting struct{ Name, Value, Origin string }

// Settings lists every setting that the gate obeys, with its origin.
func (p *Policy) Settings() []EffectiveSetting { return p.settings }

// The defaults and bounds of the policy.
const (
	defaultExpiry    = 24 * time.Hour
	defaultMaxExpiry = 7 * 24 * time.Hour
	maxMaxExpiry     = 366 * 24 * time.Hour
	maxReviews       = 16
)

// LoadPolicy reads the host's settings. A setting that comes from a file inside
// a worktree is refused, since whoever writes the repository would set it.
// Codes: config_invalid.
func LoadPolicy(ctx context.Context, repo *gitrepo.Repo) (*Policy, error) {
	config, err := repo.Config(ctx)
	if err != nil {
		return nil, err
	}
	trees, err := repo.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	l := &policyLoader{repo: repo, config: config, worktrees: trees, p: &Policy{}}
	l.load()
	if l.err != nil {
		return nil, l.err
	}
	return l.p, nil
}

// policyLoader keeps the first error.
type policyLoader struct {
	repo      *gitrepo.Repo
	config    *gitrepo.Config
	worktrees []string
	p         *Policy
	err       error
}

func (l *policyLoader) load() {
	p := l.p
	p.Guard = l.list("evolve.guard")
	p.CorePatterns = l.list("evolve.core")
	p.KnownValues = l.list("evolve.knownValue")
	p.Repository = l.text("evolve.repository", "")
	p.Expiry = l.duration("evolve.expiry", defaultExpiry)
	p.MaxExpiry = l.duration("evolve.maxExpiry", defaultMaxExpiry)
	p.RequiredReviews = l.count("evolve.requiredReviews", 1)
	p.ForbidSelfReview = l.boolean("evolve.forbidSelfReview")
	bind := l.text("evolve.bind", "change")
	p.BindCommit = bind == "commit"
	p.AllowNonFastForward = l.boolean("evolve.allowNonFastForward")
	own := l.text("evolve.signingKey", "")
	format := l.text("gpg.format", "")
	git := l.text("user.signingKey", "")
	p.signProgram = l.text("gpg.ssh.program", "")
	p.signersFile = l.text("gpg.ssh.allowedSignersFile", "")
	p.revocationFile = l.text("gpg.ssh.revocationFile", "")
	p.SharedRepository = l.text("core.sharedRepository", "")
	p.signingKey = own
	if format == "ssh" && git != "" {
		p.signingKey = git
	}
	switch {
	case l.err != nil:
	case bind != "change" && bind != "commit":
		l.fail("evolve.bind", "takes change or commit")
	case p.AllowNonFastForward && !p.BindCommit:
		l.fail("evolve.allowNonFastForward", "needs evolve.bind=commit beside it")
	case p.MaxExpiry > maxMaxExpiry:
		l.fail("evolve.maxExpiry", "may be 366 days at most")
	case p.Expiry > p.MaxExpiry:
		l.fail("evolve.expiry", "is longer than evolve.maxExpiry")
	}
}

func (l *policyLoader) fail(key, problem string) {
	if l.err != nil {
		return
	}
	origin := "default"
	if s, ok := l.config.Last(key); ok {
		origin = s.Origin
	}
	l.err = fault.New(fault.ConfigInvalid, "%s %s (set in %s)", key, problem, safetext.Terminal(origin)).
		WithHint("git config --show-origin --get-all %s", key)
}

// last returns the setting in force, refusing one that the repository's own
// content could have made.
func (l *policyLoader) last(key string) (gitrepo.Setting, bool) {
	all := l.config.All(key)
	for _, s := range all {
		if path, ok := strings.CutPrefix(s.Origin, "file:"); ok && l.inWorktree(path) {
			l.fail(key, "comes from a file inside a worktree, which the repository's content decides")
		}
		if strings.HasPrefix(s.Origin, "blob:") {
			l.fail(key, "comes from an object of the repository")
		}
	}
	if len(all) == 0 {
		return gitrepo.Setting{}, false
	}
	return all[len(all)-1], true
}

func (l *policyLoader) inWorktree(path string) bool {
	if !filepath.IsAbs(path) {
		top := l.repo.WorkTree()
		if top == "" {
			top = l.repo.GitDir()
		}
		path = filepath.Join(top, path)
	}
	return insideWorktree(l.repo, l.worktrees, path)
}

// insideWorktree reports whether a path lies in a worktree, but not in the Git
// directory inside it.
func insideWorktree(repo *gitrepo.Repo, worktrees []string, path string) bool {
	path = realPath(path)
	if within(realPath(repo.CommonDir()), path) || within(realPath(repo.GitDir()), path) {
		return false
	}
	for _, w := range append([]string{repo.WorkTree()}, worktrees...) {
		if w != "" && within(realPath(w), path) {
			return true
		}
	}
	return false
}

// realPath follows symbolic links as far as the path exists.
func realPath(path string) string {
	path = filepath.Clean(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(realPath(dir), filepath.Base(path))
	}
	return path
}

func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func (l *policyLoader) note(key, value, origin string) {
	l.p.settings = append(l.p.settings, EffectiveSetting{key, value, origin})
}

func (l *policyLoader) text(key, fallback string) string {
	s, ok := l.last(key)
	if !ok {
		l.note(key, fallback, "default")
		return fallback
	}
	l.note(key, s.Value, s.Origin)
	return s.Value
}

func (l *policyLoader) list(key string) []string {
	l.last(key)
	all := l.config.All(key)
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
	s, ok := l.last(key)
	if !ok {
		l.note(key, inWords(fallback), "default")
		return fallback
	}
	d, err := parseDuration(s.Value)
	if err != nil {
		l.fail(key, "is no duration such as 24h, 90m or 7d")
	}
	l.note(key, s.Value, s.Origin)
	return d
}

func (l *policyLoader) count(key string, fallback int) int {
	s, ok := l.last(key)
	if !ok {
		l.note(key, strconv.Itoa(fallback), "default")
		return fallback
	}
	n, err := strconv.Atoi(s.Value)
	if err != nil || n < 1 || n > maxReviews {
		l.fail(key, fmt.Sprintf("must be a number from 1 to %d", maxReviews))
	}
	l.note(key, s.Value, s.Origin)
	return n
}

func (l *policyLoader) boolean(key string) bool {
	s, ok := l.last(key)
	if !ok {
		l.note(key, "false", "default")
		return false
	}
	l.note(key, s.Value, s.Origin)
	switch strings.ToLower(s.Value) {
	case "true", "yes", "on", "1":
		return true
	case "false", "no", "off", "0", "":
		return false
	}
	l.fail(key, "must be true or false")
	return false
}

var durationForm = regexp.MustCompile(`^([0-9]{1,6})([smhdw])$`)

// parseDuration reads one number and a unit: 90m, 24h, 7d, 2w.
func parseDuration(s string) (time.Duration, error) {
	m := durationForm.FindStringSubmatch(s)
	if m == nil {
		return 0, fmt.Errorf("no duration")
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n == 0 {
		return 0, fmt.Errorf("no duration")
	}
	unit := map[string]time.Duration{
		"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
	}[m[2]]
	return time.Duration(n) * unit, nil
}

// inWords writes a duration in the form in which it is set.
func inWords(d time.Duration) string {
	switch {
	case d > 48*time.Hour && d%(24*time.Hour) == 0:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return fmt.Sprintf("%ds", d/time.Second)
}

// ExpiryFor is how long a new token is good: what a person asked for, "" for the
// policy's default. Codes: usage.
func (p *Policy) ExpiryFor(asked string) (time.Duration, error) {
	if asked == "" {
		return p.Expiry, nil
	}
	d, err := parseDuration(asked)
	if err != nil {
		return 0, fault.New(fault.Usage, "--expires takes a duration such as 24h, 90m or 7d")
	}
	if d > p.MaxExpiry {
		return 0, fault.New(fault.Usage, "--expires may be %s at most (evolve.maxExpiry)", inWords(p.MaxExpiry)).
			WithHint("ask for less, or have the host raise evolve.maxExpiry")
	}
	return d, nil
}

// maxReason bounds a reason, in bytes.
const maxReason = 500

// CheckReason refuses a reason that a record or a log line cannot hold: more than
// 500 bytes, more than one line, no UTF-8. Codes: usage.
func CheckReason(s string) error {
	switch {
	case len(s) > maxReason:
		return fault.New(fault.Usage, "--reason has %d bytes; at most %d are kept", len(s), maxReason)
	case strings.ToValidUTF8(s, "") != s || strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return fault.New(fault.Usage, "--reason must be one line of plain text")
	}
	return nil
}
