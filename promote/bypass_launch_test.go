package promote

import "testing"

func TestBypassByWhatIsLaunched(t *testing.T) { runBypasses(t, launchBypasses) }

// launchBypasses change what a declaration launches, and not the declaration.
var launchBypasses = []bypass{
	// Paths in the command, arguments and environment values.
	{"the bytes of a script", "command: python; args: [tools/server.py]", files{"tools/server.py": "1"}, files{"tools/server.py": "2"}, "token launched:tools"},
	{"the mode of a script", "command: tools/server", files{"*tools/server": "1"}, files{"tools/server": "1"}, "token launched:tools"},
	{"a file beside a script", "command: python; args: [tools/server.py]", files{"tools/server.py": "1"}, files{"tools/json.py": "1"}, "token launched:tools"},
	{"a file removed beside a script", "command: python; args: [tools/server.py]", files{"tools/server.py": "1", "tools/a.py": "1"}, files{"-tools/a.py": ""}, "token launched:tools"},
	{"a script in the core itself", "command: ./run", files{"*run": "1", "doc/x": "1"}, files{"doc/x": "2"}, "token launched:."},
	{"an option with a path", `command: x; args: ["--config=conf/a.bin"]`, files{"conf/a.bin": "1"}, files{"conf/a.bin": "2"}, "token launched:conf"},
	{"a path joined to a short option", `command: node; args: ["-r./hook/a.js"]`, files{"hook/a.js": "1"}, files{"hook/a.js": "2"}, "token launched:hook"},
	{"a path joined to a cluster of options", `command: tar; args: ["-xvf./in/a.tar"]`, files{"in/a.tar": "1"}, files{"in/a.tar": "2"}, "token launched:in"},
	{"node --import", `command: node; args: ["--import", "./hook/a.mjs", "srv/x.js"]`, files{"hook/a.mjs": "1"}, files{"hook/a.mjs": "2"}, "token launched:hook"},
	{"node --import with a query", `command: node; args: ["--import=./hook/a.mjs?x=1"]`, files{"hook/a.mjs": "1"}, files{"hook/a.mjs": "2"}, "token launched:hook"},
	{"a suffix that node adds", "command: node; args: [srv/index]", files{"srv/index.cjs": "1"}, files{"srv/index.js": "2"}, "token launched:srv"},
	{"a suffix that Windows adds", `command: 'bin\server'`, files{"bin/server.cmd": "1"}, files{"bin/server.cmd": "2"}, "token launched:bin"},
	{"a Java class", "command: java; args: [-cp, classes, pkg.Main]", files{"classes/pkg/Main.class": "1"}, files{"classes/pkg/Main.class": "2"}, "token launched:classes"},
	{"a class path with a star", `command: java; args: [-cp, "lib/*", Main]`, files{"lib/a.jar": "1"}, files{"lib/b.jar": "2"}, "token launched:lib"},
	{"a mount", `command: docker; args: [run, -v, "./data:/data:ro", img]`, files{"data/a": "1"}, files{"data/a": "2"}, "token launched:data"},
	{"a mount in its long form", `command: docker; args: [run, --mount, "type=bind,src=data,dst=/d", img]`, files{"data/a": "1"}, files{"data/a": "2"}, "token launched:data"},
	{"docker --env-file", `command: docker; args: [run, "--env-file=conf/x.env", img]`, files{"conf/x.env": "A=1"}, files{"conf/x.env": "A=2"}, "token launched:conf"},
	{"node --env-file", "command: node; args: [--env-file, conf/x.env, srv/x.js]", files{"conf/x.env": "A=1"}, files{"conf/x.env": "A=2"}, "token launched:conf"},
	{"a response file", `command: java; args: ["@conf/args"]`, files{"conf/args": "-jar a"}, files{"conf/args": "-jar b"}, "token launched:conf"},
	{"a file URL", `command: x; args: ["file://lib/a"]`, files{"lib/a": "1"}, files{"lib/a": "2"}, "token launched:lib"},
	{"an absolute file URL", `command: x; args: ["file:///home/ada/agent/lib/a"]`, files{"lib/a": "1"}, files{"lib/a": "2"}, "token launched:lib"},
	{"a percent-encoded URL", `command: x; args: ["file:my%20lib/a"]`, files{"my lib/a": "1"}, files{"my lib/a": "2"}, "token launched:my lib"},
	{"JSON in an argument", `command: x; args: ['{"path":"srv/a"}']`, files{"srv/a": "1"}, files{"srv/a": "2"}, "token launched:srv"},
	{"loose JSON in an argument", `command: x; args: ['{path:srv/a}']`, files{"srv/a": "1"}, files{"srv/a": "2"}, "token launched:srv"},
	{"a flake reference", `command: nix; args: [run, ".#server"]`, files{"server/x": "1"}, files{"server/x": "2"}, "token launched:. launched:server"},
	{"an application by module and name", `command: uvicorn; args: ["pkg.app:app"]`, files{"pkg/app.py": "1"}, files{"other.py": "2"}, "token launched:."},
	{"a path in an environment value", "command: python; env: {PYTHONPATH: \"lib:vendored\"}", files{"lib/a": "1", "vendored/b.py": "1"}, files{"vendored/b.py": "2"}, "token launched:vendored"},
	{"NODE_OPTIONS", `command: npx; args: [a]; env: {NODE_OPTIONS: "--require ./hook/a.js"}`, files{"hook/a.js": "1"}, files{"hook/a.js": "2"}, "token launched:hook"},
	{"LD_PRELOAD", `command: npx; args: [a]; env: {LD_PRELOAD: "./hook/a.so"}`, files{"hook/a.so": "1"}, files{"hook/a.so": "2"}, "token launched:hook"},
	{"BASH_ENV with a variable", `command: srv; env: {BASH_ENV: "$PWD/hook/env"}`, files{"hook/env": "1"}, files{"hook/env": "2"}, "token launched:hook"},
	{"an empty element of PATH", `command: srv; env: {PATH: ":/usr/bin"}`, files{"*git": "1"}, files{"*git": "2"}, "token launched:."},
	{"an empty element of PYTHONPATH", `command: srv; env: {PYTHONPATH: "/opt/x:"}`, nil, files{"json.py": "2"}, "token launched:."},

	// Names that hold what cuts arguments into pieces.
	{"a directory with a space", "command: ./my tools/server", files{"*my tools/server": "1"}, files{"my tools/lib": "2"}, "token launched:my tools"},
	{"a file with a comma", `command: x; args: ["conf,v/a"]`, files{"conf,v/a": "1"}, files{"conf,v/a": "2"}, "token launched:conf,v"},
	{"a directory with an at sign", `command: node; args: ["pkgs/@acme/server/index.js"]`, files{"pkgs/@acme/server/index.js": "1"}, files{"pkgs/@acme/server/index.js": "2"}, "token launched:pkgs launched:pkgs/@acme/server"},
	{"a directory that begins with an at sign", `command: node; args: ["@acme/server"]`, files{"=@acme/server.js": "1"}, files{"=@acme/server.js": "2"}, "token launched:@acme"},
	{"a directory in brackets", `command: x; args: ["app/[id]/a"]`, files{"app/[id]/a": "1"}, files{"app/[id]/a": "2"}, "token launched:app launched:app/[id]"},
	{"a file with an equals sign behind an option", `command: x; args: ["--c=a=b/x"]`, files{"a=b/x": "1"}, files{"a=b/x": "2"}, "token launched:a=b"},

	// Paths that the host or the program resolves.
	{"an absolute path to the checkout", "command: python; args: [/home/ada/agent/tools/server.py]", files{"tools/server.py": "1"}, files{"tools/server.py": "2"}, "token launched:tools"},
	{"a Windows path to the checkout", `command: python; args: ['C:\agent\tools\server.py']`, files{"tools/server.py": "1"}, files{"tools/server.py": "2"}, "token launched:tools"},
	{"a relative Windows path", `command: python; args: ['.\tools\server.py']`, files{"tools/server.py": "1"}, files{"tools/server.py": "2"}, "token launched:tools"},
	{"a home directory", "command: python; args: [~/agent/tools/server.py]", files{"tools/server.py": "1"}, files{"tools/server.py": "2"}, "token launched:tools"},
	{"a variable of a shell", `command: python; args: ["${workspaceFolder}/tools/server.py"]`, files{"tools/server.py": "1"}, files{"tools/server.py": "2"}, "token launched:tools"},
	{"a bare variable", `command: python; args: ["$ROOT/tools/server.py"]`, files{"tools/server.py": "1"}, files{"tools/server.py": "2"}, "token launched:tools"},
	{"a variable of Windows", `command: python; args: ['%CD%\tools\server.py']`, files{"tools/server.py": "1"}, files{"tools/server.py": "2"}, "token launched:tools"},
	{"a path through the checkout's own name", "command: python; args: [../agent/tools/server.py]", files{"tools/server.py": "1"}, files{"tools/server.py": "2"}, "token launched:tools"},
	{"a path through what does not exist", "command: node; args: [missing/../srv/a.js]", files{"srv/a.js": "1"}, files{"srv/a.js": "2"}, "token launched:srv"},
	{"a path with dots and double slashes", "command: node; args: [.//srv/./x/..//a.js]", files{"srv/a.js": "1", "srv/x/b": "1"}, files{"srv/a.js": "2"}, "token launched:srv"},

	// Names that some file systems take for others.
	{"a script named in other letter case", "command: node; args: [Srv/Index.js]", files{"srv/index.js": "1"}, files{"srv/index.js": "2"}, "token launched:srv"},
	{"a directory that shadows another by letter case", "command: node; args: [srv/index.js]", files{"srv/index.js": "1"}, files{"SRV/index.js": "2"}, "token launched:SRV"},
	{"a script whose name is composed otherwise", "command: node; args: [\"srv\\u0301/a.js\"]", files{"srv\u0301/a.js": "1"}, files{"sr\u1e7d/b": "2", "SRV\u0301/a.js": "2"}, "token launched:SRV\u0301"},
	{"a name with an ignorable character", "command: node; args: [srv/a.js]", files{"srv/a.js": "1"}, files{"s\u200drv/a.js": "2"}, "token launched:s\u200drv"},
	{"a name with a trailing dot", "command: node; args: [srv/a.js]", files{"srv/a.js": "1"}, files{"srv./a.js": "2"}, "token launched:srv."},

	// The working directory.
	{"a script relative to cwd", "command: ./run; cwd: srv", files{"*srv/run": "1"}, files{"*srv/run": "2"}, "token launched:srv"},
	{"a file in cwd that a program of the host reads", "command: server; cwd: conf", files{"conf/server.toml": "1"}, files{"conf/server.toml": "2"}, "token launched:conf"},
	{"cwd in other letter case", "command: ./run; cwd: SRV", files{"*srv/run": "1"}, files{"*srv/run": "2"}, "token launched:srv"},
	{"cwd that does not exist yet", "command: ./run; cwd: srv", nil, files{"*srv/run": "1"}, "token launched:srv"},
	{"a script above cwd", "command: ../bin/run; cwd: srv", files{"srv/x": "1", "*bin/run": "1"}, files{"*bin/run": "2"}, "token launched:bin"},
	{"make -C", "command: env; args: [-C, srv, ./run]", files{"*srv/run": "1"}, files{"*srv/run": "2"}, "token launched:srv"},
	{"a path relative to another argument", "command: env; args: [-C, srv/deep, ../lib/run]", files{"srv/deep/x": "1", "*srv/lib/run": "1"}, files{"*srv/lib/run": "2"}, "token launched:srv/lib"},

	// Modules of Python.
	{"a dotted module", "command: python; args: [-m, pkg.server]", files{"pkg/server.py": "1"}, files{"pkg/server.py": "2"}, "token launched:."},
	{"a module of one word", "command: python; args: [-m, pkg]", files{"pkg/__main__.py": "1"}, files{"pkg/__main__.py": "2"}, "token launched:. launched:pkg"},
	{"a module joined to -m", "command: python; args: [-mpkg.server]", files{"pkg/server.py": "1"}, files{"pkg/server.py": "2"}, "token launched:."},
	{"-m in a cluster", "command: python; args: [-um, pkg]", files{"pkg/__main__.py": "1"}, files{"pkg/__main__.py": "2"}, "token launched:. launched:pkg"},
	{"-m in one argument with its module", `command: gateway; args: [--stdio, "python -m pkg"]`, files{"pkg/__main__.py": "1"}, files{"pkg/__main__.py": "2"}, "token launched:. launched:pkg"},
	{"a module under src", "command: python; args: [-m, pkg.server]", files{"src/pkg/server.py": "1"}, files{"src/pkg/server.py": "2"}, "token launched:src"},
	{"a module that shadows an installed one", "command: python; args: [-m, mcp_server_fetch]", nil, files{"httpx.py": "1"}, "token launched:httpx.py"},
	{"a package that shadows an installed one", "command: python; args: [-m, mcp_server_fetch]", nil, files{"httpx/__init__.py": "1"}, "token launched:httpx"},
	{"an extension module that shadows one", "command: python; args: [-m, mcp_server_fetch]; cwd: w", nil, files{"w/json.cpython-312-x86_64-linux-gnu.so": "1"}, "token launched:w"},
	{"python -X before a script", "command: python; args: [-X, importtime, tools/a.py]", files{"tools/a.py": "1"}, files{"tools/a.py": "2"}, "token launched:tools"},

	// Symbolic links and submodules.
	{"a symbolic link that is launched", "command: ./bin/x", files{"*bin/x": "1"}, files{"@bin/x": "/bin/sh"}, "refused declaration_invalid bound_not_regular"},
	{"a symbolic link beside what is launched", "command: ./bin/x", files{"*bin/x": "1"}, files{"@bin/lib": "../other"}, "refused declaration_invalid bound_not_regular"},
	{"a symbolic link on the way", "command: ./bin/x", files{"*bin/x": "1"}, files{"-bin/x": "", "@bin": "other", "*other/x": "1"}, "refused declaration_invalid bound_not_regular"},
	{"a submodule on the way", "command: ./bin/x", files{"*bin/x": "1"}, files{"-bin/x": "", "^bin": submodule}, "refused declaration_invalid bound_not_regular"},
	{"a symbolic link as cwd", "command: srv; cwd: w", files{"w/x": "1"}, files{"-w/x": "", "@w": "agent"}, "refused declaration_invalid bound_not_regular"},
	{"a symbolic link behind an absolute path", "command: /srv/agent/bin/x", nil, files{"@bin/x": "/bin/sh"}, "refused declaration_invalid bound_not_regular"},
}
