package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

func page(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestCommandsPageNamesEveryCommandAndFlag: a command that is not in the manual
// does not exist for a reader.
func TestCommandsPageNamesEveryCommandAndFlag(t *testing.T) {
	text := page(t, "docs/commands.md")
	everywhere := map[string]bool{"format": true, "q": true, "v": true, "quiet": true, "verbose": true}
	var walk func(prefix string, list []*cli.Command)
	walk = func(prefix string, list []*cli.Command) {
		for _, c := range list {
			if !strings.Contains(text, c.Name) {
				t.Errorf("docs/commands.md does not name %s%s", prefix, c.Name)
			}
			for _, f := range c.Flags {
				name := f.Names()[0]
				if !everywhere[name] && !strings.Contains(text, "--"+name) {
					t.Errorf("docs/commands.md does not name --%s of %s%s", name, prefix, c.Name)
				}
			}
			walk(prefix+c.Name+" ", c.Subcommands)
		}
	}
	walk("", (&program{}).app().Commands)
}

// TestHelpFitsATerminal: every page of help has lines of at most 80 columns, and
// names every flag of its command.
func TestHelpFitsATerminal(t *testing.T) {
	fits := func(what, text string) {
		t.Helper()
		for line := range strings.Lines(text) {
			if line = strings.TrimSuffix(line, "\n"); len([]rune(line)) > helpWidth {
				t.Errorf("evolve %s: %q is too long", what, line)
			}
		}
	}
	var walk func(prefix []string, list []*cli.Command)
	walk = func(prefix []string, list []*cli.Command) {
		for _, c := range list {
			words := append(slices.Clone(prefix), c.Name)
			text := helpText(t, append(words, "--help")...)
			fits(strings.Join(words, " "), text)
			for _, f := range c.Flags {
				if left, _ := flagHelp(f); !strings.Contains(text, "   "+left+" ") {
					t.Errorf("evolve %s --help does not show %s", strings.Join(words, " "), left)
				}
			}
			walk(words, c.Subcommands)
		}
	}
	fits("--help", helpText(t, "--help"))
	walk(nil, (&program{}).app().Commands)
}

// helpText runs a command and returns its standard output.
func helpText(t *testing.T, args ...string) string {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	if status := run(t.Context(), args, streams{in: os.Stdin, out: out, err: out}); status != exitDone {
		t.Errorf("evolve %v: exit status %d", args, status)
	}
	data, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestExitStatusesOfTheManualAreThoseOfTheTable(t *testing.T) {
	text := page(t, "docs/commands.md")
	for code, status := range exitStatus {
		if !strings.Contains(text, "| "+strconv.Itoa(status)+" |") {
			t.Errorf("docs/commands.md does not explain exit status %d (%s)", status, code)
		}
	}
}

// TestTokensPageNamesEveryCode: each refusal of a token has its row.
func TestTokensPageNamesEveryCode(t *testing.T) {
	text := page(t, "docs/tokens.md")
	for code, status := range exitStatus {
		if status == exitToken && !strings.Contains(text, "`"+string(code)+"`") {
			t.Errorf("docs/tokens.md does not name %s", code)
		}
	}
}

// TestDeclarationsPageNamesEveryProblem reads the codes out of the source.
func TestDeclarationsPageNamesEveryProblem(t *testing.T) {
	text := page(t, "docs/declarations.md")
	codes := regexp.MustCompile(`ProblemCode = "([a-z_]+)"`).FindAllStringSubmatch(page(t, "internal/decl/problem.go"), -1)
	if len(codes) < 25 {
		t.Fatalf("only %d codes found", len(codes))
	}
	for _, c := range codes {
		if !strings.Contains(text, "`"+c[1]+"`") {
			t.Errorf("docs/declarations.md does not name %s", c[1])
		}
	}
}

// TestSettingsOfTheManualExist: every evolve.* setting in the source is in the
// manual, and the other way round.
func TestSettingsOfTheManualExist(t *testing.T) {
	setting := regexp.MustCompile(`evolve\.[a-z][A-Za-z]+`)
	source, manual := map[string]bool{}, map[string]bool{}
	for _, m := range regexp.MustCompile(`"(evolve\.[a-z][A-Za-z]+)"`).FindAllStringSubmatch(page(t, "review/policy.go"), -1) {
		source[m[1]] = true
	}
	for _, line := range strings.Split(page(t, "docs/tokens.md"), "\n") {
		if strings.HasPrefix(line, "| `evolve.") {
			manual[setting.FindString(line)] = true
		}
	}
	if len(source) < 8 {
		t.Fatalf("only %d settings found in the source", len(source))
	}
	for s := range source {
		if !manual[s] {
			t.Errorf("docs/tokens.md does not explain %s", s)
		}
	}
	for s := range manual {
		if !source[s] {
			t.Errorf("docs/tokens.md explains %s, which the source does not read", s)
		}
	}
}

// TestLinksOfThePagesLead somewhere.
func TestLinksOfThePagesLead(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)\)`)
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(pages, filepath.Join("..", "..", "README.md"), filepath.Join("..", "..", "ARCHITECTURE.md")) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(data), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s links to %s, which is not there", filepath.Base(name), m[1])
			}
		}
	}
}

// TestMakeTargetsOfThePagesExist: what the pages tell people to run.
func TestMakeTargetsOfThePagesExist(t *testing.T) {
	makefile := page(t, "Makefile")
	for _, name := range []string{"README.md", "CONTRIBUTING.md", ".ci/run"} {
		for _, m := range regexp.MustCompile(`(?m)^\s*make ([a-z-]+)`).FindAllStringSubmatch(page(t, name), -1) {
			if !strings.Contains(makefile, "\n"+m[1]+":") {
				t.Errorf("%s runs make %s, which does not exist", name, m[1])
			}
		}
	}
}
