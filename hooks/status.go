package hooks

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/evolve-mcp/evolve/internal/safetext"
	"github.com/evolve-mcp/evolve/review"
)

// Status looks at the hooks of a repository, and says how to mend each thing that
// is wrong. Where nothing is guarded and no hook is installed there is one line:
// promote alone is the gate here. It writes nothing.
func Status(ctx context.Context, s Setup) ([]review.Check, error) {
	dir, chosen, err := s.Repo.HooksDir(ctx)
	if err != nil {
		return nil, err
	}
	if s.Dir != "" {
		dir = s.Dir
	}
	state := map[string]found{}
	any := false
	for _, name := range Names {
		state[name] = look(filepath.Join(dir, name))
		if in := look(filepath.Join(dir, name+".d", "evolve")); in.own && !state[name].own {
			in.executable = in.executable && state[name].executable
			state[name] = in
		}
		any = any || state[name].own
	}
	if !any && len(s.Policy.Guard) == 0 {
		return []review.Check{{ID: "hooks-mode", Status: review.StatusOK, Message: "no hooks are installed: evolve promote is the gate, for those who use it"}}, nil
	}
	out := []review.Check{{ID: "place", Status: review.StatusOK, Message: "Git looks for hooks in " + safetext.Terminal(dir)}, checkMode(state)}
	for _, name := range Names {
		out = append(out, s.checkHook(name, dir, state[name]))
	}
	if chosen.Key != "" && s.Dir == "" {
		out = append(out, s.checkPath(dir, chosen.Scope))
	}
	guards, err := s.checkGuards(ctx)
	if err != nil {
		return nil, err
	}
	out = append(out, guards...)
	options, err := s.checkOptions(ctx)
	if err != nil {
		return nil, err
	}
	return append(out, options, s.checkFolder(), s.checkLeftovers(dir)), nil
}

// checkMode says what holds: all hooks, or pre-receive alone.
func checkMode(state map[string]found) review.Check {
	runs := func(name string) bool { return state[name].own && state[name].executable }
	const id = "hooks-mode"
	switch {
	case runs("pre-receive") && runs("reference-transaction"):
		return review.Check{ID: id, Status: review.StatusOK, Message: "all hooks hold: pushes are judged, and no other move that runs hooks passes without a judgement"}
	case runs("pre-receive"):
		return review.Check{
			ID: id, Status: review.StatusWarning,
			Message: "pre-receive alone holds: pushes are judged; other moves on this machine are detected, not prevented",
			Hint:    "evolve hook install, where the server runs reference-transaction hooks",
		}
	}
	return review.Check{
		ID: id, Status: review.StatusProblem, Message: "nothing holds: no pre-receive hook of evolve's is run",
		Hint: "evolve hook install",
	}
}

func (s Setup) checkHook(name, dir string, f found) review.Check {
	c := review.Check{ID: "hook-" + name, Status: review.StatusOK, Message: within(dir, f.path) + " is in place"}
	program := f.program()
	switch {
	case !f.exists:
		c.Message = "there is no " + name + " hook"
		if name == "pre-receive" {
			c.Status, c.Hint = review.StatusProblem, "evolve hook install"
		}
	case !f.own:
		c.Status, c.Message, c.Hint = review.StatusProblem, within(dir, f.path)+" is another hook, and does not run evolve's", "evolve hook install chains it"
	case !f.executable:
		c.Status, c.Message = review.StatusProblem, within(dir, f.path)+" has no run bit: Git skips it"
		c.Hint = "chmod +x " + safetext.Terminal(quote(f.path))
	case !strings.Contains(f.text, bodyMark+bodyVersion+":"):
		c.Status, c.Message, c.Hint = review.StatusWarning, within(dir, f.path)+" is of another version of evolve", "evolve hook install"
	case program != "" && !runnable(program):
		c.Status, c.Message = review.StatusProblem, within(dir, f.path)+" runs "+safetext.Terminal(program)+", which is not there: every push is refused"
		c.Hint = "install evolve-hook there, or run evolve hook install again"
	case f.chained && strings.Contains(f.text, "before="):
		c.Message += ", and runs " + within(dir, f.path+aside) + " first"
	}
	return c
}

func runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

