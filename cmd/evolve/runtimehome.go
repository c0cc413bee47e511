package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// fromDir is a path as -C makes it: relative to that directory.
func fromDir(c *cli.Context, path string) string {
	if dir := c.String("C"); dir != "" && path != "" && !filepath.IsAbs(path) {
		return filepath.Join(dir, path)
	}
	return path
}

// runtimeHome is where homes of servers, their logs and the host's configuration
// are. It is made if it is not there.
func (s *session) runtimeHome(c *cli.Context) (string, error) {
	home := fromDir(c, c.String("home"))
	if home == "" {
		user := s.getenv("HOME")
		if user == "" {
			user = s.getenv("USERPROFILE")
		}
		if user == "" {
			return "", fault.New(fault.ConfigInvalid, "there is no home directory for the runtime").WithHint("name one: --home DIR")
		}
		home = filepath.Join(user, ".demiurge")
	}
	home, err := filepath.Abs(home)
	if err != nil {
		return "", fault.New(fault.ConfigInvalid, "the runtime home is no path").WithHint("name another: --home DIR").WithCause(err)
	}
	// The directory of the log too: a home that cannot be written is told now, and
	// not once for each server.
	for _, dir := range []string{home, filepath.Join(home, "logs"), filepath.Join(home, "mcp", "homes")} {
		if err := writableDir(dir); err != nil {
			return "", fault.New(fault.IOFailed, "the runtime home %s cannot be written", safetext.Terminal(home)).
				WithHint("give this user write permission to it, or name another: --home DIR").WithCause(err)
		}
	}
	return home, nil
}

// writableDir makes a private directory if it is not there, and a file in it,
// which it removes.
func writableDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".evolve-*")
	if err != nil {
		return err
	}
	_ = f.Close()
	return os.Remove(f.Name())
}

// hostConfig reads evolve.yaml in the runtime home. None is no error.
func (s *session) hostConfig(home string) (decl.HostConfig, error) {
	path := filepath.Join(home, "evolve.yaml")
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return decl.HostConfig{}, nil
	}
	data, err := s.policy.HostFile(path, "the host's configuration of the runtime")
	if err != nil {
		return decl.HostConfig{}, err
	}
	config, problems := decl.ParseHostConfig(path, data)
	if len(problems) > 0 {
		return config, fault.New(fault.ConfigInvalid, "%s (%d in all)", problems[0], len(problems)).
			WithHint("docs/runtime.md describes the host's configuration")
	}
	return config, nil
}

// workspaceFlag is --workspace, absolute; it must be a directory.
func (s *session) workspaceFlag(c *cli.Context) (string, error) {
	given := c.String("workspace")
	dir, err := filepath.Abs(fromDir(c, given))
	if err == nil && given != "" {
		var info fs.FileInfo
		if info, err = os.Stat(dir); err == nil && info.IsDir() {
			return dir, nil
		}
	}
	return "", fault.New(fault.IOFailed, "--workspace %s is no directory", safetext.Terminal(given)).
		WithHint("name a checkout of the core with what its servers need, or leave it out").WithCause(err)
}
