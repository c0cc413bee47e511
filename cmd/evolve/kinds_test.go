package main

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// desk is a repository in which a change was made and reviewed. The kinds of
// repository below are made from it, as clones, worktrees and mirrors of a team
// are.
type desk struct {
	*gittest.Repo
	t             *testing.T
	first, second string // the commits of live and main
	token         string
}

// newDesk has the branch live at one commit, main at the next, which changes a
// declaration and a file that it launches, an annotated tag, and a review.
func newDesk(t *testing.T, options ...gittest.Option) *desk {
	t.Helper()
	d := &desk{Repo: gittest.New(t, options...), t: t}
	d.Commit(map[string]string{"README": "agents\n"}, "start")
	d.first = d.Commit(map[string]string{
		"agent/mcp/docs.yaml":     "command: npx\nargs: [\"-y\", \"@acme/docs-mcp@1.4.2\"]\n",
		"agent/mcp/notes.yaml":    "command: python3\nargs: [servers/notes/server.py]\n",
		"servers/notes/server.py": "print(1)\n",
	}, "two servers")
	d.Git("branch", "live")
	d.second = d.Commit(map[string]string{
		"agent/mcp/docs.yaml":     "command: npx\nargs: [\"-y\", \"@acme/docs-mcp@1.5.0\"]\napproval_policy: auto\n",
		"servers/notes/server.py": "print(2)\n",
	}, "changed")
	d.Git("tag", "-a", "-m", "a tag", "v2", "main")
	out := d.evolve(spot{dir: d.Dir()}, 0, "review", "main", "--ref", "live", "--approve").out
	lines := strings.Split(strings.TrimSpace(out), "\n")
	d.token = lines[len(lines)-1]
	// Everybody else knows the reviewer by a file of their own.
	signers := filepath.Join(d.top(), "signers")
	data, err := os.ReadFile(d.Path(".git/evolve/signers"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(signers, data, 0o600); err != nil {
		t.Fatal(err)
	}
	d.Git("config", "--global", "gpg.ssh.allowedSignersFile", signers)
	d.Git("config", "--global", "protocol.file.allow", "always")
	return d
}

func (d *desk) top() string { return filepath.Dir(d.Dir()) }

// clone makes a mirror with all refs, reviews included.
func (d *desk) clone(name, from string, args ...string) string {
	d.t.Helper()
	to := filepath.Join(d.top(), name)
	d.Git(slices.Concat([]string{"clone", "-q", "--mirror"}, args, []string{from, to})...)
	return to
}

// spot is where evolve is started, and with what besides.
type spot struct {
	dir string
	env []string
}

type result struct {
	out, err string
	status   int
}

// evolve runs the program in this process and checks its exit status.
func (d *desk) evolve(at spot, want int, args ...string) result {
	d.t.Helper()
	r := d.start(at, args)
	if r.status != want {
		d.t.Fatalf("evolve %s: exit status %d, want %d\n%s%s", strings.Join(args, " "), r.status, want, r.out, r.err)
	}
	return r
}

// start runs the program in this process.
func (d *desk) start(at spot, args []string) result {
	d.t.Helper()
	out, err := d.stream("out"), d.stream("err")
	in, oerr := os.Open(os.DevNull)
	if oerr != nil {
		d.t.Fatal(oerr)
	}
	defer func() { _ = in.Close() }()
	status := runAt(d.t.Context(), append([]string{"-C", at.dir}, args...),
		streams{in: in, out: out, err: err, env: d.Env(at.env...)}, time.Now)
	return result{contentsOf(d.t, out), contentsOf(d.t, err), status}
}

func (d *desk) stream(name string) *os.File {
	d.t.Helper()
	f, err := os.CreateTemp(d.t.TempDir(), name)
	if err != nil {
		d.t.Fatal(err)
	}
	return f
}

func contentsOf(t *testing.T, f *os.File) string {
	t.Helper()
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := b.ReadFrom(f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// kind is one way in which a repository can be kept.
type kind struct {
	make func(*desk) spot
	// options of the desk itself.
	options []gittest.Option
	// goGit is what the reader without a git program says that it cannot read,
	// "" if it must see the same as Git.
	goGit string
}

var kinds = map[string]kind{
	"a worktree":     {make: func(d *desk) spot { return spot{dir: d.Dir()} }},
	"a subdirectory": {make: func(d *desk) spot { return spot{dir: d.Path("agent/mcp")} }},
	"bare":           {make: func(d *desk) spot { return spot{dir: d.clone("bare.git", d.Dir())} }},
	"a linked worktree": {make: func(d *desk) spot {
		linked := filepath.Join(d.top(), "lin ked")
		d.Git("worktree", "add", "-q", "--detach", linked)
		return spot{dir: linked}
	}},
	"a linked worktree of a bare repository": {make: func(d *desk) spot {
		bare := d.At(d.clone("bare.git", d.Dir()))
		linked := filepath.Join(d.top(), "linked")
		bare.Git("worktree", "add", "-q", "--detach", linked)
		return spot{dir: linked}
	}},
	"sha256": {
		options: []gittest.Option{gittest.SHA256}, goGit: "SHA-256",
		make: func(d *desk) spot { return spot{dir: d.Dir()} },
	},
	"sha256, bare": {
		options: []gittest.Option{gittest.SHA256}, goGit: "SHA-256",
		make: func(d *desk) spot { return spot{dir: d.clone("bare.git", d.Dir())} },
	},
	"alternates, absolute": {goGit: "alternates", make: func(d *desk) spot {
		return spot{dir: d.clone("borrows.git", d.Dir(), "--shared")}
	}},
	"alternates, relative": {goGit: "alternates", make: func(d *desk) spot {
		dir := d.clone("borrows.git", d.Dir(), "--shared")
		d.write(filepath.Join(dir, "objects/info/alternates"), "../../repo/.git/objects\n")
		return spot{dir: dir}
	}},
	"alternates, nested": {goGit: "alternates", make: func(d *desk) spot {
		return spot{dir: d.clone("far.git", d.clone("near.git", d.Dir(), "--shared"), "--shared")}
	}},
	"packed refs and objects": {make: func(d *desk) spot {
		d.Git("gc", "-q", "--prune=now")
		return spot{dir: d.Dir()}
	}},
	"a commit-graph": {make: func(d *desk) spot {
		d.Git("commit-graph", "write", "--reachable", "--changed-paths")
		return spot{dir: d.Dir()}
	}},
	"several packs and a multi-pack-index": {make: func(d *desk) spot {
		for range 2 {
			d.Git("repack", "-q", "-d")
			d.Git("commit", "-q", "--allow-empty", "-m", "beside")
			d.Git("branch", "-f", "beside")
			d.Git("reset", "-q", "--hard", "HEAD~1")
		}
		d.Git("multi-pack-index", "write")
		return spot{dir: d.Dir()}
	}},
	"shallow": {make: func(d *desk) spot {
		return spot{dir: d.clone("shallow.git", "file://"+d.Dir(), "--depth=2", "--no-single-branch")}
	}},
	"a partial clone with all that is needed": {goGit: "a partial clone", make: func(d *desk) spot {
		d.Git("config", "uploadpack.allowFilter", "true")
		return spot{dir: d.clone("partial.git", "file://"+d.Dir(), "--filter=blob:limit=100k")}
	}},
	"a submodule": {make: func(d *desk) spot {
		super := d.At(d.init("super"))
		super.Git("submodule", "--quiet", "add", d.Dir(), "sub")
		super.Git("commit", "-q", "-m", "super")
		sub := d.At(super.Path("sub"))
		sub.Git("fetch", "-q", "origin", "refs/evolve/reviews/*:refs/evolve/reviews/*", "live:live")
		return spot{dir: sub.Dir()}
	}},
	"GIT_DIR": {make: func(d *desk) spot {
		return spot{dir: d.top(), env: []string{"GIT_DIR=" + d.Path(".git"), "GIT_WORK_TREE=" + d.Dir()}}
	}},
	"GIT_DIR, relative": {make: func(d *desk) spot {
		return spot{dir: d.Path("agent"), env: []string{"GIT_DIR=../.git", "GIT_WORK_TREE=.."}}
	}},
	"GIT_DIR of a bare repository": {make: func(d *desk) spot {
		return spot{dir: d.Dir(), env: []string{"GIT_DIR=" + d.clone("bare.git", d.Dir())}}
	}},
	"worktree configuration": {make: func(d *desk) spot {
		d.Git("config", "extensions.worktreeConfig", "true")
		d.Git("config", "--worktree", "evolve.core", "agents/*")
		return spot{dir: d.Dir()}
	}},
	"replace refs": {make: func(d *desk) spot {
		d.Git("replace", d.second, d.first)
		blob := d.GitInput("command: evil\n", "hash-object", "-w", "--stdin")
		d.Git("replace", d.Git("rev-parse", "live:agent/mcp/docs.yaml"), blob)
		return spot{dir: d.Dir()}
	}},
	"grafts": {make: func(d *desk) spot {
		d.write(d.Path(".git/info/grafts"), d.second+"\n")
		return spot{dir: d.Dir()}
	}},
}

func (d *desk) init(name string) string {
	d.t.Helper()
	dir := filepath.Join(d.top(), name)
	d.Git("init", "-q", dir)
	return dir
}

func (d *desk) write(path, data string) {
	d.t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// TestEveryKindOfRepository: one change, one review, and every way to keep the
// repository that holds them.
func TestEveryKindOfRepository(t *testing.T) {
	kinds := maps.Clone(kinds)
	if gittest.HasReftable() {
		kinds["reftable"] = kind{
			options: []gittest.Option{gittest.Reftable}, goGit: "refs otherwise",
			make: func(d *desk) spot { return spot{dir: d.Dir()} },
		}
		kinds["reftable, bare"] = kind{
			options: []gittest.Option{gittest.Reftable}, goGit: "refs otherwise",
			make: func(d *desk) spot { return spot{dir: d.clone("bare.git", d.Dir(), "--ref-format=reftable")} },
		}
	}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		k := kinds[name]
		// Not in parallel: the argument library writes to flags of its own that
		// every run shares.
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, k.options...)
			want := d.evolve(spot{dir: d.Dir()}, 0, "diff", "live", "main", "--format", "json").out
			at := k.make(d)
			t.Run("both readers see the same", func(t *testing.T) { bothReadersSeeTheSame(t, d, at, k.goGit) })
			t.Run("the gate reads and moves refs", func(t *testing.T) { gateReadsAndMoves(t, d, at, want) })
		})
	}
}

func gateReadsAndMoves(t *testing.T, d *desk, at spot, want string) {
	if got := d.evolve(at, 0, "diff", "live", "main", "--format", "json").out; got != want {
		t.Fatalf("diff sees\n%s\nand in a plain repository\n%s", got, want)
	}
	d.evolve(at, 0, "lint", "main")
	d.evolve(at, 4, "promote", "main", "--ref", "live", "--approve")
	d.isAt(at, d.first)
	d.evolve(at, 0, "verify", "main", "--ref", "live", "--token", d.token)
	d.evolve(at, 0, "promote", "main", "--ref", "live", "--token", d.token, "--approve")
	d.isAt(at, d.second)
	d.evolve(at, 0, "promote", "main", "--ref", "live", "--approve")
	back := strings.TrimSpace(d.evolve(at, 0, "rollback", "--ref", "live", "--prepare", "-q").out)
	d.evolve(at, 0, "diff", d.first, back, "--exit-code")
	r := d.evolve(at, 4, "rollback", "--ref", "live", "--approve")
	if !strings.Contains(r.err, "evolve review "+back[:12]) {
		t.Errorf("the refusal does not name the commit to review: %s", r.err)
	}
	d.isAt(at, d.second)
}

// isAt asks Git itself where live is.
func (d *desk) isAt(at spot, want string) {
	d.t.Helper()
	gitDir := ""
	for _, kv := range at.env {
		if dir, ok := strings.CutPrefix(kv, "GIT_DIR="); ok {
			gitDir = dir
		}
	}
	if gitDir == "" {
		gitDir = d.Git("-C", at.dir, "rev-parse", "--absolute-git-dir")
	} else if !filepath.IsAbs(gitDir) {
		gitDir = filepath.Join(at.dir, gitDir)
	}
	if got := d.Git("--no-replace-objects", "--git-dir="+gitDir, "rev-parse", "refs/heads/live"); got != want {
		d.t.Fatalf("live is at %s, want %s", got, want)
	}
}
