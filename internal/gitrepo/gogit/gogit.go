// Package gogit reads a repository where there is no git program, through the
// library of that name. The program of the hooks does not link it: Git runs them.
package gogit

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// Repo reads a repository where there is no git program. It writes nothing,
// resolves whole ids and full ref names only, and refuses, before it reads
// anything, each kind of repository that go-git is known to misread
// (gogit_kinds.go). Trees are parsed and bytes are hashed by the same code as
// with Git, so both readers see the same surfaces. It is safe for use by several
// goroutines.
type Repo struct {
	place   place
	config  *gitrepo.Config
	files   *filesystem.Storage
	objects *objects
	store   *gitrepo.Store
}

// Open discovers the repository at o.Dir as Git does.
// Codes: repository_unreadable, unsupported, config_invalid.
func Open(o gitrepo.Options) (*Repo, error) {
	at, err := locate(o)
	if err != nil {
		return nil, err
	}
	config, err := readConfigFiles(at, o.Env)
	if err != nil {
		return nil, err
	}
	if err := at.settle(config, o); err != nil {
		return nil, err
	}
	if err := checkKind(at, config, o); err != nil {
		return nil, err
	}
	g := &Repo{place: at, config: config}
	g.files = filesystem.NewStorageWithOptions(at.files(), cache.NewObjectLRU(cacheBytes), filesystem.Options{
		LargeObjectThreshold: largeBytes,
	})
	g.objects = &objects{files: g.files, dir: filepath.Join(at.commonDir, "objects")}
	g.store = gitrepo.NewStore(g.objects, sha1Digits)
	return g, nil
}

const (
	sha1Digits = 40
	// cacheBytes bounds the cache of objects, which deltas are resolved from.
	cacheBytes = 32 * cache.MiByte
	// largeBytes is the size in bytes above which go-git streams an object
	// instead of holding it: more than any object that is read.
	largeBytes = 300 << 20
)

// files is the Git directory as go-git sees it: of a linked worktree, the shared
// one behind its own.
func (p place) files() *dotgit.RepositoryFilesystem {
	own := osfs.New(p.gitDir, osfs.WithBoundOS())
	if p.commonDir == p.gitDir {
		return dotgit.NewRepositoryFilesystem(own, nil)
	}
	return dotgit.NewRepositoryFilesystem(own, osfs.New(p.commonDir, osfs.WithBoundOS()))
}

// Close lets go of the files.
func (g *Repo) Close() error {
	if err := g.files.Close(); err != nil {
		return fault.New(fault.IOFailed, "the repository could not be closed").WithCause(err)
	}
	return nil
}

// GitDir is the absolute path of the Git directory of this worktree.
func (g *Repo) GitDir() string { return g.place.gitDir }

// CommonDir is the absolute path of the Git directory shared by all worktrees.
func (g *Repo) CommonDir() string { return g.place.commonDir }

// WorkTree is the absolute path of the worktree, "" in a bare repository.
func (g *Repo) WorkTree() string { return g.place.workTree }

// Config returns the settings of the configuration files.
func (g *Repo) Config(context.Context) (*gitrepo.Config, error) { return g.config, nil }

// Worktrees lists the absolute paths of all worktrees.
func (g *Repo) Worktrees(context.Context) ([]string, error) { return g.place.worktrees(), nil }

// Tree returns the tree of a commit as decl reads it.
func (g *Repo) Tree(ctx context.Context, commit gitrepo.ID) (decl.Tree, error) {
	return g.store.Tree(ctx, commit)
}

// WorkingTree returns the worktree's bytes on disk. Codes: repository_unreadable
// in a bare repository.
func (g *Repo) WorkingTree() (decl.Tree, error) { return gitrepo.WorkingTreeAt(g.place.workTree) }

// MergeBase is Git's to find. Codes: unsupported.
func (g *Repo) MergeBase(context.Context, gitrepo.ID, gitrepo.ID) (gitrepo.ID, error) {
	return "", fault.New(fault.Unsupported, "without a git program, merge bases are not searched for").
		WithHint("install Git 2.38 or newer, or name the base: evolve diff BASE HEAD")
}

// ResolveCommit resolves a whole commit id, a full ref name, or HEAD to a commit
// id, through tags. go-git's own resolving of anything shorter differs from
// Git's without a word. Codes: revision_unknown.
func (g *Repo) ResolveCommit(ctx context.Context, rev string) (gitrepo.ID, error) {
	shown := safetext.Terminal(gitrepo.Clip(rev))
	switch {
	case gitrepo.IsID(rev, sha1Digits):
		return g.peel(ctx, gitrepo.ID(rev), shown)
	case rev == "HEAD", strings.HasPrefix(rev, "refs/") && plumbing.ReferenceName(rev).Validate() == nil:
		id, err := g.ref(rev, shown)
		if err != nil {
			return "", err
		}
		return g.peel(ctx, id, shown)
	}
	return "", fault.New(fault.RevisionUnknown, "%s is no whole commit id and no full name of a ref", shown).
		WithHint("without a git program, write refs/heads/NAME or the 40 digits of the commit")
}

// ref reads a ref, through symbolic ones, from its own file or packed-refs.
func (g *Repo) ref(name, shown string) (gitrepo.ID, error) {
	const most = 5 // as in Git's own SYMREF_MAXDEPTH
	at := plumbing.ReferenceName(name)
	for range most {
		for _, own := range []string{"refs/bisect/", "refs/rewritten/", "refs/worktree/"} {
			if strings.HasPrefix(string(at), own) {
				return "", fault.New(fault.Unsupported, "%s belongs to one worktree and is not read without a git program", shown)
			}
		}
		ref, err := g.files.Reference(at)
		if err != nil {
			return "", fault.New(fault.RevisionUnknown, "%s is unknown here", shown).
				WithHint("the files under %s and packed-refs in it show what there is", safetext.Terminal(filepath.Join(g.place.commonDir, "refs"))).
				WithCause(err)
		}
		if ref.Type() == plumbing.SymbolicReference {
			at = ref.Target()
			continue
		}
		if id := ref.Hash().String(); gitrepo.IsID(id, sha1Digits) {
			return gitrepo.ID(id), nil
		}
		break
	}
	return "", fault.New(fault.RevisionUnknown, "%s is a broken ref, or a symbolic one too deep to follow", shown)
}

// peel follows annotated tags to a commit.
func (g *Repo) peel(ctx context.Context, id gitrepo.ID, shown string) (gitrepo.ID, error) {
	const most = 16 // tags of tags
	for range most {
		kind, err := g.objects.kind(ctx, id)
		if err != nil {
			return "", err
		}
		switch kind {
		case "commit":
			return id, nil
		case "tag":
			data, err := g.objects.Read(ctx, id, "tag", gitrepo.MaxCommitBytes)
			if err != nil {
				return "", err
			}
			first, _, _ := strings.Cut(string(data), "\n")
			target, ok := strings.CutPrefix(first, "object ")
			if !ok || !gitrepo.IsID(target, sha1Digits) {
				return "", fault.New(fault.RevisionUnknown, "%s is a broken tag", shown)
			}
			id = gitrepo.ID(target)
		default:
			return "", fault.New(fault.RevisionUnknown, "%s names an object that is no commit", shown).
				WithHint("name a branch, a tag or a commit id")
		}
	}
	return "", fault.New(fault.RevisionUnknown, "%s is a tag of a tag, too deep to follow", shown)
}
