package gittest

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Removed is the content that removes a file in Commit.
const Removed = "\x00removed"

// Repo is a repository in a directory of its test. Every failure of git ends
// the test.
type Repo struct {
	t       testing.TB
	dir     string
	env     map[string]string
	bare    bool
	commits *int // shared by all that At returns
}

// Option is how New makes a repository.
type Option func(*settings)

type settings struct{ init []string }

// Bare makes a repository without a worktree.
func Bare(s *settings) { s.init = append(s.init, "--bare") }

// SHA256 makes a repository whose object ids are SHA-256.
func SHA256(s *settings) { s.init = append(s.init, "--object-format=sha256") }

// Reftable makes a repository that keeps its refs in tables; see HasReftable.
func Reftable(s *settings) { s.init = append(s.init, "--ref-format=reftable") }

// HasReftable reports whether this git knows that format, as 2.45 and newer do.
// make test-newer-git runs the tests with one that does.
var HasReftable = sync.OnceValue(func() bool {
	dir, err := os.MkdirTemp("", "reftable-*")
	if err != nil {
		return false
	}
	defer func() { _ = os.RemoveAll(dir) }()
	cmd := exec.Command("git", "init", "-q", "--ref-format=reftable", dir)
	cmd.Env = list(Environment(dir))
	return cmd.Run() == nil
})

// New makes an empty repository whose branch is main, in a temporary directory
// of the test and in the environment that Environment describes.
func New(t testing.TB, options ...Option) *Repo {
	t.Helper()
	var s settings
	for _, o := range options {
		o(&s)
	}
	top := t.TempDir()
	// Git prints paths without symbolic links; so do these.
	if real, err := filepath.EvalSymlinks(top); err == nil {
		top = real
	}
	r := &Repo{t: t, dir: filepath.Join(top, "repo"), env: Environment(top), commits: new(int)}
	if err := os.Mkdir(r.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	r.Git(append([]string{"init", "-q"}, s.init...)...)
	r.bare = r.Git("rev-parse", "--is-bare-repository") == "true"
	return r
}

// At is the same user at work in another directory: a linked worktree, a clone.
func (r *Repo) At(dir string) *Repo {
	other := *r
	other.dir = dir
	other.bare = other.Git("rev-parse", "--is-bare-repository") == "true"
	return &other
}

// Dir is the top of the worktree, or the bare repository itself.
func (r *Repo) Dir() string { return r.dir }

// Path is the path of a file in Dir, named with slashes.
func (r *Repo) Path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

// Env is the environment that Git runs in, as os.Environ gives it, followed by
// the caller's own NAME=VALUE pairs.
func (r *Repo) Env(more ...string) []string { return append(list(r.env), more...) }

// Git runs git in Dir and returns what it prints, without the last line break.
func (r *Repo) Git(args ...string) string {
	r.t.Helper()
	return r.GitInput("", args...)
}

// GitInput is Git with a standard input.
func (r *Repo) GitInput(input string, args ...string) string {
	r.t.Helper()
	out, err := r.Try(input, args...)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// Try is GitInput where failing is an answer; the error holds what git printed.
func (r *Repo) Try(input string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = r.Env()
	cmd.Stdin = strings.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.TrimSuffix(string(out), "\n"), err
}

// Write puts files into the worktree. Removed as a content removes one.
func (r *Repo) Write(files map[string]string) {
	r.t.Helper()
	for name, data := range files {
		path := r.Path(name)
		if data == Removed {
			if err := os.Remove(path); err != nil {
				r.t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
			r.t.Fatal(err)
		}
	}
}

// Commit commits files on top of HEAD, beside what is there already, and
// returns the id. Each commit is a minute younger than the one before.
func (r *Repo) Commit(files map[string]string, message string) string {
	r.t.Helper()
	r.tick()
	if r.bare {
		r.stage(files)
	} else {
		r.Write(files)
		r.Git("add", "--all")
	}
	tree := r.Git("write-tree")
	args := []string{"commit-tree", "-m", message, tree}
	if head, err := r.Try("", "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err == nil {
		args = append(args, "-p", head)
	}
	id := r.Git(args...)
	r.Git("update-ref", "-m", "commit: "+message, "HEAD", id)
	return id
}

// tick advances the time of the next commit.
func (r *Repo) tick() {
	start, err := time.Parse(time.RFC3339, firstDate)
	if err != nil {
		r.t.Fatal(err)
	}
	now := start.Add(time.Duration(*r.commits) * time.Minute).Format(time.RFC3339)
	r.env["GIT_AUTHOR_DATE"], r.env["GIT_COMMITTER_DATE"] = now, now
	*r.commits++
}

// stage puts files into the index of a bare repository.
func (r *Repo) stage(files map[string]string) {
	r.t.Helper()
	for name, data := range files {
		mode, blob := "100644", r.WriteRawObject("blob", []byte(data))
		if data == Removed {
			mode, blob = "0", strings.Repeat("0", len(blob))
		}
		r.GitInput(fmt.Sprintf("%s %s\t%s\x00", mode, blob, name), "update-index", "-z", "--add", "--index-info")
	}
}

// WriteRawObject writes an object of the given kind (blob, tree, commit, tag)
// as it is, however broken, and returns its id.
func (r *Repo) WriteRawObject(kind string, data []byte) string {
	r.t.Helper()
	return r.GitInput(string(data), "hash-object", "-w", "--literally", "--stdin", "-t", kind)
}

// CommitOn writes a commit that holds exactly files, with the given parents, and
// returns its id. No ref, index or file of the worktree changes.
func (r *Repo) CommitOn(parents []string, files map[string]string, message string) string {
	r.t.Helper()
	r.tick()
	apart := *r
	apart.env = maps.Clone(r.env)
	apart.env["GIT_INDEX_FILE"] = filepath.Join(r.t.TempDir(), "index")
	apart.Git("read-tree", "--empty")
	apart.stage(files)
	args := []string{"commit-tree", "-m", message, apart.Git("write-tree")}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	return r.Git(args...)
}
