package gogit

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	format "github.com/go-git/go-git/v5/plumbing/format/config"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// readConfigFiles reads the files that git-config(1) names, in their order. One
// that includes another is refused: which file that is, is Git's to decide.
// Codes: config_invalid, unsupported.
func readConfigFiles(at place, env []string) (*gitrepo.Config, error) {
	c := &gitrepo.Config{}
	for _, f := range configFiles(at, env) {
		if err := addFile(c, f.scope, f.path); err != nil {
			return nil, err
		}
	}
	if on, ok := c.Last("extensions.worktreeConfig"); ok && isTrue(on.Value) {
		if err := addFile(c, "worktree", filepath.Join(at.gitDir, "config.worktree")); err != nil {
			return nil, err
		}
	}
	return c, nil
}

type configFile struct{ scope, path string }

func configFiles(at place, env []string) []configFile {
	var files []configFile
	if off, _ := gitrepo.Lookup(env, "GIT_CONFIG_NOSYSTEM"); !isTrue(off) {
		system, given := gitrepo.Lookup(env, "GIT_CONFIG_SYSTEM")
		if !given {
			system = "/etc/gitconfig"
		}
		files = append(files, configFile{"system", system})
	}
	if global, given := gitrepo.Lookup(env, "GIT_CONFIG_GLOBAL"); given {
		files = append(files, configFile{"global", global})
	} else {
		home, _ := gitrepo.Lookup(env, "HOME")
		xdg, _ := gitrepo.Lookup(env, "XDG_CONFIG_HOME")
		if xdg == "" && home != "" {
			xdg = filepath.Join(home, ".config")
		}
		if xdg != "" {
			files = append(files, configFile{"global", filepath.Join(xdg, "git", "config")})
		}
		if home != "" {
			files = append(files, configFile{"global", filepath.Join(home, ".gitconfig")})
		}
	}
	return append(files, configFile{"local", filepath.Join(at.commonDir, "config")})
}

// addFile adds the settings of one file, if it is there.
func addFile(c *gitrepo.Config, scope, path string) error {
	if path == "" {
		return nil
	}
	data, err := gitrepo.ReadSmall(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	shown := safetext.Terminal(path)
	if err != nil {
		return fault.New(fault.ConfigInvalid, "the configuration file %s cannot be read", shown).WithCause(err)
	}
	parsed, err := decodeConfig(data)
	if err != nil {
		return fault.New(fault.ConfigInvalid, "the configuration file %s is broken, or written in a way that only Git reads", shown).
			WithHint("mend it, or install Git 2.38 or newer").WithCause(err)
	}
	for _, section := range parsed.Sections {
		name := strings.ToLower(section.Name)
		if name == "include" || name == "includeif" {
			return fault.New(fault.Unsupported, "the configuration file %s includes other files, which only Git reads", shown).
				WithHint("install Git 2.38 or newer")
		}
		addOptions(c, scope, path, name, section.Options)
		for _, sub := range section.Subsections {
			addOptions(c, scope, path, name+"."+sub.Name, sub.Options)
		}
	}
	return nil
}

func addOptions(c *gitrepo.Config, scope, path, prefix string, options format.Options) {
	for _, o := range options {
		c.Add(gitrepo.Setting{
			Key: prefix + "." + strings.ToLower(o.Key), Value: o.Value, Scope: scope, Origin: "file:" + path,
		})
	}
}

// decodeConfig keeps a panic over a strange file from ending the program.
func decodeConfig(data []byte) (parsed *format.Config, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the decoder stopped")
		}
	}()
	parsed = format.New()
	return parsed, format.NewDecoder(bytes.NewReader(data)).Decode(parsed)
}

// isTrue reads a boolean where only a clear yes counts.
func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}
