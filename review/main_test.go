package review

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// noon is the time of the tests.
var noon = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

const ref = "refs/heads/live"

// The declarations of the tests' agent, by server and version.
func docs(version string) string {
	return "command: npx\nargs: [\"-y\", \"@acme/docs@" + version + "\"]\n"
}

// house is one repository, what it holds, and who reviews there.
type house struct {
	*gittest.Repo
	t    *testing.T
	ctx  context.Context
	repo *gitrepo.Repo
	now  time.Time
	// spent stands for the audit log.
	spent map[Token]bool
}

// build makes a repository with one agent, whose commit is on main and live.
func build(t *testing.T, options ...gittest.Option) *house {
	t.Helper()
	h := &house{Repo: gittest.New(t, options...), t: t, ctx: t.Context(), now: noon, spent: map[Token]bool{}}
	h.Commit(map[string]string{"agent/mcp/docs.yaml": docs("1"), "agent/mcp/search.yaml": docs("1"), "README": "1\n"}, "one")
	h.Git("branch", "live")
	h.open()
	return h
}

// open opens the repository, anew where settings changed that Git reads once.
func (h *house) open() {
	h.t.Helper()
	repo, err := gitrepo.Open(h.ctx, gitrepo.Options{Dir: h.Dir(), Env: h.Env()})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = repo.Close() })
	h.repo = repo
}

func (h *house) policy() *Policy {
	h.t.Helper()
	p, err := LoadPolicy(h.ctx, h.repo)
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

func (h *house) surface(ctx context.Context, commit gitrepo.ID) (*decl.Surface, error) {
	if commit == "" {
		return decl.Empty(), nil
	}
	tree, err := h.repo.Tree(ctx, commit)
	if err != nil {
		return nil, err
	}
	return decl.LoadSurface(ctx, tree, decl.Options{})
}

// deltas is the change between two commits.
func (h *house) deltas(base, head gitrepo.ID) []decl.Delta {
	h.t.Helper()
	before, err := h.surface(h.ctx, base)
	if err != nil {
		h.t.Fatal(err)
	}
	after, err := h.surface(h.ctx, head)
	if err != nil {
		h.t.Fatal(err)
	}
	out, err := decl.Compare(h.ctx, before, after)
	if err != nil {
		h.t.Fatal(err)
	}
	return out
}

// at is the present commit of a ref, "" if it does not exist.
func (h *house) at(name string) gitrepo.ID {
	h.t.Helper()
	id, err := h.repo.ReadRef(h.ctx, name)
	if err != nil {
		h.t.Fatal(err)
	}
	return id
}

// commit puts files on top of main.
func (h *house) commit(files map[string]string) gitrepo.ID {
	return gitrepo.ID(h.Commit(files, "a change"))
}

// bump is a commit that changes one declaration.
func (h *house) bump(server, version string) gitrepo.ID {
	return h.commit(map[string]string{"agent/mcp/" + server + ".yaml": docs(version)})
}

// move is the move of live to a commit.
func (h *house) move(to gitrepo.ID) Move {
	h.t.Helper()
	old := h.at(ref)
	return Move{Ref: ref, Old: old, New: to, Deltas: h.deltas(old, to)}
}

// review mints a record for a move with the signer that the configuration names.
func (h *house) review(m Move) *Record {
	h.t.Helper()
	r, err := h.tryReview(m)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

func (h *house) tryReview(m Move) (*Record, error) {
	p := h.policy()
	s, err := LoadSigner(h.ctx, h.repo, p)
	if err != nil {
		return nil, err
	}
	return Mint(h.ctx, h.repo, p, s, MintRequest{
		Ref: m.Ref, Base: m.Old, Head: m.New, Deltas: m.Deltas, Now: h.now, Expiry: p.Expiry, Reason: "looks good",
	})
}

func (h *house) verify(m Move, tokens ...Token) error {
	_, err := h.verifyAs(Pusher{}, m, tokens...)
	return err
}

func (h *house) verifyAs(who Pusher, m Move, tokens ...Token) ([]*Record, error) {
	return Verify(h.ctx, h.repo, h.policy(), m, tokens, Options{
		Now: h.now, Pusher: who, Surface: h.surface,
		SpentAbsent: func(t Token) (bool, error) { return h.spent[t], nil },
	})
}

// promote moves live, as a gate that said yes does.
func (h *house) promote(m Move, tokens ...Token) {
	h.t.Helper()
	h.Git("update-ref", m.Ref, string(m.New))
	for _, t := range tokens {
		h.spent[t] = true
	}
}

// dir is a directory outside every worktree.
func (h *house) dir() string { return filepath.Dir(h.Dir()) }

// keygen makes a key and returns its path and the text of its public half.
func (h *house) keygen(name string, args ...string) (path, public string) {
	h.t.Helper()
	path = filepath.Join(h.dir(), name)
	if len(args) == 0 {
		args = []string{"-t", "ed25519"}
	}
	run(h.t, "ssh-keygen", append(args, "-q", "-N", "", "-C", name, "-f", path)...)
	return path, strings.TrimSpace(read(h.t, path+".pub"))
}

// signers writes a signers file outside the worktree, and names it.
func (h *house) signers(lines ...string) string {
	h.t.Helper()
	path := filepath.Join(h.dir(), "signers")
	write(h.t, path, strings.Join(lines, "\n")+"\n")
	h.Git("config", "gpg.ssh.allowedSignersFile", path)
	return path
}

// as makes a key the one that signs.
func (h *house) as(key string) { h.Git("config", "evolve.signingKey", key) }

// line is a line of the signers file.
func line(principal, public string, options ...string) string {
	return principal + " " + strings.Join(append([]string{`namespaces="mcp-review@evolve,mcp-revoke@evolve"`}, options...), ",") + " " + public
}

func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
	return string(out)
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t testing.TB, path, data string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

// wantCode checks the code of an error, that its message is whole, and that it does
// not hold a text.
func wantCode(t testing.TB, err error, code fault.Code, not ...string) *fault.Fault {
	t.Helper()
	if fault.CodeOf(err) != code {
		t.Fatalf("code %q, want %q: %v", fault.CodeOf(err), code, err)
	}
	f, ok := err.(*fault.Fault) //nolint:errorlint // what a person sees is the fault itself
	if err == nil {
		return nil
	}
	if !ok || f.Message == "" || strings.ContainsAny(f.Message+f.Hint, "\n\x1b") {
		t.Fatalf("no message to show: %#v", err)
	}
	for _, s := range not {
		if strings.Contains(f.Message+f.Hint, s) {
			t.Errorf("the message repeats %q: %s", s, f.Message)
		}
	}
	return f
}

// env changes one variable of the user, and opens the repository with it.
func (h *house) env(name, value string) {
	h.t.Helper()
	repo, err := gitrepo.Open(h.ctx, gitrepo.Options{Dir: h.Dir(), Env: h.Env(name + "=" + value)})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = repo.Close() })
	h.repo = repo
}

func fingerprint(key ssh.PublicKey) string { return ssh.FingerprintSHA256(key) }

// from opens the repository from another directory.
func (h *house) from(dir string) *gitrepo.Repo {
	h.t.Helper()
	repo, err := gitrepo.Open(h.ctx, gitrepo.Options{Dir: dir, Env: h.Env()})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = repo.Close() })
	return repo
}
