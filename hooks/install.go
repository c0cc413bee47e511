package hooks

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
	"github.com/evolve-mcp/evolve/review"
)

// Setup is what install, uninstall and status work on.
type Setup struct {
	Repo   *gitrepo.Repo
	Policy *review.Policy
	// Program is the command that the hooks run: the absolute path of evolve-hook,
	// or that of evolve and the word hook.
	Program []string
	// Dir is where the hooks go instead of where Git looks in this repository: a
	// place that serves many. It must be absolute; "" is Git's own choice.
	Dir string
	// PreReceiveOnly leaves reference-transaction out, for servers that run no such
	// hook.
	PreReceiveOnly bool
	// DryRun says what would be done, and does nothing.
	DryRun bool
	// Now is the host's clock. Status needs it.
	Now func() time.Time
}

// names are the hooks that a setup installs.
func (s Setup) names() []string {
	if s.PreReceiveOnly {
		return []string{"pre-receive", "post-receive"}
	}
	return Names[:]
}

// Install writes the hooks and the guard, and returns what it did, one check a
// thing. It can be run again: what is right already stays as it is, bodies of an
// older evolve are replaced. Codes: config_invalid, io_failed, unsupported.
func Install(ctx context.Context, s Setup) ([]review.Check, error) {
	if s.Policy.Repository == "" {
		return nil, fault.New(fault.ConfigInvalid, "evolve.repository is not set: tokens must name the repository that they are for").
			WithHint("git config evolve.repository example.org/team/agent")
	}
	for _, word := range s.Program {
		if strings.ContainsAny(word, "\n\x00") {
			return nil, fault.New(fault.Unsupported, "the path of this program holds a line break, which no hook can name")
		}
	}
	dir, err := s.place(ctx)
	if err != nil {
		return nil, err
	}
	guard, err := s.guard(ctx)
	if err != nil {
		return nil, err
	}
	if !s.DryRun {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, cannotWrite(dir, err)
		}
	}
	did := []review.Check{{ID: "place", Status: review.StatusOK, Message: "hooks are in " + safetext.Terminal(dir)}}
	for _, name := range s.names() {
		check, err := s.install(dir, name)
		if err != nil {
			return did, err
		}
		did = append(did, check)
	}
	return append(did, guard...), nil
}

// place is the directory of the hooks. One that the user's or the system's
// configuration names serves other repositories too, and one inside a worktree is
// the repository's content; neither is written to unasked.
func (s Setup) place(ctx context.Context) (string, error) {
	if s.Dir != "" {
		if !filepath.IsAbs(s.Dir) || strings.Contains(s.Dir, "\n") {
			return "", fault.New(fault.Usage, "--hooks-dir takes an absolute path")
		}
		if s.Policy.InWorktree(filepath.Join(s.Dir, Names[0])) {
			return "", inWorktree(s.Dir)
		}
		return s.Dir, nil
	}
	dir, chosen, err := s.Repo.HooksDir(ctx)
	switch {
	case err != nil:
		return "", err
	case chosen.Key != "" && chosen.Scope != "local" && chosen.Scope != "worktree":
		return "", fault.New(fault.ConfigInvalid, "core.hooksPath of the %s configuration sends Git to %s for hooks, for other repositories too",
			scopeName(chosen.Scope), safetext.Terminal(dir)).
			WithHint("evolve hook install --hooks-dir %s; or give this repository its own: git config core.hooksPath %s",
				safetext.Terminal(quote(dir)), safetext.Terminal(quote(filepath.Join(s.Repo.CommonDir(), "hooks"))))
	case s.Policy.InWorktree(filepath.Join(dir, Names[0])):
		return "", inWorktree(dir)
	}
	return dir, nil
}

func inWorktree(dir string) error {
	return fault.New(fault.ConfigInvalid, "the hooks' directory %s lies inside a worktree, where the repository's content decides what runs", safetext.Terminal(dir)).
		WithHint("git config --unset core.hooksPath, or name a directory outside: evolve hook install --hooks-dir DIR")
}

func scopeName(scope string) string {
	switch scope {
	case "global":
		return "user's"
	case "system":
		return "system's"
	}
	return "command's"
}

// install puts one hook in its place.
func (s Setup) install(dir, name string) (review.Check, error) {
	at := s.spot(dir, name)
	f := look(at)
	check := review.Check{ID: "hook", Status: review.StatusOK}
	shownPath := within(dir, at)
	text := body(name, s.Program)
	chain := f.exists && !f.own && f.executable || f.own && f.chained && look(at+aside).executable
	if chain {
		text = chainedBody(dir, name, s.Program)
	}
	switch {
	case f.own && f.text == text && f.executable:
		check.Message = shownPath + " is in place"
		return check, nil
	case f.exists && !f.own && f.chained:
		return check, fault.New(fault.IOFailed, "%s is not evolve's, and %s%s from an earlier installation is there too", shownPath, shownPath, aside).
			WithHint("keep the one that should run before evolve's, and move the other away")
	case f.own:
		check.Message = would(s.DryRun, "replace", "replaced") + " an older evolve's hook " + shownPath
	case f.exists && f.executable:
		check.Message = would(s.DryRun, "chain", "chained") + " the hook " + shownPath + ": it runs before evolve's, from " + shownPath + aside
	case f.exists:
		check.Message = would(s.DryRun, "move", "moved") + " the hook " + shownPath + ", which has no run bit, to " + shownPath + aside
	default:
		check.Message = would(s.DryRun, "write", "wrote") + " the hook " + shownPath
	}
	if s.DryRun {
		return check, nil
	}
	return check, put(at, text, f.exists && !f.own)
}

