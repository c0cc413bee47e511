package hooks_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/hooks"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// block is the shell text of a page between "```sh NAME" and "```".
func block(t *testing.T, name string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "docs", "server.md"))
	noError(t, err)
	_, rest, ok := strings.Cut(string(page), "\n```sh "+name+"\n")
	if !ok {
		t.Fatalf("docs/server.md has no block %q", name)
	}
	text, _, _ := strings.Cut(rest, "\n```")
	return text + "\n"
}

// steps are the shell lines of a workflow file: what stands indented below "run: |"
// after a step of that name, or the items of "script:". YAML itself is read by one
// package only.
func steps(t *testing.T, file, from string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "docs", "ci", file))
	noError(t, err)
	_, rest, ok := strings.Cut(string(data), from)
	if !ok {
		t.Fatalf("%s has no %q", file, from)
	}
	item := regexp.MustCompile(`(?m)^ +(?:- )?(.*)$`)
	out := ""
	for _, m := range item.FindAllStringSubmatch(rest, -1) {
		out += m[1] + "\n"
	}
	if !strings.Contains(out, "evolve verify") {
		t.Fatalf("%s: the steps are %q", file, out)
	}
	return out
}

// programs builds evolve and evolve-hook into one directory.
func programs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	out, err := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "../cmd/evolve", "../cmd/evolve-hook").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// hosted is a host without hooks: a bare repository whose main is at base, and a
// merge request for a change, once with a trailer for its token and once without.
type hosted struct {
	*site
	host    *gittest.Repo
	token   string
	signers string
}

func newHosted(t *testing.T) *hosted {
	s := newSite(t)
	h := &hosted{site: s, host: s.server}
	for _, name := range hooks.Names {
		noError(t, os.Remove(s.server.Path("hooks/"+name)))
	}
	data, err := os.ReadFile(s.server.Git("config", "gpg.ssh.allowedSignersFile"))
	noError(t, err)
	h.signers = string(data)
	head := s.change("1.1.0")
	token := s.review(mainRef, s.base, head)
	h.token = token.String()
	s.accepted("HEAD:refs/pull/7/merge", record(token))
	s.clone.Git("commit", "-q", "--allow-empty", "-m", "Reviewed", "-m", "MCP-Review: "+h.token)
	s.accepted("HEAD:refs/pull/8/merge")
	return h
}

// runner is a fresh checkout, as a pipeline has it, and what its steps print.
func (h *hosted) runner(script string, env ...string) (string, error) {
	h.t.Helper()
	r := gittest.New(h.t)
	r.Git("remote", "add", "origin", h.host.Dir())
	r.Git("fetch", "-q", "origin", "main")
	r.Git("checkout", "-q", "--detach", "FETCH_HEAD")
	cmd := exec.Command("bash", "-e", "-c", script)
	cmd.Dir, cmd.Env = r.Dir(), r.Env(env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The shell steps of the workflow files, run as those hosts run them. Installing
// evolve from the network is the one step that is left out.
func TestWorkflowSteps(t *testing.T) {
	h := newHosted(t)
	bin := programs(t)
	path := "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")
	for _, request := range []struct {
		number string
		good   bool
	}{{"7", false}, {"8", true}} {
		temp := t.TempDir()
		out, err := h.runner(steps(t, "github-actions.yml", "SIGNERS }}\n        run: |\n"), path, "RUNNER_TEMP="+temp,
			"GITHUB_REPOSITORY="+repository, "SIGNERS="+h.signers, "BASE=main", "NUMBER="+request.number)
		h.verdict("GitHub Actions", request.good, out, err)

		file := filepath.Join(temp, "EVOLVE_SIGNERS")
		noError(t, os.WriteFile(file, []byte(h.signers), 0o666))
		sha := h.host.Git("rev-parse", "refs/pull/"+request.number+"/merge")
		fetch := "git fetch -q origin " + sha + "\n" // a runner has the commit that it is for
		out, err = h.runner(fetch+steps(t, "gitlab-ci.yml", "  script:\n"), path, "EVOLVE_SIGNERS="+file, "CI_PROJECT_PATH="+repository,
			"CI_COMMIT_SHA="+sha, "CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main")
		h.verdict("GitLab CI", request.good, out, err)

		set := "git config evolve.repository " + repository + "\ngit config gpg.ssh.allowedSignersFile " + filepath.Join(temp, "signers") + "\n"
		out, err = h.runner(set+block(t, "gerrit"), path, "GERRIT_BRANCH=main", "GERRIT_REFSPEC=refs/pull/"+request.number+"/merge", "GERRIT_PATCHSET_REVISION="+sha)
		h.verdict("Gerrit", request.good, out, err)
	}
}

func (h *hosted) verdict(where string, good bool, out string, err error) {
	h.t.Helper()
	if good && err != nil {
		h.t.Errorf("%s: a reviewed change: %v\n%s", where, err, out)
	}
	if !good && (err == nil || !strings.Contains(out, "token_missing")) {
		h.t.Errorf("%s: a change without a token: %v\n%s", where, err, out)
	}
}

// The table of variables in the page is the one in the program.
func TestServerPageNamesEveryVariable(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "server.md"))
	noError(t, err)
	for _, v := range hooks.Variables {
		if !strings.Contains(string(page), "| `"+v.Name+"` | `"+v.Name+"` |") {
			t.Errorf("docs/server.md does not name %s", v.Name)
		}
	}
}
