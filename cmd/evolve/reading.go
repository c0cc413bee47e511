package main

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gogit"
	"github.com/evolve-mcp/evolve/internal/redact"
	"github.com/evolve-mcp/evolve/review"
	"github.com/evolve-mcp/evolve/securitydiff"
)

// source is what diff and lint need of a repository. Git reads it; where there
// is no git program, go-git does.
type source interface {
	review.Host
	ResolveCommit(ctx context.Context, rev string) (gitrepo.ID, error)
	MergeBase(ctx context.Context, a, b gitrepo.ID) (gitrepo.ID, error)
	Tree(ctx context.Context, commit gitrepo.ID) (decl.Tree, error)
	WorkingTree() (decl.Tree, error)
	Close() error
}

// reading is one open repository that is only read.
type reading struct {
	*program
	repo        source
	policy      *review.Policy
	fingerprint redact.Fingerprinter
}

// onReading opens the repository that -C names, with or without a git program,
// runs one command on it, and closes it.
func (p *program) onReading(c *cli.Context, do func(*reading) error) (err error) {
	if err := p.common(c); err != nil {
		return err
	}
	repo, err := p.openSource(gitrepo.Options{Dir: c.String("C"), Env: p.env})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := repo.Close(); err == nil {
			err = cerr
		}
	}()
	policy, err := review.LoadPolicy(p.ctx, repo)
	if err != nil {
		return err
	}
	return do(&reading{program: p, repo: repo, policy: policy, fingerprint: review.Fingerprinter(repo.CommonDir())})
}

func (p *program) openSource(o gitrepo.Options) (source, error) {
	repo, err := gitrepo.Open(p.ctx, o)
	if !errors.Is(err, gitrepo.ErrNoGit) {
		if err != nil {
			return nil, err // a nil *Repo in the interface would not be nil
		}
		return repo, nil
	}
	plain, err := gogit.Open(o)
	if err != nil {
		return nil, err
	}
	p.note("There is no git program in PATH: reading without it, from whole ids and full ref names.")
	return plain, nil
}

// surface reads a commit, or for "" the bytes on disk.
func (r *reading) surface(commit gitrepo.ID) (*decl.Surface, error) {
	var tree decl.Tree
	var err error
	if commit == "" {
		tree, err = r.repo.WorkingTree()
	} else {
		tree, err = r.repo.Tree(r.ctx, commit)
	}
	if err != nil {
		return nil, err
	}
	return decl.LoadSurface(r.ctx, tree, decl.Options{CorePatterns: r.policy.CorePatterns})
}

func (r *reading) options(head gitrepo.ID) securitydiff.Options {
	name := string(head)
	if head == "" {
		name = "worktree"
	}
	return securitydiff.Options{HeadName: name, Fingerprinter: r.fingerprint, KnownValues: r.policy.KnownValues}
}