// spot is the path of a hook. Where a server's own hook runs all that is in a
// directory beside it (Gitea, Forgejo, GitLab), ours goes there: the server
// rewrites its own.
func (s Setup) spot(dir, name string) string {
	at := filepath.Join(dir, name)
	if info, err := os.Stat(at + ".d"); err == nil && info.IsDir() && !look(at).own {
		return filepath.Join(at+".d", "evolve")
	}
	return at
}

// put writes a hook so that at every moment one stands there: the one before or
// ours.
func put(at, text string, keep bool) error {
	if keep {
		if err := os.Link(at, at+aside); err != nil {
			return cannotWrite(filepath.Dir(at), err)
		}
	}
	tmp, err := os.CreateTemp(filepath.Dir(at), ".evolve-hook-*")
	if err != nil {
		return cannotWrite(filepath.Dir(at), err)
	}
	_, err = tmp.WriteString(text)
	if err == nil {
		err = tmp.Chmod(0o755)
	}
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), at)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return cannotWrite(filepath.Dir(at), err)
	}
	return nil
}

func cannotWrite(dir string, cause error) error {
	return fault.New(fault.IOFailed, "the hooks' directory %s cannot be written", safetext.Terminal(dir)).
		WithHint("run it as the owner of the repository, or check the directory's permissions").WithCause(cause)
}

// within is a hook's name in its directory, for a message.
func within(dir, at string) string {
	rel, err := filepath.Rel(dir, at)
	if err != nil {
		rel = at
	}
	return safetext.Terminal(rel)
}

func would(dry bool, will, did string) string {
	if dry {
		return "would " + will
	}
	return did
}

// guard writes evolve.guard, once: the branch that HEAD is on now, and live.
func (s Setup) guard(ctx context.Context) ([]review.Check, error) {
	if len(s.Policy.Guard) > 0 {
		return []review.Check{{ID: "guard", Status: review.StatusOK, Message: "guards " + safetext.Terminal(strings.Join(s.Policy.Guard, ", "))}}, nil
	}
	branch, err := s.Repo.HeadBranch(ctx)
	if err != nil {
		return nil, err
	}
	refs := []string{"refs/heads/live"}
	if branch != "" && !slices.Contains(refs, branch) {
		refs = append([]string{branch}, refs...)
	}
	for _, ref := range refs {
		if s.DryRun {
			break
		}
		if err := s.Repo.AddConfig(ctx, "evolve.guard", ref); err != nil {
			return nil, err
		}
	}
	return []review.Check{{
		ID: "guard", Status: review.StatusOK,
		Message: would(s.DryRun, "guard", "guards") + " " + safetext.Terminal(strings.Join(refs, ", ")) + " (evolve.guard)",
	}}, nil
}

// Uninstall takes evolve's hooks away and puts back what was there before. Other
// hooks, and the settings, stay. Codes: io_failed.
func Uninstall(ctx context.Context, s Setup) ([]review.Check, error) {
	dir := s.Dir
	if dir == "" {
		var err error
		if dir, _, err = s.Repo.HooksDir(ctx); err != nil {
			return nil, err
		}
	}
	did := []review.Check{{ID: "place", Status: review.StatusOK, Message: "hooks are in " + safetext.Terminal(dir)}}
	for _, name := range Names {
		for _, at := range []string{filepath.Join(dir, name), filepath.Join(dir, name+".d", "evolve")} {
			f := look(at)
			if !f.own {
				continue
			}
			check := review.Check{ID: "hook", Status: review.StatusOK, Message: would(s.DryRun, "remove", "removed") + " the hook " + within(dir, at)}
			if f.chained {
				check.Message = would(s.DryRun, "put", "put") + " the hook from before back at " + within(dir, at)
			}
			if !s.DryRun {
				if err := remove(at, f.chained); err != nil {
					return did, cannotWrite(dir, err)
				}
			}
			did = append(did, check)
		}
	}
	if len(did) == 1 {
		did = append(did, review.Check{ID: "hook", Status: review.StatusOK, Message: "no hook of evolve's is there"})
	}
	if len(s.Policy.Guard) > 0 {
		did = append(did, review.Check{
			ID: "guard", Status: review.StatusOK, Message: "evolve.guard stays as it is, for the next installation",
			Hint: "git config --unset-all evolve.guard",
		})
	}
	return did, nil
}

func remove(at string, chained bool) error {
	if chained {
		return os.Rename(at+aside, at)
	}
	if err := os.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
