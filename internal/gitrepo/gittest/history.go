package gittest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// step is one commit of a history.
type step struct {
	message  string
	branches []string
	files    []file
}

type file struct {
	path   string
	data   []byte
	exec   bool
	remove bool
}

// BuildHistory makes a repository at dir, which must not exist, from a history
// in the txtar form that testdata/repos/README.md describes. Commits have a fixed
// author and fixed dates, so equal histories give equal ids.
func BuildHistory(dir string, text []byte) error {
	steps, err := parseHistory(text)
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	h := history{dir: dir}
	h.git("init", "-q", "-b", "main")
	for n, s := range steps {
		for _, f := range s.files {
			h.apply(f)
		}
		h.git("add", "--all")
		h.day = n + 1
		h.git("commit", "-q", "--allow-empty", "-m", s.message)
		for _, b := range s.branches {
			h.git("branch", b)
		}
	}
	return h.err
}

func parseHistory(text []byte) ([]step, error) {
	var steps []step
	for _, f := range txtar.Parse(text).Files {
		fields := strings.SplitN(f.Name, " ", 3)
		n, err := strconv.Atoi(fields[0])
		if err != nil || n < 1 || n > len(steps)+1 || len(fields) < 2 {
			return nil, fmt.Errorf("history entry %q: want the number of a commit, in order", f.Name)
		}
		if n == len(steps)+1 {
			steps = append(steps, step{message: fmt.Sprintf("commit %d", n)})
		}
		s := &steps[n-1]
		switch kind := fields[1]; {
		case kind == "message":
			s.message = strings.TrimSpace(string(f.Data))
		case len(fields) < 3:
			return nil, fmt.Errorf("history entry %q: want a name behind %q", f.Name, kind)
		case kind == "branch":
			s.branches = append(s.branches, fields[2])
		case kind == "file" || kind == "exec" || kind == "remove":
			s.files = append(s.files, file{path: fields[2], data: f.Data, exec: kind == "exec", remove: kind == "remove"})
		default:
			return nil, fmt.Errorf("history entry %q: unknown kind %q", f.Name, kind)
		}
	}
	if len(steps) == 0 {
		return nil, errors.New("the history has no commit")
	}
	return steps, nil
}

// history builds one repository; after the first error it does nothing more.
type history struct {
	dir string
	day int
	err error
}

func (h *history) git(args ...string) {
	if h.err != nil {
		return
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = h.dir
	date := fmt.Sprintf("2026-01-%02dT09:00:00Z", max(h.day, 1))
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + h.dir, "LC_ALL=C",
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Grace Example", "GIT_AUTHOR_EMAIL=grace@example.com", "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=Grace Example", "GIT_COMMITTER_EMAIL=grace@example.com", "GIT_COMMITTER_DATE=" + date,
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		h.err = fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(out))
	}
}

func (h *history) apply(f file) {
	if h.err != nil {
		return
	}
	name := filepath.Join(h.dir, filepath.FromSlash(f.path))
	if f.remove {
		h.err = os.Remove(name)
		return
	}
	mode := fs.FileMode(0o666)
	if f.exec {
		mode = 0o777
	}
	if h.err = os.MkdirAll(filepath.Dir(name), 0o777); h.err == nil {
		h.err = os.WriteFile(name, f.data, mode)
	}
}

// State is a digest of what a refused move must leave alone: every ref (packed
// or loose, read as bytes), HEAD, the index, and every file of the worktree with
// its mode; not objects, reflogs and evolve's own folder. The repository may be bare.
func State(dir string) ([32]byte, error) {
	sum := sha256.New()
	gitDir := ".git/"
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		gitDir = ""
	}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			switch rel {
			case gitDir + "evolve", gitDir + "objects", gitDir + "logs":
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data := []byte{}
		switch {
		case info.Mode().IsRegular():
			data, err = os.ReadFile(p)
		case info.Mode()&fs.ModeSymlink != 0:
			var target string
			target, err = os.Readlink(p)
			data = []byte(target)
		}
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(sum, "%q %v %d\n", rel, info.Mode(), len(data))
		_, _ = sum.Write(data)
		return nil
	})
	return [32]byte(sum.Sum(nil)), err
}
