package decl

import (
	"slices"
	"strings"

	"github.com/evolve-mcp/evolve/internal/pattern"
)

// shells run a string of their own language; what it launches cannot be told.
var shells = words("sh bash zsh dash ash ksh mksh fish csh tcsh busybox cmd powershell pwsh nu elvish xonsh")

// stringFlags are the options with which other programs run a string, in a
// shell's language or their own.
var stringFlags = map[string]map[string]bool{
	"python": words("-c"), "pypy": words("-c"), "py": words("-c"), "ipython": words("-c"),
	"node": words("-e --eval -p --print -pe"), "nodejs": words("-e --eval -p --print -pe"), "bun": words("-e --eval -p --print"),
	"deno": words("eval"), "tsx": words("-e --eval -p --print"), "ts-node": words("-e --eval -p --print -pe"),
	"perl": words("-e"), "ruby": words("-e"), "php": words("-r"), "lua": words("-e"), "luajit": words("-e"), "r": words("-e"),
	"rscript": words("-e"), "julia": words("-e --eval -E --print"), "osascript": words("-e"), "elixir": words("-e --eval"),
	"npx": words("-c --call"), "npm": words("-c --call"), "pnpm": words("-c --shell-mode"), "yarn": words("-c"),
	"su": words("-c --command"), "script": words("-c --command"), "flock": words("-c --command"), "runuser": words("-c --command"),
}

// scriptRunners run code of the directory that they run in, whatever their
// arguments are: shell strings of a file there, or the project itself.
var scriptRunners = words("make gmake just task go-task rake nix-shell nix-build devbox direnv mise asdf lerna nx turbo " +
	"tox nox invoke inv fab doit bazel bazelisk buck2 pants ant ninja scons meson gradle gradlew mvn mvnw mvnd sbt mill lein clojure clj " +
	"cargo concurrently run-s run-p npm-run-all npm-run-all2 watchexec parallel foreman honcho overmind hivemind process-compose " +
	"nodemon pm2 wrangler vite-node vite next nuxt astro gulp grunt tilt skaffold earthly dagger")

// runVerbs make a program run code of the project around the directory that it
// runs in.
var runVerbs = map[string]map[string]bool{
	"deno": words("task"), "uv": words("run sync"), "poetry": words("run"), "pdm": words("run"), "hatch": words("run"),
	"pipenv": words("run"), "rye": words("run"), "pixi": words("run"), "conda": words("run"),
	"docker": words("compose build bake stack"), "podman": words("compose build play kube"), "nerdctl": words("compose build"),
	"docker-compose": words("up run exec build start create"), "podman-compose": words("up run exec build start create"),
	"dotnet": words("run watch test build exec msbuild"), "swift": words("run build test"), "zig": words("build run"), "mix": words("run"),
	"stack": words("run exec build"), "cabal": words("run exec build"), "dart": words("run"), "composer": words("run run-script exec install"),
	"bundle": words("exec"), "nix": words("run develop shell build"), "go": words("run build test generate install tool vet"),
	"elixir": words("mix"),
}

// packageVerbs are those of a package manager that run a package and not a
// script. Any other word is a script, or can be.
var packageVerbs = map[string]map[string]bool{
	"npm": words("exec x init create view"), "pnpm": words("exec dlx create"), "yarn": words("dlx create"), "bun": words("x create"),
	"uv": words("tool pip venv cache python"),
}

// quietFlags may stand between a package manager and its verb.
var quietFlags = words("-y --yes -q --quiet -s --silent --offline --prefer-offline --bun --no-install")

// maxOwnWords is how many words of one program are looked at. A server has a
// dozen; with more than these the whole core counts, so that a hostile list of
// options costs no more than its length.
const maxOwnWords = 256

// runsProject reports whether a command line runs a string of a language, or
// code of the project that it runs in: then what is launched cannot be told, and
// the whole core counts.
func runsProject(line []string) bool {
	takes := make([]bool, len(line))
	remote := -1 // the last word that names a remote module
	for i, word := range line {
		takes[i] = takesValue(word)
		if isRemoteModule(word) {
			remote = i
		}
	}
	for i, word := range line {
		name := program(word)
		n := ownWords(name, line[i+1:], takes[i+1:])
		rest := line[i+1 : i+1+n]
		switch {
		case n > maxOwnWords, scriptRunners[name], shells[name] && slices.ContainsFunc(rest, isShellFlag), runsString(name, rest):
			return true
		case name == "go" && i < remote:
		case runsScript(name, rest):
			return true
		}
	}
	return false
}

