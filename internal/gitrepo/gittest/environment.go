// Package gittest makes repositories for tests with the real git, in an
// environment of their own.
package gittest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// globalConfig is the configuration of the user that tests run as.
const globalConfig = `[user]
	name = Grace Example
	email = grace@example.com
[init]
	defaultBranch = main
[advice]
	detachedHead = false
`

// firstDate is the fixed time of what Environment's git commits.
const firstDate = "2026-01-01T09:00:00Z"

// Environment is a complete environment for git, and for programs that run it,
// which depends on nothing of the machine but PATH: home directory and
// configuration lie in workdir/.home, which it makes, and author, committer and
// dates are fixed. It panics if that directory cannot be written.
func Environment(workdir string) map[string]string {
	home := filepath.Join(workdir, ".home")
	config := filepath.Join(home, "gitconfig")
	err := os.MkdirAll(filepath.Join(home, "xdg"), 0o700)
	if err == nil {
		err = os.WriteFile(config, []byte(globalConfig), 0o600)
	}
	if err != nil {
		panic(fmt.Sprintf("gittest: %v", err))
	}
	return map[string]string{
		"PATH":                os.Getenv("PATH"),
		"HOME":                home,
		"XDG_CONFIG_HOME":     filepath.Join(home, "xdg"),
		"LC_ALL":              "C",
		"GIT_CONFIG_NOSYSTEM": "1",
		"GIT_CONFIG_GLOBAL":   config,
		"GIT_TERMINAL_PROMPT": "0",
		"GIT_AUTHOR_NAME":     "Grace Example",
		"GIT_AUTHOR_EMAIL":    "grace@example.com",
		"GIT_AUTHOR_DATE":     firstDate,
		"GIT_COMMITTER_NAME":  "Grace Example",
		"GIT_COMMITTER_EMAIL": "grace@example.com",
		"GIT_COMMITTER_DATE":  firstDate,
	}
}

// list is an environment in the form of os.Environ, sorted by name.
func list(env map[string]string) []string {
	out := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}