func (s Setup) checkPath(dir, scope string) review.Check {
	c := review.Check{ID: "hooks-path", Status: review.StatusOK, Message: "core.hooksPath of the " + scope + " configuration sends Git to " + safetext.Terminal(dir)}
	if s.Policy.InWorktree(filepath.Join(dir, Names[0])) {
		c.Status, c.Message, c.Hint = review.StatusProblem, c.Message+", inside a worktree, whose content decides what runs", "git config --unset core.hooksPath"
	}
	return c
}

// checkGuards finds what symbolic-ref, which runs no hook, can do to a guarded
// name.
func (s Setup) checkGuards(ctx context.Context) ([]review.Check, error) {
	if len(s.Policy.Guard) == 0 {
		return []review.Check{{ID: "guard", Status: review.StatusProblem, Message: "evolve.guard names no ref: the hooks guard nothing", Hint: "evolve hook install"}}, nil
	}
	states, err := s.Repo.RefStates(ctx, s.Policy.Guard)
	if err != nil {
		return nil, err
	}
	var out []review.Check
	for _, ref := range s.Policy.Guard {
		c := review.Check{ID: "guard", Status: review.StatusOK, Message: safetext.Terminal(ref) + " is guarded"}
		if target := states[ref].Target; target != ref {
			c.Status = review.StatusProblem
			c.Message = "ref_moved: " + safetext.Terminal(ref) + " is guarded and is a symbolic ref to " + safetext.Terminal(target)
			c.Hint = "git symbolic-ref -d " + review.ShellWord(ref) + ", then git update-ref " + review.ShellWord(ref) + " to the commit of its last audited move"
		}
		out = append(out, c)
	}
	return out, nil
}

func (s Setup) checkOptions(ctx context.Context) (review.Check, error) {
	c := review.Check{ID: "push-options", Status: review.StatusOK, Message: "push options can name tokens"}
	config, err := s.Repo.Config(ctx)
	if err != nil {
		return c, err
	}
	set, ok := config.Last("receive.advertisePushOptions")
	if on := strings.ToLower(set.Value); !ok || on != "true" && on != "yes" && on != "on" && on != "1" {
		c.Message = "push options are off: tokens come with their records or in trailers"
		c.Hint = "git config receive.advertisePushOptions true, for git push -o token=TOKEN"
	}
	return c, nil
}

// checkFolder looks at the place of claims and the audit log: a hook that cannot
// write there refuses every guarded push.
func (s Setup) checkFolder() review.Check {
	dir := filepath.Join(s.Repo.CommonDir(), "evolve")
	c := review.Check{ID: "folder", Status: review.StatusOK, Message: "claims and the audit log are in " + safetext.Terminal(dir)}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		c.Message = "the first push makes " + safetext.Terminal(dir)
	case !info.IsDir():
		c.Status, c.Message, c.Hint = review.StatusProblem, safetext.Terminal(dir)+" is no directory", "move it away"
	case info.Mode().Perm()&0o002 != 0:
		c.Status, c.Message, c.Hint = review.StatusProblem, safetext.Terminal(dir)+" can be written by anyone: anyone could leave a claim", "chmod o-w "+safetext.Terminal(quote(dir))
	}
	return c
}

// stale is how old a file must be to be called left over.
const stale = 24 * time.Hour

// checkLeftovers finds what killed processes left, and hooks that stand aside for
// nobody.
func (s Setup) checkLeftovers(dir string) review.Check {
	var left []string
	for _, name := range Names {
		f := look(filepath.Join(dir, name))
		if f.chained && !f.own {
			left = append(left, f.path+aside)
		}
	}
	common := s.Repo.CommonDir()
	places := []string{filepath.Join(common, "packed-refs.lock"), filepath.Join(common, "HEAD.lock")}
	for _, ref := range s.Policy.Guard {
		places = append(places, filepath.Join(common, filepath.FromSlash(ref)+".lock"))
	}
	incoming, _ := filepath.Glob(filepath.Join(common, "objects", "*incoming-*"))
	for _, path := range append(places, incoming...) {
		if info, err := os.Lstat(path); err == nil && s.Now().Sub(info.ModTime()) > stale {
			left = append(left, path)
		}
	}
	c := review.Check{ID: "leftovers", Status: review.StatusOK, Message: "nothing is left over"}
	if len(left) > 0 {
		c.Status = review.StatusWarning
		c.Message = fmt.Sprintf("%d file(s) or directories are left of processes that were killed, the first %s", len(left), safetext.Terminal(left[0]))
		c.Hint = "if no git runs here, remove them: " + safetext.Terminal(quote(left[0])) + " first; git gc removes old incoming directories"
	}
	return c
}
