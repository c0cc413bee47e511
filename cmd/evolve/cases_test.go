package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// declarationCase is the part of a case.json that concerns what is printed.
type declarationCase struct {
	SecretForms  []struct{ Value string } `json:"secret_forms"`
	SecretsToken []any                    `json:"secrets_token"`
	MustShow     []struct {
		Fact   string
		Tokens []string
	} `json:"must_show"`
	Paths    map[string]string
	GitModes map[string]string            `json:"git_modes"`
	Files    map[string]map[string]string `json:"files"`
}

// TestCasesInTextAndJSON runs the whole program on every declaration case, as two
// commits of a real repository, and searches all that it prints.
func TestCasesInTextAndJSON(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join("..", "..", "testdata", "declarations", "cases", "*"))
	if err != nil || len(dirs) != 92 {
		t.Fatalf("%d cases, %v", len(dirs), err)
	}
	repo := gittest.New(t)
	var stream bytes.Buffer
	cases := map[string]declarationCase{}
	for _, dir := range dirs {
		name := filepath.Base(dir)
		var c declarationCase
		if err := json.Unmarshal(unmarked(t, filepath.Join(dir, "case.json")), &c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		cases[name] = c
		for _, side := range []string{"before", "after"} {
			importCommit(t, &stream, dir, name, side, c)
		}
	}
	repo.GitInput(stream.String(), "fast-import", "--quiet")
	for name, c := range cases {
		for _, format := range []string{"text", "json"} {
			t.Run(name+"/"+format, func(t *testing.T) {
				out, status := runHere(t, repo, "diff", "--format", format, "refs/heads/"+name+"-before", "refs/heads/"+name+"-after")
				if status != 0 {
					t.Fatalf("exit status %d", status)
				}
				checkPrinted(t, c, out)
			})
		}
	}
}

func unmarked(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(data, []byte("{{}}"), nil)
}

// importCommit writes one side of a case for git fast-import.
func importCommit(t *testing.T, w *bytes.Buffer, dir, name, side string, c declarationCase) {
	t.Helper()
	fmt.Fprintf(w, "commit refs/heads/%s-%s\ncommitter t <t@t.invalid> 1767225600 +0000\ndata %d\n%s\n", name, side, len(side), side)
	file := func(mode, path string, data []byte) {
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path)
		if mode == "160000" {
			fmt.Fprintf(w, "M 160000 %s \"%s\"\n", strings.TrimSpace(string(data)), quoted)
			return
		}
		fmt.Fprintf(w, "M %s inline \"%s\"\ndata %d\n%s\n", mode, quoted, len(data), data)
	}
	file("100644", "README.md", []byte("x\n"))
	if files, ok := c.Files[side]; ok {
		for path, source := range files {
			file("100644", path, unmarked(t, filepath.Join(dir, source)))
		}
		return
	}
	if c.Paths[side] == "" {
		return
	}
	mode := c.GitModes[side]
	if mode == "" {
		mode = "100644"
	}
	file(mode, c.Paths[side], unmarked(t, filepath.Join(dir, side+".yaml")))
}

// runHere runs the program in this process and returns all that it printed.
func runHere(t *testing.T, repo *gittest.Repo, args ...string) (printed string, status int) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	in, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	status = run(t.Context(), append([]string{"-C", repo.Dir()}, args...), streams{in: in, out: out, err: out, env: repo.Env()})
	data, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(data), status
}

func checkPrinted(t *testing.T, c declarationCase, out string) {
	t.Helper()
	for _, f := range c.SecretForms {
		if strings.Contains(out, f.Value) {
			t.Errorf("a form of the secret is printed (%d bytes)", len(f.Value))
		}
	}
	for _, s := range c.SecretsToken {
		if s, ok := s.(string); ok && strings.Contains(out, s) {
			t.Errorf("a raw control character is printed")
		}
	}
	for _, r := range out {
		if r < 0x20 && r != '\n' || r >= 0x7f && !strings.ContainsRune("→^", r) {
			t.Errorf("%q is printed", r)
		}
	}
	for _, m := range c.MustShow {
		for _, token := range m.Tokens {
			if !strings.Contains(out, token) {
				t.Errorf("%s: %q is not printed", m.Fact, token)
			}
		}
	}
}
