package hooks

import (
	"context"
	"strings"

	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
	"github.com/evolve-mcp/evolve/promote"
	"github.com/evolve-mcp/evolve/review"
)

// hook is one run of a hook in an open repository.
type hook struct {
	in     Input
	repo   *gitrepo.Repo
	policy *review.Policy
	gate   *promote.Gate
}

// inRepo opens the repository as a hook does, configuration from the environment
// left out, and does what the hook is for. A repository that guards nothing is
// one of many that a shared hooks directory serves: there is nothing to do. objects
// says that it will read some, refs are those whose present values it will ask for
// first.
func inRepo(ctx context.Context, in Input, objects bool, refs []string, do func(*hook) error) (err error) {
	if len(refs) > mostAsked {
		refs = nil
	}
	repo, err := gitrepo.Open(ctx, gitrepo.Options{
		Dir: in.Dir, Env: in.Env, Hook: true, Namespace: inNamespace(getenv(in.Env, "GIT_NAMESPACE"), ""), Early: true, EarlyObjects: objects, EarlyRefs: refs,
	})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := repo.Close(); err == nil {
			err = cerr
		}
	}()
	policy, err := review.LoadPolicy(ctx, repo)
	if err != nil || len(policy.Guard) == 0 {
		return err
	}
	h := &hook{in: in, repo: repo, policy: policy}
	h.gate = &promote.Gate{Repo: repo, Policy: policy, Now: in.Now}
	return do(h)
}

// mostAsked is how many refs are asked for before all else: a push of more names
// is slow for other reasons.
const mostAsked = 64

// guarded reports whether a ref is one that the hooks protect, in a namespace or
// outside. Letter case does not count, since on some file systems refs/heads/Main
// is refs/heads/main.
func (h *hook) guarded(ref string) bool {
	ref = bareName(ref)
	for _, name := range h.policy.Guard {
		if strings.EqualFold(name, ref) {
			return true
		}
	}
	return false
}

// namespaces is where Git keeps the refs of namespaces (gitnamespaces(7)).
const namespaces = "refs/namespaces/"

// bareName takes the namespaces off a ref: refs/namespaces/a/refs/heads/main is
// judged as refs/heads/main.
func bareName(ref string) string {
	for strings.HasPrefix(ref, namespaces) {
		_, rest, ok := strings.Cut(strings.TrimPrefix(ref, namespaces), "/")
		if !ok || !strings.HasPrefix(rest, "refs/") {
			return ref
		}
		ref = rest
	}
	return ref
}

// inNamespace is the full name of a ref that receive-pack names without the
// namespace it serves: each part of GIT_NAMESPACE is one level.
func inNamespace(namespace, ref string) string {
	prefix := ""
	for part := range strings.SplitSeq(namespace, "/") {
		if part != "" {
			prefix += namespaces + part + "/"
		}
	}
	return prefix + ref
}

// The refs that belong to evolve and to Git's object replacement.
const (
	evolvePrefix  = "refs/evolve/"
	replacePrefix = "refs/replace/"
)

// hasPrefix is strings.HasPrefix without letter case.
func hasPrefix(ref, prefix string) bool {
	return len(ref) >= len(prefix) && strings.EqualFold(ref[:len(prefix)], prefix)
}

// shown is a ref's name for a message: escaped, and cut where it is long.
func shown(ref string) string {
	const longest = 120
	if len(ref) > longest {
		ref = ref[:longest] + "..."
	}
	return safetext.Terminal(ref)
}

func getenv(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}
