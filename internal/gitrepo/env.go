package gitrepo

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// passed are the variables of the caller that reading may see. Everything else
// is left out, so that nothing in the environment changes what is read.
var passed = []string{
	"PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR",
	"GIT_DIR", "GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES",
	// The push quarantine: where the objects of a push are before it is taken.
	"GIT_QUARANTINE_PATH", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	// What a program needs to start at all on Windows.
	"SYSTEMROOT", "SystemRoot", "COMSPEC", "PATHEXT", "USERPROFILE", "TEMP", "TMP",
}

// passedOutsideHooks name the configuration files and the worktree. A pusher's
// environment must not choose a server's policy, so hooks leave them out.
var passedOutsideHooks = []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_WORK_TREE"}

// fixed holds for every git that reads.
var fixed = []string{
	"LC_ALL=C",
	"GIT_NO_REPLACE_OBJECTS=1",
	"GIT_GRAFT_FILE=" + os.DevNull,
	// Lazy fetching in a partial clone: the variable is Git 2.45's; for older
	// ones no protocol is allowed, so that the fetch fails at once.
	"GIT_NO_LAZY_FETCH=1",
	"GIT_ALLOW_PROTOCOL=none",
	"GIT_TERMINAL_PROMPT=0",
	"GIT_OPTIONAL_LOCKS=0",
	"GIT_LITERAL_PATHSPECS=1",
	"GIT_PAGER=cat",
}

// readEnvironment builds the environment of every git that reads.
func readEnvironment(env []string, hook bool) []string {
	names := passed
	if !hook {
		names = append(append([]string{}, passed...), passedOutsideHooks...)
	}
	out := append([]string{}, fixed...)
	for _, name := range names {
		if v, ok := Lookup(env, name); ok {
			out = append(out, name+"="+v)
		}
	}
	if hook {
		return out
	}
	dirs := SafeDirectories(env)
	if len(dirs) > 0 {
		out = append(out, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(dirs)))
	}
	for i, d := range dirs {
		out = append(out, fmt.Sprintf("GIT_CONFIG_KEY_%d=safe.directory", i), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, d))
	}
	return out
}

// SafeDirectories finds the one setting that may be given through
// the environment for reading: which foreign-owned repositories are trusted.
func SafeDirectories(env []string) []string {
	var dirs []string
	count, _ := Lookup(env, "GIT_CONFIG_COUNT")
	n, _ := strconv.Atoi(count) // Git itself refuses what is no number
	for i := range n {
		key, ok := Lookup(env, fmt.Sprintf("GIT_CONFIG_KEY_%d", i))
		if !ok {
			break
		}
		if value, ok := Lookup(env, fmt.Sprintf("GIT_CONFIG_VALUE_%d", i)); ok && strings.EqualFold(key, "safe.directory") {
			dirs = append(dirs, value)
		}
	}
	// "git -c safe.directory=DIR evolve ..." arrives as 'safe.directory'='DIR'.
	params, _ := Lookup(env, "GIT_CONFIG_PARAMETERS")
	for _, p := range strings.Split(params, "' '") {
		p = strings.Trim(p, "'")
		if value, ok := strings.CutPrefix(p, "safe.directory'='"); ok && !strings.Contains(value, "'") {
			dirs = append(dirs, value)
		}
	}
	return dirs
}

// dropped are the variables that would point a moving or signing git elsewhere
// than at the repository that was judged.
var dropped = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX",
	"GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "LC_ALL", "LANGUAGE",
}

// userEnvironment is the user's own environment, for moving refs (hooks run in
// it), signing and the network.
func userEnvironment(env []string) []string {
	var out []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		keep := true
		for _, d := range dropped {
			keep = keep && name != d
		}
		if keep {
			out = append(out, kv)
		}
	}
	return append(out, "LC_ALL=C")
}

// Lookup returns the last value of a variable.
func Lookup(env []string, name string) (string, bool) {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// findProgram looks a program up in the PATH of an environment, as exec.LookPath
// does in the process's own. Directories that are not absolute are left out: the
// present directory may belong to the repository under review.
func findProgram(env []string, name string) (string, error) {
	if strings.ContainsAny(name, `/\`) {
		return name, nil
	}
	path, _ := Lookup(env, "PATH")
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}
