package gogit

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// checkKind refuses the repositories that go-git cannot open, and those that it
// opens and then misreads or that Git would not open.
// Codes: unsupported, repository_unreadable.
func checkKind(at place, config *gitrepo.Config, o gitrepo.Options) error {
	for _, check := range []func(place, *gitrepo.Config, gitrepo.Options) string{
		formatVersion, extensions, borrowedObjects, promisor,
	} {
		if what := check(at, config, o); what != "" {
			return fault.New(fault.Unsupported, "without a git program, %s cannot be read", what).
				WithHint("install Git 2.38 or newer")
		}
	}
	return checkOwner(at, config, o)
}

func formatVersion(_ place, config *gitrepo.Config, _ gitrepo.Options) string {
	switch v, _ := config.Last("core.repositoryFormatVersion"); v.Value {
	case "", "0", "1":
		return ""
	}
	return "a repository of this format version"
}

// readable are the extensions that do not change how objects and refs are
// stored, with the values at which that holds ("" is any).
var readable = map[string]string{
	"noop": "", "noop-v1": "", "preciousobjects": "", "worktreeconfig": "", "relativeworktrees": "",
	"objectformat": "sha1", "refstorage": "files",
}

// extensionNames are those a person may know, in words.
var extensionNames = map[string]string{
	"objectformat": "a repository with SHA-256 ids",
	"refstorage":   "a repository that stores its refs otherwise than in files",
	"partialclone": "a partial clone",
}

func extensions(_ place, config *gitrepo.Config, _ gitrepo.Options) string {
	for _, s := range config.Settings() {
		name, ok := strings.CutPrefix(s.Key, "extensions.")
		if !ok || s.Scope != "local" && s.Scope != "worktree" {
			continue
		}
		if want, known := readable[name]; known && (want == "" || strings.EqualFold(s.Value, want)) {
			continue
		}
		if words := extensionNames[name]; words != "" {
			return words
		}
		return "a repository with an extension of Git's format"
	}
	return ""
}

func borrowedObjects(at place, _ *gitrepo.Config, o gitrepo.Options) string {
	for _, name := range []string{"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH"} {
		if _, set := gitrepo.Lookup(o.Env, name); set {
			return "objects in another place (" + name + ")"
		}
	}
	data, err := gitrepo.ReadSmall(filepath.Join(at.commonDir, "objects", "info", "alternates"))
	if err != nil && !os.IsNotExist(err) || strings.TrimSpace(string(data)) != "" {
		return "a repository that borrows objects from another (alternates)"
	}
	return ""
}

func promisor(at place, config *gitrepo.Config, _ gitrepo.Options) string {
	const words = "a partial clone"
	for _, s := range config.Settings() {
		if strings.HasPrefix(s.Key, "remote.") && strings.HasSuffix(s.Key, ".promisor") {
			return words // whatever its value: without one, it means true
		}
	}
	packs, _ := os.ReadDir(filepath.Join(at.commonDir, "objects", "pack"))
	for _, p := range packs {
		if strings.HasSuffix(p.Name(), ".promisor") {
			return words
		}
	}
	return ""
}

// checkOwner refuses what belongs to another user, as Git does: their
// configuration and content are not ours to trust. safe.directory counts if it
// names the worktree, or the Git directory where there is none, in full.
func checkOwner(at place, config *gitrepo.Config, o gitrepo.Options) error {
	if at.inside {
		if s, _ := config.Last("safe.bareRepository"); s.Value == "explicit" {
			return fault.New(fault.RepositoryUnreadable, "safe.bareRepository allows no bare repository that is not named").
				WithHint("GIT_DIR=DIR evolve ...")
		}
	}
	if at.named {
		return nil
	}
	where := at.workTree
	if where == "" {
		where = at.gitDir
	}
	for _, path := range []string{at.gitFile, at.workTree, at.gitDir} {
		if path == "" || ownedHere(path, o.Env) {
			continue
		}
		if isSafe(where, config, o.Env) {
			return nil
		}
		return fault.New(fault.RepositoryUnreadable, "the repository at %s belongs to another user", safetext.Terminal(where)).
			WithHint("git config --global --add safe.directory DIR, if you trust its owner")
	}
	return nil
}

func isSafe(dir string, config *gitrepo.Config, env []string) bool {
	safe := false
	judge := func(value string) {
		switch {
		case value == "":
			safe = false // an empty value forgets those before it
		case value == "*", filepath.Clean(value) == dir:
			safe = true
		}
	}
	for _, s := range config.All("safe.directory") {
		if s.Scope == "system" || s.Scope == "global" {
			judge(s.Value)
		}
	}
	for _, value := range gitrepo.SafeDirectories(env) {
		judge(value)
	}
	return safe
}
