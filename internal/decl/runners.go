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
// asdf, direnv, composer, R (Startup), Julia, GHC, Mix, Bazel.
var families = []family{
	{
		programs: []string{
			"npx", "npm", "node", "nodejs", "pnpm", "pnpx", "yarn", "yarnpkg", "bun", "bunx", "deno", "tsx", "ts-node",
			"corepack", "volta", "ts-node-dev", "ts-node-esm", "vite-node", "swc-node", "babel-node", "nodemon", "pm2", "electron",
			"turbo", "nx", "lerna", "wrangler", "dotenv", "dotenvx", "cross-env", "env-cmd",
		},
		files: []string{
			".npmrc", "package.json", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "pnpm-workspace.yaml",
			".pnpmfile.cjs", ".pnp.cjs", ".pnp.js", ".pnp.loader.mjs", ".pnp.data.json", "yarn.lock", ".yarnrc", ".yarnrc.yml",
			"bun.lock", "bun.lockb", "bunfig.toml", "deno.json", "deno.jsonc", "deno.lock", "tsconfig.json", "jsconfig.json",
			".nvmrc", ".node-version", ".env", ".env.local", ".env.development", ".env.production", ".env.test",
			".env.development.local", ".env.production.local", ".env.test.local", "lerna.json", ".corepack.env", "package.yaml",
			"package.json5", ".pnpmfile.mjs", "pnpmfile.js", "nodemon.json", ".swcrc", ".babelrc", ".babelrc.json", "babel.config.js",
			"babel.config.json", "node.config.json", "import_map.json", "import-map.json", "nx.json", "turbo.json", "wrangler.toml",
			"wrangler.json", "wrangler.jsonc", "ecosystem.config.js", "ecosystem.config.cjs", ".env-cmdrc", ".env.vault",
		},
		dirs: []string{"node_modules", ".yarn"},
	},
	{
		programs: []string{
			"uvx", "uv", "pipx", "pip", "pip3", "python", "python3", "python2", "pypy", "pypy3", "poetry", "pdm", "hatch",
			"rye", "pixi", "conda", "mamba", "micromamba", "pipenv", "fastmcp", "mcp", "py", "pyw", "pythonw", "ipython", "uvicorn", "gunicorn",
			"hypercorn", "daphne", "flask", "tox", "nox", "invoke", "inv", "fab", "pytest", "coverage", "streamlit", "torchrun", "dotenv",
		},
		files: []string{
			"pyproject.toml", "uv.toml", "uv.lock", ".python-version", ".python-versions", "poetry.lock", "poetry.toml",
			"pdm.lock", "pdm.toml", ".pdm-python", "Pipfile", "Pipfile.lock", "requirements.txt", "setup.py", "setup.cfg",
			"pip.conf", "pip.ini", "pyvenv.cfg", "sitecustomize.py", "usercustomize.py", "hatch.toml", "pixi.toml", "pixi.lock",
			"environment.yml", "environment.yaml", ".env", "fastmcp.json", "requirements.in", "constraints.txt", "conftest.py", "pytest.ini",
			"tox.ini", "noxfile.py", "tasks.py", "fabfile.py", ".coveragerc", "gunicorn.conf.py", ".flaskenv", ".pydistutils.cfg",
		},
		dirs: []string{".venv", "venv", "__pypackages__", "__pycache__", ".streamlit"},
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
		files:    []string{"go.mod", "go.sum", "go.work", "go.work.sum", ".go-version"},
		dirs:     []string{"vendor"},
	},
	{
		programs: []string{"cargo", "rustc", "rustup", "cargo-xtask"},
		files:    []string{"Cargo.toml", "Cargo.lock", "build.rs", "rust-toolchain", "rust-toolchain.toml"},
		dirs:     []string{".cargo", "xtask"},
	},
	{
		programs: []string{"dotnet", "dnx"},
		files: []string{
			"global.json", "NuGet.Config", "NuGet.config", "nuget.config", "Directory.Build.props", "Directory.Build.targets",
			"Directory.Packages.props", "Directory.Build.rsp", "MSBuild.rsp", "dotnet-tools.json", "packages.lock.json", "appsettings.json",
		},
		dirs: []string{".config"},
	},
	{
		programs: []string{"bundle", "bundler", "ruby", "gem", "rake", "rails", "irb", "foreman"},
		files: []string{
			"Gemfile", "Gemfile.lock", "gems.rb", "gems.locked", ".ruby-version", "Rakefile", "rakefile", ".irbrc", "Procfile", ".foreman",
		},
		dirs: []string{".bundle"},
	},
	{
		programs: []string{"nix", "nix-shell", "nix-build", "devbox"},
		files:    []string{"flake.nix", "flake.lock", "default.nix", "shell.nix", "devbox.json", "devbox.lock"},
	},
	{
		programs: []string{"java", "mvn", "mvnd", "mvnw", "gradle", "gradlew", "jbang", "kotlin", "scala", "scala-cli", "sbt", "mill", "ant"},
		files: []string{
			"pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradle.properties", "gradlew", "mvnw",
			"gradlew.bat", "mvnw.cmd", "build.xml", "build.sbt", "build.sc", ".jvmopts", ".java-version", ".sdkmanrc", "jbang-catalog.json",
		},
		dirs: []string{".mvn", "gradle", "buildSrc", "project"},
	},
	{
		programs: []string{"make", "gmake", "just", "task", "go-task"},
		files: []string{
			"Makefile", "makefile", "GNUmakefile", "justfile", ".justfile", "Justfile", "Taskfile.yml", "Taskfile.yaml",
			"taskfile.yml", "taskfile.yaml", "Taskfile.dist.yml", "Taskfile.dist.yaml",
		},
	},
	{
		programs: []string{"php", "composer"},
		files:    []string{"composer.json", "composer.lock", ".user.ini", "php.ini"},
		dirs:     []string{"vendor"},
	},
	{
		programs: []string{"r", "rscript"},
		files:    []string{".Rprofile", ".Renviron", "renv.lock"},
		dirs:     []string{"renv"},
	},
	{programs: []string{"julia"}, files: []string{"Project.toml", "Manifest.toml", "JuliaProject.toml", "LocalPreferences.toml"}},
	{programs: []string{"ghci", "runghc", "stack", "cabal"}, files: []string{".ghci", "stack.yaml", "cabal.project", "cabal.project.local"}},
	{programs: []string{"mix", "elixir", "iex"}, files: []string{"mix.exs", "mix.lock", ".iex.exs"}, dirs: []string{"deps"}},
	{
		programs: []string{"bazel", "bazelisk"},
		files:    []string{".bazelrc", ".bazelversion", ".bazeliskrc", "WORKSPACE", "WORKSPACE.bazel", "MODULE.bazel", "BUILD", "BUILD.bazel"},
		dirs:     []string{"tools"},
	},
}

// everyRunner is read by version managers and environment loaders that may
// stand in front of any program.
var everyRunner = family{
	files: []string{
		".tool-versions", "mise.toml", ".mise.toml", "mise.local.toml", ".mise.local.toml", ".rtx.toml", ".envrc", ".prototools",
		"pkgx.yaml", ".pkgx.yaml", ".env",
	},
	dirs: []string{"mise", ".mise"},
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

// familiesByProgram is the table turned round.
var familiesByProgram = func() map[string][]int {
	out := map[string][]int{}
	for i, f := range families {
		for _, p := range f.programs {
			out[p] = append(out[p], i)
		}
	}
	return out
}()

// familyOf lists the families that a program belongs to, by index. A version at
// its end (python3.12, node20) does not matter.
func familyOf(name string) []int {
	if known, ok := familiesByProgram[name]; ok {
		return known
	}
	return familiesByProgram[strings.TrimRight(name, "0123456789.-")]
}
