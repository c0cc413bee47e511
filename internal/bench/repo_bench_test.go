//go:build bench

package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// shape says what repository is made.
type shape struct {
	name    string
	objects int // about
	packs   int
	// shared makes a repository that borrows all objects from another.
	shared bool
	refs   int // beside live and main
	// servers is how many declarations there are, changed how many of them main
	// changes.
	servers, changed int
	// behind is how many commits live has since the base of the review.
	behind int
	// launched is how many files the directory holds that a server is started from.
	launched int
}

// repo is a repository to measure in.
type repo struct {
	shape
	dir string
	env []string
	// base is the commit of live when main was reviewed, live and main are
	// commits too.
	base, live, main string
	token            string
}

// makeRepo makes a bare repository. Its history touches other files only; the
// declarations are in its first commit, and main changes some of them.
func makeRepo(t *testing.T, s shape) *repo {
	t.Helper()
	top := t.TempDir()
	r := &repo{shape: s, dir: filepath.Join(top, "repo")}
	for k, v := range gittest.Environment(top) {
		r.env = append(r.env, k+"="+v)
	}
	r.git(t, "", "init", "-q", "--bare", "-b", "main", r.dir)
	r.stream(t, r.history, "fast-import", "--quiet", "--depth=1")
	r.live, r.main = r.git(t, r.dir, "rev-parse", "live"), r.git(t, r.dir, "rev-parse", "main")
	r.base = r.git(t, r.dir, "rev-parse", fmt.Sprintf("live~%d", s.behind))
	if s.shared {
		borrower := filepath.Join(top, "borrower")
		r.git(t, "", "clone", "-q", "--bare", "--shared", r.dir, borrower)
		r.dir = borrower
	}
	if s.refs > 0 {
		r.manyRefs(t)
	}
	r.trust(t, top)
	out := r.evolve(t, "review", r.main, "--ref", "refs/heads/live", "--base", r.base, "--approve")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	r.token = lines[len(lines)-1]
	return r
}

// trust makes a key that may review: a bare repository gets none by itself.
func (r *repo) trust(t *testing.T, top string) {
	t.Helper()
	key := filepath.Join(top, "key")
	out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key).CombinedOutput()
	if err != nil {
		t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	public, err := os.ReadFile(key + ".pub")
	noError(t, err)
	signers := filepath.Join(top, "signers")
	line := `grace@example.com namespaces="mcp-review@evolve,mcp-revoke@evolve" ` + string(public)
	noError(t, os.WriteFile(signers, []byte(line), 0o600))
	for k, v := range map[string]string{
		"evolve.signingKey": key, "gpg.ssh.allowedSignersFile": signers,
		"evolve.repository": "bench", "evolve.guard": "refs/heads/live", "receive.advertisePushOptions": "true",
	} {
		r.git(t, r.dir, "config", k, v)
	}
}

// manyRefs packs refs beside the two branches, written as git pack-refs does.
func (r *repo) manyRefs(t *testing.T) {
	t.Helper()
	r.stream(t, func(w *bufio.Writer) {
		for i := range r.refs {
			fmt.Fprintf(w, "create refs/heads/other/%06d %s\n", i, r.live)
		}
	}, "update-ref", "--stdin")
	r.git(t, r.dir, "pack-refs", "--all")
}

const (
	directories = 100
	perCommit   = 17 // blobs; with two trees and the commit, 20 objects
	perChange   = perCommit + 3
)

// stream runs git with a long input, which is never held as a whole: what this
// process once needed would count as its children's.
func (r *repo) stream(t *testing.T, write func(*bufio.Writer), args ...string) {
	t.Helper()
	reader, writer := io.Pipe()
	go func() {
		w := bufio.NewWriter(writer)
		write(w)
		_ = w.Flush()
		_ = writer.Close()
	}()
	r.gitInput(t, reader, r.dir, args...)
}

// history is what git fast-import makes.
func (r *repo) history(w *bufio.Writer) {
	when := 1767258000
	commit := func(branch, from string) {
		when++
		fmt.Fprintf(w, "commit refs/heads/%s\ncommitter Grace Example <grace@example.com> %d +0000\ndata 1\nc\n", branch, when)
		if from != "" {
			fmt.Fprintf(w, "from %s\n", from)
		}
	}
	file := func(path, data string) { fmt.Fprintf(w, "M 100644 inline %s\ndata %d\n%s\n", path, len(data), data) }
	commit("live", "")
	for i := range r.servers {
		file(fmt.Sprintf("agent/mcp/server%04d.yaml", i), declaration(i, 0, r.launched > 0))
	}
	for i := range r.launched {
		file(fmt.Sprintf("servers/lib%02d/file%04d.js", i%50, i), fmt.Sprintf("// file %d\n%s\n", i, strings.Repeat("x", 200)))
	}
	commits := max(1, r.behind, (r.objects-r.servers-r.launched)/perChange)
	for n := range commits {
		commit("live", "")
		for i := range perCommit {
			file(fmt.Sprintf("src/d%02d/f%03d", n%directories, (n/directories*perCommit+i)%1000), fmt.Sprintf("%d %d\n", n, i))
		}
		if r.packs > 1 && n%max(1, commits/r.packs) == 0 {
			fmt.Fprint(w, "checkpoint\n\n")
		}
	}
	commit("main", "refs/heads/live")
	for i := range r.changed {
		file(fmt.Sprintf("agent/mcp/server%04d.yaml", i), declaration(i, 1, r.launched > 0))
	}
	if r.launched > 0 {
		file("servers/lib00/file0000.js", "// changed\n")
	}
}

func declaration(n, version int, launches bool) string {
	if launches {
		return fmt.Sprintf("command: node\nargs: [\"servers/lib00/file0000.js\", \"--port\", \"%d\"]\ncwd: .\n# version %d\n"+
			"env:\n  API_TOKEN: ${API_TOKEN}\n  NODE_PATH: servers\n", 8000+n, version)
	}
	return fmt.Sprintf("command: npx\nargs: [\"-y\", \"example-server-%d@1.%d.0\", \"--verbose\"]\nenv:\n  API_TOKEN: ${API_TOKEN_%d}\n"+
		"risk: high\napproval_policy: prompt\ntimeout_seconds: %d\n", n, version, n, 30+version)
}

func (r *repo) git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return r.gitInput(t, nil, dir, args...)
}

func (r *repo) gitInput(t *testing.T, in io.Reader, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, r.env, in
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", args[0], err, stderr.Bytes())
	}
	return strings.TrimSpace(string(out))
}

func (r *repo) evolve(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(program("evolve"), args...)
	cmd.Dir, cmd.Env = r.dir, r.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("evolve %s: %v\n%s%s", args[0], err, out, stderr.Bytes())
	}
	return string(out)
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
