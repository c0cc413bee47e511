package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAMissingBlobIsAnErrorAndNoFetch: a partial clone lacks what the gate must
// read. It says so, and asks no remote.
func TestAMissingBlobIsAnErrorAndNoFetch(t *testing.T) {
	d := newDesk(t)
	d.Git("config", "uploadpack.allowFilter", "true")
	d.Git("config", "uploadpack.allowAnySHA1InWant", "true")
	at := spot{dir: d.clone("partial.git", "file://"+d.Dir(), "--filter=blob:none")}
	before := files(t, filepath.Join(at.dir, "objects"))
	for _, args := range [][]string{
		{"diff", "live", "main"}, {"lint", "main"}, {"review", "main", "--ref", "live", "--approve"},
		{"promote", "main", "--ref", "live", "--approve", "--token", d.token},
	} {
		r := d.evolve(at, 3, args...)
		if !strings.HasPrefix(r.err, "surface_unreadable: object ") || !strings.Contains(r.err, "--refetch --no-filter") {
			t.Errorf("%v: %s", args, r.err)
		}
	}
	d.isAt(at, d.first)
	if after := files(t, filepath.Join(at.dir, "objects")); after != before {
		t.Errorf("objects were fetched:\nbefore %s\nafter %s", before, after)
	}
	// With the blobs there, fetched by the person, it goes on.
	d.At(at.dir).Git("fetch", "-q", "--refetch", "--no-filter")
	d.evolve(at, 0, "promote", "main", "--ref", "live", "--approve", "--token", d.token)
	d.isAt(at, d.second)
}

func files(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, "\n")
}

// TestAForeignRepositoryNeedsSafeDirectory, with Git and without.
func TestAForeignRepositoryNeedsSafeDirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	d := newDesk(t)
	bare := d.clone("bare.git", d.Dir())
	without := "PATH=" + t.TempDir()
	give := func(dirs ...string) {
		for _, dir := range dirs {
			if err := os.Chown(dir, 12345, 12345); err != nil {
				t.Fatal(err)
			}
		}
	}
	give(bare)
	give(d.Dir(), d.Path(".git"))
	lint := []string{"lint", "refs/heads/main"}
	for _, dir := range []string{d.Dir(), bare} {
		for _, env := range [][]string{nil, {without}} {
			if r := d.evolve(spot{dir, env}, 3, lint...); !strings.Contains(r.err, "repository_unreadable") || !strings.Contains(r.err, "safe.directory") {
				t.Errorf("%s %v: %s", dir, env, r.err)
			}
			d.evolve(spot{dir, append(env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0="+dir)}, 0, lint...)
		}
		d.Git("-C", d.top(), "config", "--global", "--add", "safe.directory", dir)
		d.evolve(spot{dir, nil}, 0, lint...)
		d.evolve(spot{dir, []string{without}}, 0, lint...)
		d.evolve(spot{dir, nil}, 0, "promote", "main", "--ref", "live", "--approve", "--token", d.token)
	}
}

// TestAnEdgeOfHistoryIsNoPassForAToken: where a shallow clone has cut off what
// lies between a token's base and the ref, whether it was used cannot be told.
func TestAnEdgeOfHistoryIsNoPassForAToken(t *testing.T) {
	d := newDesk(t)
	d.Git("switch", "-q", "--detach", "live")
	for range 3 {
		d.Commit(map[string]string{"README": strings.Repeat("more\n", len(d.Git("rev-list", "HEAD")))}, "beside")
	}
	d.Git("branch", "-f", "live", "HEAD")
	d.Git("merge", "-q", "--no-edit", "main")
	d.Git("branch", "-f", "merged", "HEAD")
	d.evolve(spot{dir: d.Dir()}, 0, "verify", "merged", "--ref", "live", "--token", d.token)
	at := spot{dir: d.clone("shallow.git", "file://"+d.Dir(), "--depth=2", "--no-single-branch")}
	r := d.start(at, []string{"promote", "merged", "--ref", "live", "--token", d.token, "--approve"})
	if r.status == 0 {
		t.Fatalf("the move was made: %s", r.out)
	}
	if !strings.Contains(r.err, "shallow") {
		t.Errorf("status %d: %s", r.status, r.err)
	}
}
