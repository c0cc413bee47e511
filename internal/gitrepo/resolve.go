package gitrepo

import (
	"context"
	"slices"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// ResolveCommit resolves a revision to a commit id, once, by Git.
// Codes: revision_unknown (missing, ambiguous, no commit, unborn branch).
func (r *Repo) ResolveCommit(ctx context.Context, rev string) (ID, error) {
	shown := safetext.Terminal(Clip(rev))
	if problem := strangeWord(rev); problem != "" {
		return "", fault.New(fault.RevisionUnknown, "%s is no revision: it %s", shown, problem).
			WithHint("name a branch, a tag or a commit id")
	}
	// HEAD is HEAD, even where a branch is named so as well.
	certain := rev == "HEAD" || rev == "@"
	word := rev
	if strings.Contains(rev, ":") {
		// Behind a colon may stand a path, which would take in what is added.
		out, err := r.verify(ctx, rev)
		if err != nil || ambiguous(out) {
			return "", r.unresolved(ctx, rev, shown, out, err)
		}
		word = strings.TrimSuffix(string(out.stdout), "\n")
		certain = true // Git warns of a branch that is named like this id
	}
	out, err := r.verify(ctx, word+"^{commit}")
	id := strings.TrimSuffix(string(out.stdout), "\n")
	if err == nil && r.isID(id) && (certain || !ambiguous(out)) {
		return ID(id), nil
	}
	return "", r.unresolved(ctx, rev, shown, out, err)
}

func (r *Repo) verify(ctx context.Context, rev string) (output, error) {
	return r.run(ctx, command{args: []string{"rev-parse", "--verify", "--end-of-options", rev}})
}

// ambiguous recognises that Git settled on one of several refs or objects that
// answer to a word; for a decision that is no answer.
func ambiguous(out output) bool { return strings.Contains(string(out.stderr), " is ambiguous") }

// unresolved is why a revision has no commit id.
func (r *Repo) unresolved(ctx context.Context, rev, shown string, out output, err error) error {
	if fault.CodeOf(err) == fault.Interrupted {
		return err
	}
	if ambiguous(out) {
		return fault.New(fault.RevisionUnknown, "%s is ambiguous: more than one branch, tag or commit answers to it", shown).
			WithHint("write it in full: refs/heads/NAME, refs/tags/NAME, or the whole commit id")
	}
	return r.whyNoCommit(ctx, rev, shown)
}

func (r *Repo) whyNoCommit(ctx context.Context, rev, shown string) error {
	if rev == "HEAD" || rev == "@" {
		if target, err := r.ask(ctx, "symbolic-ref", "--quiet", "HEAD"); err == nil {
			return fault.New(fault.RevisionUnknown, "HEAD is on %s, which has no commit yet", safetext.Terminal(target)).
				WithHint("make the first commit, or name another revision")
		}
	}
	if out, err := r.verify(ctx, rev); err == nil && len(out.stdout) > 0 {
		return fault.New(fault.RevisionUnknown, "%s names an object that is no commit, or one that is not here", shown).
			WithHint("name a branch, a tag or a commit id")
	}
	return fault.New(fault.RevisionUnknown, "%s is unknown here", shown).
		WithHint("git branch --all and git log show what there is; git fetch brings what is missing")
}

// strangeWord says what is wrong with a word before Git sees it, "" if nothing.
func strangeWord(s string) string {
	switch {
	case s == "":
		return "is empty"
	case strings.HasPrefix(s, "-"):
		return "begins with a dash"
	case strings.ContainsFunc(s, func(c rune) bool { return c < 0x20 || c == 0x7f }):
		return "holds control characters"
	}
	return ""
}

// Clip keeps what a person typed short in a message.
func Clip(s string) string {
	const longest = 120
	if len(s) <= longest {
		return s
	}
	return strings.ToValidUTF8(s[:longest], "") + "..."
}

// protectedPrefixes are the refs that no promotion touches.
var protectedPrefixes = []string{"refs/evolve/", "refs/replace/"}

// ResolveRefValue resolves what a person wrote after --ref (main, heads/main,
// refs/heads/main) to a full ref name, following symbolic refs to their target, and
// to the value that the ref has, "" if it does not exist. A ref that does not exist
// must be written in full. Codes: ref_invalid, ref_protected.
func (r *Repo) ResolveRefValue(ctx context.Context, name string) (target string, value ID, err error) {
	shown := safetext.Terminal(Clip(name))
	full, short := name, false
	switch {
	case strangeWord(name) != "":
		return "", "", fault.New(fault.RefInvalid, "%s is no ref: it %s", shown, strangeWord(name)).
			WithHint("name a branch, such as --ref main")
	case name == "HEAD" || name == "@":
		branch, err := r.headBranch(ctx)
		if err != nil {
			return "", "", err
		}
		if err := refKind(branch); err != nil {
			return "", "", err
		}
		value, err := r.ReadRef(ctx, branch)
		return branch, value, err
	case strings.HasPrefix(name, "refs/"):
	case strings.HasPrefix(name, "heads/"):
		full = "refs/" + name
	default:
		full, short = "refs/heads/"+name, true
	}
	if !goodRefName(full) {
		return "", "", fault.New(fault.RefInvalid, "%s is no name that Git allows for a ref", shown).
			WithHint("name a branch, such as --ref main")
	}
	states, err := r.RefStates(ctx, []string{full})
	if err != nil {
		return "", "", err
	}
	target = states[full].Target
	if err := refKind(target); err != nil {
		return "", "", err
	}
	if states[full].Value != "" || !short {
		return target, states[full].Value, nil
	}
	return "", "", fault.New(fault.RefInvalid, "there is no branch %s", shown).
		WithHint("to create it, write its name in full: --ref refs/heads/%s", shown)
}

// refKind refuses what is no branch-like ref.
func refKind(full string) error {
	shown := safetext.Terminal(full)
	for _, p := range protectedPrefixes {
		// Without case: some file systems take refs/Evolve/ for refs/evolve/.
		if len(full) >= len(p) && strings.EqualFold(full[:len(p)], p) {
			return fault.New(fault.RefProtected, "%s belongs to Git or evolve and is never promoted to", shown).
				WithHint("name a branch, such as --ref main")
		}
	}
	for _, p := range []string{"refs/tags/", "refs/remotes/", "refs/stash", "refs/bisect/", "refs/worktree/", "refs/notes/"} {
		if strings.HasPrefix(full, p) || !strings.HasPrefix(full, "refs/") {
			return fault.New(fault.RefInvalid, "%s is no branch", shown).WithHint("name a branch, such as --ref main")
		}
	}
	return nil
}

// headBranch is the branch that HEAD is on.
func (r *Repo) headBranch(ctx context.Context) (string, error) {
	target, err := r.ask(ctx, "symbolic-ref", "--quiet", "HEAD")
	if err != nil {
		if fault.CodeOf(err) == fault.Interrupted {
			return "", err
		}
		return "", fault.New(fault.RefInvalid, "HEAD is on no branch").WithHint("name the branch, such as --ref main")
	}
	return target, nil
}

// followSymbolic returns the ref that a symbolic ref stands for.
func (r *Repo) followSymbolic(ctx context.Context, full string) (string, error) {
	const most = 5 // as in Git's own SYMREF_MAXDEPTH
	for range most {
		out, err := r.run(ctx, command{args: []string{"symbolic-ref", "--quiet", "--no-recurse", full}})
		if err != nil {
			if fault.CodeOf(err) == fault.Interrupted {
				return "", err
			}
			if out.status == 129 { // Git before 2.39 has no --no-recurse
				out, err = r.run(ctx, command{args: []string{"symbolic-ref", "--quiet", full}})
			}
			switch {
			case out.status == 1: // it is no symbolic ref
				return full, nil
			case err != nil: // killed, or broken: nothing is known
				return "", r.failed(err, "symbolic-ref")
			}
		}
		full = strings.TrimSuffix(string(out.stdout), "\n")
	}
	return "", fault.New(fault.RefInvalid, "%s is a symbolic ref to a symbolic ref, too deep to follow", safetext.Terminal(full))
}

// ReadRef returns a ref's present value, "" if it does not exist, read in a
// fresh Git process. A ref that is there but broken is an error, not absence.
func (r *Repo) ReadRef(ctx context.Context, ref string) (ID, error) {
	values, err := r.ReadRefs(ctx, ref)
	return values[ref], err
}

// ReadRefs is ReadRef of several refs, in one process.
func (r *Repo) ReadRefs(ctx context.Context, refs ...string) (map[string]ID, error) {
	values := make(map[string]ID, len(refs))
	known, refs := r.early.take(refs)
	for name, ref := range known {
		values[name] = ref.value
	}
	if len(refs) == 0 {
		return values, nil
	}
	// The listing tells a broken ref, of which it warns, from an absent one, in
	// the same process; for the kind it looks whether the object is there.
	out, err := r.run(ctx, command{args: append([]string{"for-each-ref", "--format=%(objecttype) %(objectname) %(refname)"}, refs...)})
	if fault.CodeOf(err) == fault.Interrupted {
		return nil, err
	}
	if err != nil || warnsOf(out.stderr, refs) {
		return nil, fault.New(fault.GitFailed, "%s cannot be read: it is broken, or names an object that is not here", safetext.Terminal(refs[0])).
			WithHint("git fsck names what is broken").WithCause(err)
	}
	for line := range strings.Lines(string(out.stdout)) {
		if f := strings.Fields(line); len(f) == 3 && slices.Contains(refs, f[2]) && r.isID(f[1]) {
			values[f[2]] = ID(f[1])
		}
	}
	return values, nil
}

// warnsOf reports whether a listing of refs warned of anything but other refs.
// A symbolic ref to a ref that does not exist counts as absent.
func warnsOf(stderr []byte, refs []string) bool {
	for line := range strings.Lines(string(stderr)) {
		line = strings.TrimSuffix(line, "\n")
		broken, isBroken := strings.CutPrefix(line, "warning: ignoring broken ref ")
		if isBroken && slices.Contains(refs, broken) || !isBroken && !strings.HasPrefix(line, "warning: ignoring dangling symref ") {
			return true
		}
	}
	return false
}

// RefInfo is one ref and its value.
type RefInfo struct {
	Name string
	ID   ID
}

// Refs lists the refs under a prefix that ends in a slash, sorted by name.
func (r *Repo) Refs(ctx context.Context, prefix string) ([]RefInfo, error) {
	out, err := r.ask(ctx, "for-each-ref", "--format=%(objectname) %(refname)", prefix)
	if err != nil {
		return nil, err
	}
	var refs []RefInfo
	for line := range strings.Lines(out) {
		id, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if ok && r.isID(id) {
			refs = append(refs, RefInfo{Name: name, ID: ID(id)})
		}
	}
	return refs, nil
}

// Upstream returns the full name of ref's upstream, "" if none is configured or
// the configured one does not exist.
func (r *Repo) Upstream(ctx context.Context, ref string) (string, error) {
	out, err := r.ask(ctx, "for-each-ref", "--format=%(refname) %(upstream)", ref)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		name, upstream, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if name != ref || upstream == "" {
			continue
		}
		value, err := r.ReadRef(ctx, upstream)
		if err != nil || value == "" {
			return "", err
		}
		return upstream, nil
	}
	return "", nil
}
