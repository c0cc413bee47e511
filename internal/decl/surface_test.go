package decl_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/decl/decltest"
	"github.com/evolve-mcp/evolve/internal/redact"
)

func load(t *testing.T, tree decl.Tree, patterns ...string) *decl.Surface {
	t.Helper()
	s, err := decl.LoadSurface(t.Context(), tree, decl.Options{CorePatterns: patterns})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func loadBeside(t *testing.T, tree decl.Tree, other *decl.Surface) *decl.Surface {
	t.Helper()
	s, err := decl.LoadSurface(t.Context(), tree, decl.Options{Beside: other})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestBesideReadsWhatDiffers: what two surfaces share is read once, and is in
// both what it is in each alone.
func TestBesideReadsWhatDiffers(t *testing.T) {
	files := map[string]string{"agent/mcp/bad.yaml": "command: [x\n", "agent/mcp/schema.yaml": "nonsense: 1\n"}
	for i := range 40 {
		files[fmt.Sprintf("agent/mcp/s%02d.yaml", i)] = valid
	}
	before := decltest.Files(files)
	after := before.Clone()
	after.Put("agent/mcp/s00.yaml", decl.ModeExecutable, valid)
	after.Put("agent/mcp/s01.yaml", decl.ModeRegular, "command: other\n")
	after.Put("agent/mcp/S02.yaml", decl.ModeRegular, valid) // s02 to a Mac
	after.Put("agent/mcp/s03.yaml", decl.ModeSymlink, "target")
	base := load(t, before)
	told := codes(base)
	after.Reads = 0
	alone := load(t, after)
	all := after.Reads
	beside := loadBeside(t, after, base)
	if fewer := after.Reads - all; fewer != 3 {
		t.Errorf("%d reads, of %d alone; three declarations differ", fewer, all)
	}
	if got, want := codes(beside), codes(alone); !slices.Equal(got, want) || len(want) < 4 {
		t.Errorf("problems %v, alone %v", got, want)
	}
	if got := codes(base); !slices.Equal(got, told) {
		t.Errorf("the other surface was changed: %v, before %v", got, told)
	}
	if got := names(t, alone, beside); len(got) > 0 {
		t.Errorf("it differs from itself: %v", got)
	}
	for i, f := range alone.Cores[0].Files {
		g := beside.Cores[0].Files[i]
		if f.Path != g.Path || f.State != g.State || f.SHA256 != g.SHA256 || (f.Decl == nil) != (g.Decl == nil) {
			t.Errorf("%s: %v, alone %v", f.Path, g.State, f.State)
		}
	}
}

// deltas compares two trees, in both directions, with object ids and without.
func deltas(t *testing.T, before, after *decltest.Tree) []string {
	t.Helper()
	var first []string
	for i, noIDs := range []bool{false, true} {
		x, y := before.Clone(), after.Clone()
		x.NoIDs, y.NoIDs = noIDs, noIDs
		got := names(t, load(t, x), load(t, y))
		back := names(t, load(t, y), load(t, x))
		if !slices.Equal(got, back) {
			t.Errorf("%v one way, %v the other", got, back)
		}
		base := load(t, x)
		if beside := names(t, base, loadBeside(t, y, base)); !slices.Equal(got, beside) {
			t.Errorf("%v, and %v where declarations were taken from the other surface", got, beside)
		}
		if i == 0 {
			first = got
		} else if !slices.Equal(first, got) {
			t.Errorf("with ids %v, without %v", first, got)
		}
	}
	return first
}

func names(t *testing.T, before, after *decl.Surface) []string {
	t.Helper()
	list, err := decl.Compare(t.Context(), before, after)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, d := range list {
		out = append(out, fmt.Sprintf("%s:%s", d.Key.Kind, d.Key.Path))
	}
	return out
}

func codes(s *decl.Surface) []string {
	out := []string{}
	for _, p := range s.AllProblems() {
		out = append(out, p.Path+" "+string(p.Code))
	}
	return out
}

// TestEveryKindOfItemIsBound changes one file after the review and names the
// items that must notice. An empty want says that the change is not reviewed.
func TestEveryKindOfItemIsBound(t *testing.T) {
	for _, tt := range []struct {
		name   string
		server string // agent/mcp/docs.yaml
		files  map[string]string
		path   string // what changes
		to     string // its new content, "-" to remove it
		want   []string
	}{
		{"the declaration", valid, nil, "agent/mcp/docs.yaml", valid + "# more\n", []string{"declaration:agent/mcp/docs.yaml"}},
		{"a grant", valid, map[string]string{"agent.yaml": "capabilities: {defaults: {a: {scope: core}}}\n"},
			"agent.yaml", "capabilities: {defaults: {b: {scope: core}}}\n", []string{"agent:agent.yaml"}},
		{"a comment in agent.yaml", valid, map[string]string{"agent.yaml": "name: x\n"}, "agent.yaml", "name: x # y\n", []string{}},
		{"another node of agent.yaml", valid, map[string]string{"agent.yaml": "name: x\n"}, "agent.yaml", "name: y\n", []string{}},
		{"a number quoted in agent.yaml", valid, map[string]string{"agent.yaml": "runtime: {x: 1}\n"}, "agent.yaml", "runtime: {x: \"1\"}\n",
			[]string{"agent:agent.yaml"}},
		{"the MCP root", valid, map[string]string{"other/x.yaml": valid}, "agent.yaml", "slots: {mcp: other}\n",
			[]string{"agent:agent.yaml", "declaration:agent/mcp/docs.yaml", "declaration:other/x.yaml"}},
		{"a script", "command: python\nargs: [tools/server.py]\n", map[string]string{"tools/server.py": "1"}, "tools/server.py", "2",
			[]string{"launched:tools"}},
		{"a file beside a script", "command: python\nargs: [tools/server.py]\n", map[string]string{"tools/server.py": "1", "tools/lib/x.py": "1"},
			"tools/lib/x.py", "2", []string{"launched:tools"}},
		{"a file that shadows a module", "command: python\nargs: [tools/server.py]\n", map[string]string{"tools/server.py": "1"},
			"tools/json.py", "2", []string{"launched:tools"}},
		{"a script in the core itself", "command: ./run.sh\n", map[string]string{"run.sh": "1", "src/x": "1"}, "src/x", "2", []string{"launched:."}},
		{"a script without suffix", "command: node\nargs: [srv/index]\n", map[string]string{"srv/index.js": "1"}, "srv/index.js", "2",
			[]string{"launched:srv"}},
		{"a script in other letter case", "command: node\nargs: [srv/Index.js]\n", map[string]string{"srv/index.js": "1"}, "srv/index.js", "2",
			[]string{"launched:srv"}},
		{"behind an equals sign", "command: x\nargs: [\"--config=conf/a.json\"]\n", map[string]string{"conf/a.json": "1"}, "conf/a.json", "2",
			[]string{"launched:conf"}},
		{"behind a short option", "command: node\nargs: [\"-r./hook/a.js\"]\n", map[string]string{"hook/a.js": "1"}, "hook/a.js", "2",
			[]string{"launched:hook"}},
		{"a mount", "command: docker\nargs: [run, -v, \"./data:/data:ro\", img]\n", map[string]string{"data/a": "1"}, "data/a", "2",
			[]string{"launched:data"}},
		{"a file URL", "command: x\nargs: [\"file://lib/a\"]\n", map[string]string{"lib/a": "1"}, "lib/a", "2", []string{"launched:lib"}},
		{"an environment value", "command: python\nenv: {PYTHONPATH: \"lib:vendor\"}\n", map[string]string{"lib/a.py": "1", "vendor/b.py": "1"},
			"vendor/b.py", "2", []string{"launched:vendor"}},
		{"an env file", "command: docker\nargs: [run, \"--env-file=conf/x.env\", img]\n", map[string]string{"conf/x.env": "A=1"}, "conf/x.env", "A=2",
			[]string{"launched:conf"}},
		{"a dotted module", "command: python\nargs: [-m, pkg.server]\n", map[string]string{"pkg/server.py": "1"}, "other.py", "2",
			[]string{"launched:."}},
		{"a module by one word", "command: python\nargs: [-m, pkg]\n", map[string]string{"pkg/__main__.py": "1"}, "json.py", "2",
			[]string{"launched:."}},
		{"an application by module and name", "command: uvicorn\nargs: [\"pkg.app:app\"]\n", map[string]string{"pkg/app.py": "1"}, "pkg/app.py", "2",
			[]string{"launched:."}},
		{"relative to cwd", "command: ./run\ncwd: srv\n", map[string]string{"srv/run": "1"}, "srv/run", "2", []string{"launched:srv"}},
		{"above cwd", "command: ../bin/run\ncwd: srv\n", map[string]string{"srv/x": "1", "bin/run": "1"}, "bin/run", "2", []string{"launched:bin"}},
		{"a shell string", "command: sh\nargs: [-c, \"exec x\"]\n", map[string]string{"src/x": "1"}, "src/x", "2", []string{"launched:."}},
		{"a shell behind env", "command: env\nargs: [A=1, bash, -lc, \"exec x\"]\n", map[string]string{"src/x": "1"}, "src/x", "2", []string{"launched:."}},
		{"a script of package.json", "command: npm\nargs: [run, serve]\n", map[string]string{"src/x": "1", "package.json": "{}"}, "src/x", "2",
			[]string{"launched:."}},
		{"make", "command: make\nargs: [serve]\n", map[string]string{"src/x": "1", "Makefile": "serve:"}, "src/x", "2", []string{"launched:."}},
		{"a runner's configuration", valid, map[string]string{".npmrc": "registry=https://a"}, ".npmrc", "registry=https://b", []string{"runner:.npmrc"}},
		{"a runner's configuration that appears", valid, nil, ".npmrc", "registry=https://b", []string{"runner:.npmrc"}},
		{"node_modules", valid, map[string]string{"node_modules/a/index.js": "1"}, "node_modules/a/index.js", "2", []string{"runner:node_modules"}},
		{"configuration above cwd", "command: uvx\nargs: [a==1]\ncwd: srv/deep\n", map[string]string{"srv/uv.toml": "a"}, "srv/uv.toml", "b",
			[]string{"runner:srv/uv.toml"}},
		{"a versioned interpreter", "command: python3.12\nargs: [-V]\n", map[string]string{"pyproject.toml": "a"}, "pyproject.toml", "b",
			[]string{"runner:pyproject.toml"}},
		{"a compose file", "command: docker\nargs: [ps]\n", nil, "compose.yaml", "b", []string{"runner:compose.yaml"}},
		{"attributes at the root", valid, map[string]string{".gitattributes": "*.go text"}, ".gitattributes", "*.go -text", []string{"attributes:.gitattributes"}},
		{"attributes on the way", valid, nil, "agent/.gitattributes", "*.x text", []string{"attributes:agent/.gitattributes"}},
		{"attributes elsewhere", valid, nil, "doc/.gitattributes", "*.x text", []string{}},
		{"a file that nothing launches", valid, map[string]string{"src/x": "1"}, "src/x", "2", []string{}},
		{"a package file that no runner reads", "command: rust-server\n", nil, "package.json", "2", []string{}},
		{"a word that is also a directory", "command: srv\nargs: [docs]\n", map[string]string{"docs/x": "1"}, "docs/x", "2", []string{"launched:docs"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := decltest.Files(tt.files)
			before.Put("agent/mcp/docs.yaml", decl.ModeRegular, tt.server)
			after := before.Clone()
			if tt.to == "-" {
				after.Delete(tt.path)
			} else {
				after.Put(tt.path, decl.ModeRegular, tt.to)
			}
			if got := deltas(t, before, after); !slices.Equal(got, tt.want) {
				t.Errorf("changed items: %v, want %v", got, tt.want)
			}
			if got := deltas(t, before, before); len(got) != 0 {
				t.Errorf("a tree differs from itself: %v", got)
			}
		})
	}
}

func TestModesAreBound(t *testing.T) {
	before := decltest.Files(map[string]string{"agent/mcp/docs.yaml": "command: ./tools/run\n", "tools/run": "1"})
	after := before.Clone()
	after.Put("tools/run", decl.ModeExecutable, "1")
	if got := deltas(t, before, after); !slices.Equal(got, []string{"launched:tools"}) {
		t.Error(got)
	}
	after = before.Clone()
	after.Put("agent/mcp/docs.yaml", decl.ModeExecutable, "command: ./tools/run\n")
	if got := deltas(t, before, after); !slices.Equal(got, []string{"declaration:agent/mcp/docs.yaml"}) {
		t.Error(got)
	}
}

func TestReviewsOfTwoServersDoNotDisturbEachOther(t *testing.T) {
	before := decltest.Files(map[string]string{"agent/mcp/a.yaml": "command: ./a/run\n", "agent/mcp/b.yaml": "command: sh\nargs: [-c, x]\n", "a/run": "1"})
	after := before.Clone()
	after.Put("agent/mcp/a.yaml", decl.ModeRegular, "command: ./a/run\nargs: [x]\n")
	if got := deltas(t, before, after); !slices.Equal(got, []string{"declaration:agent/mcp/a.yaml"}) {
		t.Error(got)
	}
}

func TestEqualIDsAreNotRead(t *testing.T) {
	tree := decltest.Files(map[string]string{"agent/mcp/a.yaml": "command: ./a/run\n", "a/run": "1", "a/more": "2"})
	x, y := load(t, tree), load(t, tree)
	reads := tree.Reads
	if _, err := decl.Compare(t.Context(), x, y); err != nil || tree.Reads != reads {
		t.Errorf("%d reads, %v", tree.Reads-reads, err)
	}
}

func TestWhatIsRefusedInATree(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		links map[string]decl.Mode
		want  []string
	}{
		{"a symlinked declaration", nil, map[string]decl.Mode{"agent/mcp/x.yaml": decl.ModeSymlink}, []string{"agent/mcp/x.yaml entry_not_regular"}},
		{"a submodule as declaration", nil, map[string]decl.Mode{"agent/mcp/x.YML": decl.ModeSubmodule}, []string{"agent/mcp/x.YML entry_not_regular"}},
		{"a directory as declaration", map[string]string{"agent/mcp/x.yaml/y": ""}, nil, []string{"agent/mcp/x.yaml entry_not_regular"}},
		{"a symlinked agent", nil, map[string]decl.Mode{"agent": decl.ModeSymlink}, []string{"agent mcp_root_not_directory"}},
		{"a symlinked root", nil, map[string]decl.Mode{"agent/mcp": decl.ModeSymlink}, []string{"agent/mcp mcp_root_not_directory"}},
		{"a submodule as root", nil, map[string]decl.Mode{"agent/mcp": decl.ModeSubmodule}, []string{"agent/mcp mcp_root_not_directory"}},
		{"a symlinked agent.yaml", nil, map[string]decl.Mode{"agent.yaml": decl.ModeSymlink}, []string{"agent.yaml entry_not_regular"}},
		{"agent.yml", map[string]string{"agent.yml": ""}, nil, []string{"agent.yml agent_yml"}},
		{"two files of one server", map[string]string{"agent/mcp/a.yaml": valid, "agent/mcp/a.yml": valid}, nil,
			[]string{"agent/mcp/a.yaml server_id_duplicate", "agent/mcp/a.yml server_id_duplicate"}},
		{"two files of one server to a Mac", map[string]string{"agent/mcp/a.yaml": valid, "agent/mcp/A.yaml": valid}, nil,
			[]string{"agent/mcp/A.yaml server_id_duplicate", "agent/mcp/a.yaml server_id_duplicate"}},
		{"agent in other letter case", map[string]string{"Agent/mcp/a.yaml": valid}, nil, []string{"Agent folding_name"}},
		{"mcp in other letter case", map[string]string{"agent/MCP/a.yaml": valid}, nil, []string{"agent/MCP folding_name"}},
		{"agent.yaml in other letter case", map[string]string{"AGENT.yaml": ""}, nil, []string{"AGENT.yaml folding_name"}},
		{"an ignorable character (HFS)", map[string]string{"agent/m\u200dcp/a.yaml": valid}, nil, []string{"agent/m\u200dcp folding_name"}},
		{"a trailing dot (NTFS)", map[string]string{"agent./mcp/a.yaml": valid}, nil, []string{"agent. folding_name"}},
		{"a trailing space (NTFS)", map[string]string{"agent/mcp /a.yaml": valid}, nil, []string{"agent/mcp  folding_name"}},
		{"a stream (NTFS)", map[string]string{"agent.yaml:x": ""}, nil, []string{"agent.yaml:x folding_name"}},
		{"a short name (NTFS)", map[string]string{"AGENT~1.YAM": ""}, nil, []string{"AGENT~1.YAM folding_name"}},
		{"a trailing space behind a suffix", map[string]string{"agent/mcp/a.yaml": valid, "agent/mcp/x.yaml" + " ": ""}, nil, []string{"agent/mcp/x.yaml  folding_name"}},
		{"a backslash", map[string]string{`agent\mcp\a.yaml`: valid}, nil, []string{`agent\mcp\a.yaml backslash_name`}},
		{"a backslash in the root", map[string]string{"agent/mcp/a.yaml": valid, `agent/mcp/x\y`: ""}, nil, []string{`agent/mcp/x\y backslash_name`}},
		{"two cores to a Mac", map[string]string{"core/agent.yaml": "", "Core/x": ""}, nil, []string{"Core folding_name"}},
		{"a symlink that is launched", map[string]string{"agent/mcp/a.yaml": "command: ./bin/x\n"}, map[string]decl.Mode{"bin/x": decl.ModeSymlink},
			[]string{"bin/x bound_not_regular"}},
		{"a symlink beside what is launched", map[string]string{"agent/mcp/a.yaml": "command: ./bin/x\n", "bin/x": ""},
			map[string]decl.Mode{"bin/y": decl.ModeSymlink}, []string{"bin/y bound_not_regular"}},
		{"a submodule on the way", map[string]string{"agent/mcp/a.yaml": "command: ./bin/x\n"}, map[string]decl.Mode{"bin": decl.ModeSubmodule},
			[]string{"bin bound_not_regular"}},
		{"a symlinked working directory", map[string]string{"agent/mcp/a.yaml": "command: x\ncwd: w\n"}, map[string]decl.Mode{"w": decl.ModeSymlink},
			[]string{"w bound_not_regular"}},
		{"symlinked attributes", map[string]string{"agent/mcp/a.yaml": valid}, map[string]decl.Mode{".gitattributes": decl.ModeSymlink},
			[]string{".gitattributes bound_not_regular"}},
		{"a filter", map[string]string{"agent/mcp/a.yaml": valid, ".gitattributes": "*.yaml filter=evil"}, nil, []string{"agent/mcp/a.yaml attribute_converts"}},
		{"a filter behind a macro", map[string]string{"agent/mcp/a.yaml": valid, ".gitattributes": "agent/** m\n[attr]m ident"}, nil,
			[]string{"agent/mcp/a.yaml attribute_converts"}},
		{"an encoding", map[string]string{"agent/mcp/a.yaml": valid, "agent/.gitattributes": "/mcp/*.yaml working-tree-encoding=UTF-16"}, nil,
			[]string{"agent/mcp/a.yaml attribute_converts"}},
		{"export-ignore of what is launched", map[string]string{"agent/mcp/a.yaml": "command: ./bin/x\n", "bin/x": "", "bin/.gitattributes": "x export-ignore"}, nil,
			[]string{"bin/x attribute_converts"}},
		{"a filter taken back", map[string]string{"agent/mcp/a.yaml": valid, ".gitattributes": "* filter=x\nagent/** -filter\n"}, nil, []string{}},
		{"a filter elsewhere", map[string]string{"agent/mcp/a.yaml": valid, ".gitattributes": "doc/** filter=x\n"}, nil, []string{}},
		{"a quoted pattern", map[string]string{"agent/mcp/a.yaml": valid, ".gitattributes": "\"a b\" filter=x\n"}, nil, []string{"agent/mcp/a.yaml attribute_converts"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tree := decltest.Files(tt.files)
			for path, mode := range tt.links {
				tree.Put(path, mode, "target")
			}
			s := load(t, tree)
			if got := codes(s); !slices.Equal(got, tt.want) {
				t.Errorf("problems: %q, want %q", got, tt.want)
			}
			if s.Readable() != (len(tt.want) == 0) {
				t.Error("readable disagrees with the problems")
			}
		})
	}
}

func TestLFSIsNotedAndNotRefused(t *testing.T) {
	s := load(t, decltest.Files(map[string]string{"agent/mcp/a.yaml": valid, ".gitattributes": "*.yaml filter=lfs\n"}))
	if !s.Readable() || !slices.Equal(s.LFS, []string{"agent/mcp/a.yaml"}) {
		t.Errorf("%v %v", s.LFS, codes(s))
	}
}

func TestChangedFilesNamesThem(t *testing.T) {
	before := decltest.Files(map[string]string{"agent/mcp/a.yaml": "command: ./bin/x\n", "bin/x": "1", "bin/gone": "1", "bin/same": "1"})
	after := before.Clone()
	after.Put("bin/x", decl.ModeRegular, "2")
	after.Delete("bin/gone")
	after.Put("bin/new", decl.ModeRegular, "1")
	for _, noIDs := range []bool{false, true} {
		before.NoIDs, after.NoIDs = noIDs, noIDs
		x, y := load(t, before), load(t, after)
		key := decl.ItemKey{Kind: decl.KindLaunched, Path: "bin"}
		got, more, err := decl.ChangedFiles(t.Context(), x, y, key, 10)
		if err != nil || more || !slices.Equal(got, []string{"bin/gone", "bin/new", "bin/x"}) {
			t.Errorf("%v %v %v", got, more, err)
		}
		if got, more, _ := decl.ChangedFiles(t.Context(), x, y, key, 2); len(got) != 2 || !more {
			t.Errorf("limit: %v %v", got, more)
		}
	}
}

func TestNamesPathKnowsWhatExists(t *testing.T) {
	s := load(t, decltest.Files(map[string]string{"agent/mcp/a.yaml": "command: python\nargs: [tools/x.py, tools/none.py]\n", "tools/x.py": "1"}))
	d := s.Cores[0].Files[0].Decl
	if !s.NamesPath(d, redact.NewRaw("tools/x.py")) || s.NamesPath(d, redact.NewRaw("tools/none.py")) {
		t.Error("wrong answer")
	}
}

func TestTooManyFilesAreAProblem(t *testing.T) {
	tree := decltest.Files(map[string]string{"agent/mcp/a.yaml": "command: ./bin/x\n", "bin/x": ""})
	for i := range decl.MaxSurfaceFiles {
		tree.Put(fmt.Sprintf("bin/%05d", i), decl.ModeRegular, "")
	}
	if got := codes(load(t, tree)); !slices.Equal(got, []string{" surface_too_large"}) {
		t.Error(got)
	}
}

func TestABaseThatCannotBeReadIsBoundByItsBytes(t *testing.T) {
	for _, path := range []string{"agent.yaml", "agent/mcp/a.yaml"} {
		x := decltest.Files(map[string]string{"agent.yaml": "", "agent/mcp/a.yaml": valid})
		y := x.Clone()
		x.Put(path, decl.ModeRegular, "a: [1")
		y.Put(path, decl.ModeRegular, "a: [2")
		if got := deltas(t, x, y); len(got) != 1 || !strings.HasSuffix(got[0], path) {
			t.Errorf("%s: %v", path, got)
		}
	}
}

func TestAHugeDeclarationDoesNotBlockItsRemoval(t *testing.T) {
	x := decltest.Files(map[string]string{"agent/mcp/a.yaml": strings.Repeat("#", 17<<20)})
	for _, noIDs := range []bool{false, true} {
		for _, name := range []string{"agent/mcp/a.yaml", ".gitattributes"} {
			huge := decltest.Files(map[string]string{"agent/mcp/b.yaml": valid, name: strings.Repeat("#", 17<<20)})
			huge.NoIDs = noIDs
			if got := codes(load(t, huge)); len(got) != 1 || !strings.HasSuffix(got[0], "file_too_large") {
				t.Errorf("%s, without ids %v: %v", name, noIDs, got)
			}
		}
	}
	if got := deltas(t, x, decltest.Files(nil)); !slices.Contains(got, "declaration:agent/mcp/a.yaml") {
		t.Error(got)
	}
}

type failing struct{ decl.Tree }

func (failing) Read(context.Context, string, decl.Entry, int64) ([]byte, error) {
	return nil, errors.New("secret detail")
}

func TestAReadErrorIsNotAnEmptySurface(t *testing.T) {
	_, err := decl.LoadSurface(t.Context(), failing{decltest.Files(map[string]string{"agent/mcp/a.yaml": valid})}, decl.Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "surface_unreadable: agent/mcp/a.yaml") || strings.Contains(err.Error(), "detail") {
		t.Error(err)
	}
}
