package decl_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/decl/decltest"
)

// attributeWords are what random .gitattributes are made of: the forms that Git
// reads, drops, or reads in another way than it seems.
var attributeParts = struct{ patterns, attributes, ends []string }{
	patterns: []string{
		"*", "*.yaml", "*.YAML", "**", "/agent/mcp/*", "agent/**", "agent/**/docs.yaml", "mcp/docs.yaml", "docs.????", "agent/", "!docs.yaml",
		"\"*.yaml\"", "\"*\\056yaml\"", "\"docs.yaml", "[d]ocs.yaml", "doc\\s.yaml", "[attr]m", "[attr]n", "[attr] m", "\"[attr]m\"", "\ufeff*", "#*", " *",
		"/", "**/docs.yaml", "**docs.yaml", "agent**docs.yaml", "é*", "?????.yaml", "*/*", "/*/*/*.yaml", "nothing",
	},
	attributes: []string{
		"filter=evil", "filter=lfs", "-filter", "!filter", "filter", "filter=", "ident", "-ident", "!ident", "m", "-m", "!m", "n", "-n", "m=1",
		"text", "-text", "@bad", "--filter", "filter=evil\x00", "working-tree-encoding=UTF-16", "export-ignore", "-export-ignore", "\"ident\"",
		"filter=\"", "ident\u00a0", "-ident\v", "# why", "builtin_x", "[attr]m", "export-subst=1",
	},
	ends: []string{"\n", "\r\n", " \n", "\t\r\n", "\n\n", "\x00\n", "\u0085\n", "\r"},
}

func randomAttributes(r *rand.Rand) string {
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	var s strings.Builder
	if r.IntN(10) == 0 {
		s.WriteString("\ufeff")
	}
	for range r.IntN(6) {
		s.WriteString(pick(attributeParts.patterns))
		for range 1 + r.IntN(3) {
			if r.IntN(20) > 0 {
				s.WriteByte(' ')
			}
			s.WriteString(pick(attributeParts.attributes))
		}
		s.WriteString(pick(attributeParts.ends))
	}
	return s.String()
}

// TestAttributesAreReadAsGitReadsThem asks Git what it makes of random
// attributes. Wherever Git would convert a bound path, it must be refused; to
// refuse more is safe.
func TestAttributesAreReadAsGitReadsThem(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull}
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %s: %v", args[0], err)
		}
		return string(out)
	}
	git("init", "-q")
	r := rand.New(rand.NewPCG(1, 2))
	converted := 0
	for n := range 200 {
		files := map[string]string{"agent/mcp/docs.yaml": valid, "agent/mcp/é.yaml": valid}
		for _, in := range []string{"", "agent/", "agent/mcp/"} {
			text := randomAttributes(r)
			files[in+".gitattributes"] = text
			name := filepath.Join(dir, in, ".gitattributes")
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		problems := codes(load(t, decltest.Files(files)))
		fields := strings.Split(git("check-attr", "-z", "filter", "ident", "working-tree-encoding", "export-subst", "export-ignore", "--",
			"agent/mcp/docs.yaml", "agent/mcp/é.yaml"), "\x00")
		for i := 0; i+2 < len(fields); i += 3 {
			path, name, value := fields[i], fields[i+1], fields[i+2]
			if value == "unspecified" || value == "unset" || name == "filter" && value == "lfs" {
				continue
			}
			converted++
			if !slices.Contains(problems, path+" attribute_converts") {
				t.Errorf("case %d: Git gives %s %s=%q, and nothing is refused:\n%q\n%q\n%q", n, path, name, value,
					files[".gitattributes"], files["agent/.gitattributes"], files["agent/mcp/.gitattributes"])
			}
		}

	}

	if converted == 0 {
		t.Error("Git converts nothing: the test shows nothing")
	}
}

// FuzzAttributes: whatever stands in front, a last line that every Git reads
// decides.
func FuzzAttributes(f *testing.F) {
	for _, p := range attributeParts.patterns {
		for _, a := range attributeParts.attributes {
			f.Add(p + " " + a + "\n")
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		const path = "agent/mcp/docs.yaml"
		read := func(text string) []string {
			return codes(load(t, decltest.Files(map[string]string{path: valid, ".gitattributes": text})))
		}
		read(text)
		if len(text) > decl.MaxFileBytes-100 || strings.Count(text, "\n") > 100 {
			return
		}
		if got := read(text + "\n*.yaml filter=evil\n"); len(got) == 0 {
			t.Errorf("a filter behind %q is not refused", text)
		}
		off := "\n* -filter -ident -working-tree-encoding -export-subst -export-ignore\n"
		if got := read(text + off); slices.Contains(got, path+" attribute_converts") {
			t.Errorf("all is unset behind %q, and yet %v", text, got)
		}
	})
}
