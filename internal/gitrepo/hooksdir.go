package gitrepo

import (
	"context"
	"path/filepath"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// HooksDir is the absolute path of the directory whose hooks Git runs here, and
// the setting that chose it; Setting.Key is "" for Git's own place.
func (r *Repo) HooksDir(ctx context.Context) (string, Setting, error) {
	config, err := r.Config(ctx)
	if err != nil {
		return "", Setting{}, err
	}
	chosen, ok := config.Last("core.hooksPath")
	if !ok {
		return filepath.Join(r.commonDir, "hooks"), Setting{}, nil
	}
	dir, err := r.ask(ctx, "rev-parse", "--path-format=absolute", "--git-path", "hooks")
	if err != nil {
		return "", chosen, err
	}
	return filepath.FromSlash(dir), chosen, nil
}

// AddConfig adds a value to a setting of this repository's own configuration.
// Codes: io_failed.
func (r *Repo) AddConfig(ctx context.Context, key, value string) error {
	if _, err := r.run(ctx, command{args: []string{"config", "--local", "--add", key, value}}); err != nil {
		if fault.CodeOf(err) == fault.Interrupted {
			return err
		}
		return fault.New(fault.IOFailed, "the repository's configuration cannot be written").
			WithHint("check the permissions of the file config in the Git directory").WithCause(err)
	}
	return nil
}

// HeadBranch is the full name of the branch that HEAD is on, "" if it is on none.
func (r *Repo) HeadBranch(ctx context.Context) (string, error) {
	branch, err := r.headBranch(ctx)
	if fault.CodeOf(err) == fault.RefInvalid {
		return "", nil
	}
	return branch, err
}