// valueless are options without a value: what follows them is an operand.
var valueless = pattern.New(`^(-[uBEIsSOPqvbdixlynw]+|--yes|--quiet|--silent|--offline|--prefer-offline|--bun|--no-install|--login|--norc|--noprofile)$`)

// takesValue reports whether the word behind an option may be its value.
func takesValue(word string) bool {
	return strings.HasPrefix(word, "-") && !strings.Contains(word, "=") && !valueless.MatchString(word)
}

// ownWords counts the words behind a program that are its own: its options, what
// may be their values, and its first operand. What follows belongs to that. It
// stops counting above maxOwnWords. takes has, for each word, whether it takes a
// value.
func ownWords(name string, rest []string, takes []bool) int {
	value, module := false, false
	for i, word := range rest {
		option := strings.HasPrefix(word, "-") || name == "cmd" && strings.HasPrefix(word, "/")
		if !option && !value || module || i >= maxOwnWords {
			return i + 1
		}
		value, module = option && takes[i], word == "-m"
	}
	return len(rest)
}

// isShellFlag: -c and its clusters (-lc), /c and /k of cmd, -Command and
// -EncodedCommand of PowerShell in any shortening.
func isShellFlag(s string) bool {
	lower := strings.ToLower(s)
	return len(s) > 1 && (s[0] == '-' && strings.ContainsAny(lower, "ce") || slices.Contains([]string{"/c", "/k", "/r"}, lower[:min(2, len(lower))]))
}

// runsString reports whether an interpreter is given code: behind an option of
// its own, alone, in a cluster (-Ic), or with the code joined to it.
func runsString(name string, rest []string) bool {
	flags := stringFlags[name]
	if flags == nil {
		flags = stringFlags[strings.TrimRight(name, "0123456789.-")]
	}
	return flags != nil && slices.ContainsFunc(rest, func(word string) bool {
		option, _, _ := strings.Cut(word, "=")
		if flags[option] {
			return true
		}
		if len(word) < 3 || word[0] != '-' || word[1] == '-' {
			return false
		}
		for flag := range flags {
			if len(flag) == 2 && flag[0] == '-' && strings.IndexByte(word, flag[1]) > 0 {
				return true
			}
		}
		return false
	})
}

// runsScript reports whether a package manager or build tool runs a script or
// the project.
func runsScript(name string, rest []string) bool {
	verb := ""
	for _, word := range rest {
		if !quietFlags[word] {
			verb = word
			break
		}
	}
	switch {
	case packageVerbs[name][verb], verb == "":
		return false
	case name == "npm", name == "pnpm", name == "yarn", name == "yarnpkg":
		return true
	case name == "bun":
		// bun FILE launches a file, which is bound as one; bun NAME is a script.
		return !strings.ContainsAny(verb, "./")
	}
	return slices.ContainsFunc(rest, func(word string) bool { return runVerbs[name][word] })
}

// isRemoteModule: go run PACKAGE@VERSION ignores the module that it runs in.
func isRemoteModule(word string) bool {
	return strings.Contains(word, "@") && !strings.HasPrefix(word, ".") && !strings.HasPrefix(word, "/")
}

// projectFiles mark the directory of a project: a tool that runs a project's
// code looks for one here and above.
var projectFiles = strings.Fields("package.json package.yaml package.json5 pnpm-workspace.yaml deno.json deno.jsonc pyproject.toml setup.py " +
	"setup.cfg Pipfile pixi.toml hatch.toml go.mod go.work Cargo.toml Makefile GNUmakefile justfile .justfile Taskfile.yml Taskfile.yaml " +
	"Taskfile.dist.yml Taskfile.dist.yaml Rakefile Gemfile pom.xml build.gradle build.gradle.kts settings.gradle settings.gradle.kts " +
	"build.xml build.sbt mise.toml .mise.toml .envrc nx.json turbo.json lerna.json MODULE.bazel WORKSPACE composer.json mix.exs global.json " +
	"flake.nix shell.nix default.nix devbox.json Procfile compose.yaml compose.yml docker-compose.yaml docker-compose.yml Package.swift " +
	"build.zig stack.yaml cabal.project tox.ini noxfile.py tasks.py Tiltfile Earthfile")
