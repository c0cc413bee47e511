package law

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/evolve-mcp/evolve/"

// allowed lists, for every package, what it may import of this module. A
// package that is missing here, or a directory that is missing on disk, fails.
var allowed = map[string][]string{
	"internal/bench":         {},
	"internal/pattern":       {},
	"internal/workers":       {},
	"internal/fault":         {},
	"internal/safetext":      {},
	"internal/redact":        {"internal/fault", "internal/safetext"},
	"internal/decl":          {"internal/pattern", "internal/workers", "internal/fault", "internal/redact", "internal/safetext"},
	"internal/gitrepo":       {"internal/decl", "internal/fault", "internal/safetext"},
	"internal/gitrepo/gogit": {"internal/decl", "internal/fault", "internal/gitrepo", "internal/safetext"},
	"internal/netguard":      {"internal/fault"},
	"internal/law":           {},
	"internal/soak":          {},
	"internal/validation": {
		"internal/decl", "internal/fault", "internal/safetext", "internal/workspace", "runtime",
	},
	"internal/workspace": {"internal/decl", "internal/fault", "internal/safetext"},
	"securitydiff":       {"internal/pattern", "internal/workers", "internal/decl", "internal/fault", "internal/netguard", "internal/redact", "internal/safetext"},
	"review":             {"internal/pattern", "internal/decl", "internal/fault", "internal/gitrepo", "internal/redact", "internal/safetext"},
	"promote": {
		"internal/decl", "internal/fault", "internal/gitrepo", "internal/safetext", "review",
	},
	"hooks":           {"internal/fault", "internal/gitrepo", "internal/safetext", "promote", "review"},
	"internal/render": {"internal/fault", "internal/redact", "internal/safetext", "securitydiff"},
	"runtime": {
		"internal/decl", "internal/fault", "internal/netguard", "internal/redact", "internal/safetext",
	},
	"cmd/evolve-hook": {"hooks", "internal/fault"},
	"cmd/evolve": {
		"hooks",
		"internal/decl", "internal/fault", "internal/gitrepo", "internal/gitrepo/gogit", "internal/redact", "internal/render",
		"internal/safetext", "internal/validation", "promote", "review", "runtime", "securitydiff",
	},
}

// only lists modules that one package alone may import, tests included.
var only = map[string]string{
	"github.com/urfave/cli/v2":    "cmd/evolve",
	"github.com/go-git/go-git/v5": "internal/gitrepo/gogit",
	"github.com/mark3labs/mcp-go": "runtime",
	"gopkg.in/yaml.v3":            "internal/decl",
	"github.com/sergi/go-diff":    "securitydiff",
	"github.com/hiddeco/sshsig":   "review",
	"golang.org/x/term":           "cmd/evolve",
}

// testOnly lists modules that no shipped code may import.
var testOnly = []string{
	"github.com/rogpeppe/go-internal", "github.com/google/go-cmp", "go.uber.org/goleak",
	"github.com/santhosh-tekuri/jsonschema",
}

func TestEveryPackageImportsOnlyWhatItsRoomAllows(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range sources(t) {
		room := roomOf(f.dir)
		seen[room] = true
		may, known := allowed[room]
		if !known {
			t.Errorf("%s: package %s has no line in the import law", f.name, f.dir)
			continue
		}
		for _, imp := range f.imports {
			inner, ours := strings.CutPrefix(imp, module)
			if ours && !f.test && !isTestPackage(f.dir) && roomOf(inner) != room && !slices.Contains(may, roomOf(inner)) {
				t.Errorf("%s imports %s: %s may import %v", f.name, inner, room, may)
			}
			if ours && !f.test && !isTestPackage(f.dir) && isTestPackage(inner) {
				t.Errorf("%s: shipped code imports the test package %s", f.name, inner)
			}
			for lib, owner := range only {
				if (imp == lib || strings.HasPrefix(imp, lib+"/")) && room != owner {
					t.Errorf("%s imports %s: only %s may", f.name, imp, owner)
				}
			}
			for _, lib := range testOnly {
				if strings.HasPrefix(imp, lib) && !f.test && !isTestPackage(f.dir) {
					t.Errorf("%s imports %s: only tests may", f.name, imp)
				}
			}
		}
	}
	for name := range allowed {
		if !seen[name] {
			t.Errorf("the import law names %s, which does not exist", name)
		}
	}
}

// TestTheMapNamesEveryRoom: ARCHITECTURE.md is what a newcomer steers by.
func TestTheMapNamesEveryRoom(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	for room := range allowed {
		if !strings.Contains(string(page), "| `"+room+"` |") {
			t.Errorf("ARCHITECTURE.md has no row for %s", room)
		}
	}
}

// TestOnlyGitrepoAndTheRuntimeRunPrograms: os/exec is a way around the reader's clean
// environment and caps.
func TestOnlyGitrepoAndTheRuntimeRunPrograms(t *testing.T) {
	for _, f := range sources(t) {
		r := roomOf(f.dir)
		if f.test || r == "internal/gitrepo" || r == "runtime" {
			continue
		}
		if slices.Contains(f.imports, "os/exec") {
			t.Errorf("%s imports os/exec", f.name)
		}
	}
}

// TestNothingBelowCmdKnowsTheProcess: environment, arguments and exit belong to
// cmd.
func TestNothingBelowCmdKnowsTheProcess(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || strings.HasPrefix(f.dir, "cmd/") || isTestPackage(f.dir) {
			continue
		}
		for _, word := range []string{"os.Exit(", "os.Args", "os.Getenv(", "os.LookupEnv(", "os.Environ("} {
			if strings.Contains(f.text, word) {
				t.Errorf("%s uses %s", f.name, strings.TrimSuffix(word, "("))
			}
		}
	}
}

type source struct {
	name, dir, text string
	imports         []string
	test            bool
}

func sources(t *testing.T) []source {
	t.Helper()
	root := filepath.Join("..", "..")
	var out []source
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == "testdata" || name == "dist" || name == "bin" || name != ".." && strings.HasPrefix(name, ".") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), p, data, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		rel = filepath.ToSlash(rel)
		s := source{name: rel, dir: path.Dir(rel), text: string(data), test: strings.HasSuffix(rel, "_test.go")}
		for _, i := range parsed.Imports {
			imp, _ := strconv.Unquote(i.Path.Value)
			s.imports = append(s.imports, imp)
		}
		out = append(out, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 20 {
		t.Fatalf("only %d source files found: the walk is broken", len(out))
	}
	return out
}

// roomOf is the package of the law that a directory belongs to: subpackages live
// under their parent's line.
func roomOf(dir string) string {
	for d := dir; d != "." && d != "/"; d = path.Dir(d) {
		if _, ok := allowed[d]; ok {
			return d
		}
	}
	return dir
}

// isTestPackage reports whether a package exists for tests only, as the ending
// of its name or of a parent's says (net/http/httptest is the model).
func isTestPackage(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool {
		return strings.HasSuffix(part, "test") || strings.HasSuffix(part, "cases")
	})
}
