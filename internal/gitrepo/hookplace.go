package gitrepo

import (
	"os"
	"path/filepath"
	"strings"
)

// discoverHook finds the repository of a hook that Git runs in the Git directory
// itself, as it runs those of a push (githooks(5)), without one more git process:
// GIT_DIR names that directory, and the configuration, which is read anyway, says
// the rest (gitrepository-layout(5), "config" and "commondir"). It reports false
// where that may not be all: then Git is asked.
func (r *Repo) discoverHook() bool {
	named, ok := Lookup(r.readEnv, "GIT_DIR")
	if !ok || r.early == nil {
		return false
	}
	here, err := filepath.Abs(r.dir)
	if err != nil {
		return false
	}
	if !filepath.IsAbs(named) {
		named = filepath.Join(here, named)
	}
	real, err := filepath.EvalSymlinks(named)
	if err != nil || !sameDirectory(real, here) || !bareLayout(real) {
		return false
	}
	<-r.early.read
	if r.early.err != nil || !r.early.result.plainRepository() {
		return false
	}
	r.gitDir, r.commonDir = real, real
	r.format = "sha1"
	if s, ok := r.early.result.lastLocal("extensions.objectformat"); ok {
		r.format = s.Value
	}
	bare, _ := r.early.result.lastLocal("core.bare")
	r.bare = bare.Value == "true"
	return true
}

func sameDirectory(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// bareLayout reports whether a directory has what a Git directory has, all of it
// its own.
func bareLayout(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.IsDir() != (name != "HEAD") {
			return false
		}
	}
	_, err := os.Lstat(filepath.Join(dir, "commondir"))
	return os.IsNotExist(err)
}

// plainRepository reports whether the repository's own settings hold nothing that
// changes where it is or how it is read, besides the format of ids, and each in a
// form that has one meaning.
func (c *Config) plainRepository() bool {
	version, read := c.lastLocal("core.repositoryformatversion")
	if !read {
		return false // as where Git does not take the directory for a repository
	}
	for _, s := range c.settings {
		if s.Scope != "local" {
			continue
		}
		section, _, _ := strings.Cut(s.Key, ".")
		switch {
		case s.Key == "core.worktree", section == "include", section == "includeif":
			return false
		case s.Key == "core.bare" && s.Value != "true" && s.Value != "false":
			return false
		case s.Key == "extensions.objectformat":
			if version.Value != "1" || s.Value != "sha1" && s.Value != "sha256" {
				return false
			}
		case s.Key == "extensions.refstorage": // where refs are is Git's business alone
			if version.Value != "1" {
				return false
			}
		case section == "extensions":
			return false
		}
	}
	return version.Value == "0" || version.Value == "1"
}

// lastLocal is the last value of a key in the repository's own settings.
func (c *Config) lastLocal(key string) (Setting, bool) {
	for i := len(c.settings) - 1; i >= 0; i-- {
		if s := c.settings[i]; s.Key == key && s.Scope == "local" {
			return s, true
		}
	}
	return Setting{}, false
}
