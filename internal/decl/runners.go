package decl

import "strings"

// A family is a group of programs that read files by themselves in the
// directory where they run and above, and thereby decide what code runs.
type family struct {
	programs []string
	files    []string // regular files
	dirs     []string // directories, bound recursively
}

// families is the published list of what package runners and interpreters read
// without being told. Sources: the manuals of npm (folders, npmrc, package.json),
// pnpm, yarn, bun (runtime/bunfig, environment variables), deno (configuration),
// uv (configuration files, projects), pipx, pip (configuration), poetry, PDM,
// docker (build, compose), go (modules, workspaces), cargo (configuration),
// dotnet (global.json, NuGet.Config), bundler, nix, make, just, task, mise,
// asdf, direnv.
var families = []family{
	{
		programs: []string{
			"npx", "npm", "node", "nodejs", "pnpm", "pnpx", "yarn", "yarnpkg", "bun", "bunx", "deno", "tsx", "ts-node",
			"corepack", "volta",
		},
		files: []string{
			".npmrc", "package.json", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "pnpm-workspace.yaml",
			".pnpmfile.cjs", ".pnp.cjs", ".pnp.js", ".pnp.loader.mjs", ".pnp.data.json", "yarn.lock", ".yarnrc", ".yarnrc.yml",
			"bun.lock", "bun.lockb", "bunfig.toml", "deno.json", "deno.jsonc", "deno.lock", "tsconfig.json", "jsconfig.json",
			".nvmrc", ".node-version", ".env", ".env.local", ".env.development", ".env.production", ".env.test",
			".env.development.local", ".env.production.local", ".env.test.local", "lerna.json",
		},
		dirs: []string{"node_modules", ".yarn"},
	},
	{
		programs: []string{
			"uvx", "uv", "pipx", "pip", "pip3", "python", "python3", "python2", "pypy", "pypy3", "poetry", "pdm", "hatch",
			"rye", "pixi", "conda", "mamba", "pipenv", "fastmcp", "mcp",
		},
		files: []string{
			"pyproject.toml", "uv.toml", "uv.lock", ".python-version", ".python-versions", "poetry.lock", "poetry.toml",
			"pdm.lock", "pdm.toml", ".pdm-python", "Pipfile", "Pipfile.lock", "requirements.txt", "setup.py", "setup.cfg",
			"pip.conf", "pip.ini", "pyvenv.cfg", "sitecustomize.py", "usercustomize.py", "hatch.toml", "pixi.toml", "pixi.lock",
			"environment.yml", ".env", "fastmcp.json",
		},
		dirs: []string{".venv", "__pypackages__", "__pycache__"},
	},
	{
		programs: []string{"docker", "docker-compose", "podman", "podman-compose", "nerdctl", "finch", "buildah"},
		files: []string{
			"Dockerfile", "Containerfile", ".dockerignore", ".containerignore", "Dockerfile.dockerignore",
			"compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml",
			"compose.override.yaml", "compose.override.yml", "docker-compose.override.yaml", "docker-compose.override.yml",
			"docker-bake.hcl", "docker-bake.json", "docker-bake.override.hcl", "docker-bake.override.json", ".env",
		},
	},
	{
		programs: []string{"go"},
		files:    []string{"go.mod", "go.sum", "go.work", "go.work.sum"},
		dirs:     []string{"vendor"},
	},
	{
		programs: []string{"cargo", "rustc", "rustup"},
		files:    []string{"Cargo.toml", "Cargo.lock", "build.rs", "rust-toolchain", "rust-toolchain.toml"},
		dirs:     []string{".cargo"},
	},
	{
		programs: []string{"dotnet", "dnx"},
		files: []string{
			"global.json", "NuGet.Config", "NuGet.config", "nuget.config", "Directory.Build.props", "Directory.Build.targets",
			"Directory.Packages.props", "dotnet-tools.json", "packages.lock.json",
		},
		dirs: []string{".config"},
	},
	{
		programs: []string{"bundle", "bundler", "ruby", "gem", "rake"},
		files:    []string{"Gemfile", "Gemfile.lock", ".ruby-version", "Rakefile", "rakefile"},
		dirs:     []string{".bundle"},
	},
	{
		programs: []string{"nix", "nix-shell", "nix-build", "devbox"},
		files:    []string{"flake.nix", "flake.lock", "default.nix", "shell.nix", "devbox.json", "devbox.lock"},
	},
	{
		programs: []string{"java", "mvn", "gradle", "jbang"},
		files:    []string{"pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradle.properties"},
		dirs:     []string{".mvn", "gradle"},
	},
	{
		programs: []string{"make", "gmake", "just", "task", "go-task"},
		files: []string{
			"Makefile", "makefile", "GNUmakefile", "justfile", ".justfile", "Justfile", "Taskfile.yml", "Taskfile.yaml",
			"taskfile.yml", "taskfile.yaml", "Taskfile.dist.yml", "Taskfile.dist.yaml",
		},
	},
}

// everyRunner is read by version managers and environment loaders that may
// stand in front of any program.
var everyRunner = family{files: []string{".tool-versions", "mise.toml", ".mise.toml", ".envrc"}}

// shells run a string of their own language; what it launches cannot be told.
var shells = words("sh bash zsh dash ash ksh mksh fish csh tcsh busybox cmd powershell pwsh nu elvish xonsh")

// scriptRunners run shell strings that a file of the core holds.
var scriptRunners = words("make gmake just task go-task rake nix-shell devbox direnv mise asdf lerna")

// scriptVerbs make a package manager run a shell string of package.json or its
// like.
var scriptVerbs = map[string]map[string]bool{
	"npm": words("run run-script start test restart stop"), "pnpm": words("run start test"),
	"yarn": words("run start test"), "bun": words("run start test"), "deno": words("task"),
	"poetry": words("run"), "pdm": words("run"), "hatch": words("run"), "pipenv": words("run"), "rye": words("run"),
	"pixi": words("run"), "docker": words("compose build"), "podman": words("compose build"),
	"docker-compose": words("up run exec build"), "podman-compose": words("up run exec build"),
}

func words(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}

// program is the name of the program that a command or argument names: the last
// part of its path, in lower case, without what Windows adds.
func program(s string) string {
	s = s[strings.LastIndexAny(s, `/\`)+1:]
	s = strings.ToLower(s)
	for _, suffix := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		s = strings.TrimSuffix(s, suffix)
	}
	return s
}

// familyOf finds the families that a program belongs to. A version at its end
// (python3.12, node20) does not matter.
func familyOf(name string) []family {
	var out []family
	bare := strings.TrimRight(name, "0123456789.-")
	for _, f := range families {
		for _, p := range f.programs {
			if p == name || p == bare {
				out = append(out, f)
				break
			}
		}
	}
	return out
}
