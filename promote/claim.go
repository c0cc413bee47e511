package promote

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/review"
)

// claimLife is how long a claim is good: long enough for a push that waits for
// other hooks, short enough that a stale verdict carries nothing.
const claimLife = 10 * time.Minute

// maxClaim bounds the size of a claim file that is read back, in bytes.
const maxClaim = 1 << 20

const claimSuffix = ".json"

// verdictAllowed is the one verdict that a claim carries.
const verdictAllowed = "allowed"

// Claim is a verdict written down between the judging and the ref's lock. It
// lets the reference-transaction hook pass the move that was judged, and lets
// the next command write the audit line of a move that was cut short.
type Claim struct {
	Ref     string     `json:"ref"`
	Old     gitrepo.ID `json:"old"`
	New     gitrepo.ID `json:"new"`
	Tokens  []string   `json:"tokens"`
	Records []string   `json:"records"`
	Who     string     `json:"who"`
	Verdict string     `json:"verdict"`
	By      string     `json:"by"` // promote, rollback, pre-receive
	Reason  string     `json:"reason,omitempty"`
	At      time.Time  `json:"at"`
	Expires time.Time  `json:"expires"`
}

// ID tells one claim from another for the same move: the SHA-256 of its bytes,
// in hex. The audit line of the move carries it.
func (c Claim) ID() string {
	data, err := json.Marshal(c)
	if err != nil {
		return "" // no field of a claim can fail to encode
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// claimsIn is where a Git directory has its claims.
func claimsIn(gitDir string) string { return filepath.Join(gitDir, "evolve", "claims") }

// claims is the directory of claims of one repository.
type claims struct {
	dir   string
	perms permissions
}

func (c claims) path(ref string, old, new gitrepo.ID) string {
	sum := sha256.Sum256([]byte(ref + "\x00" + string(old) + "\x00" + string(new)))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:])+claimSuffix)
}

// write stores a claim. The later of two for the same move replaces the earlier.
func (c claims) write(claim Claim) error {
	data, err := json.Marshal(claim)
	if err != nil {
		return fault.New(fault.Internal, "a claim could not be encoded").WithCause(err)
	}
	if err := c.perms.makeDir(c.dir); err != nil {
		return err
	}
	return c.perms.writeFile(c.path(claim.Ref, claim.Old, claim.New), append(data, '\n'))
}

// read returns the claim for a move. Errors wrap fs.ErrNotExist when there is
// none.
func (c claims) read(ref string, old, new gitrepo.ID) (Claim, error) {
	return readClaim(c.path(ref, old, new))
}

func (c claims) remove(ref string, old, new gitrepo.ID) error {
	err := os.Remove(c.path(ref, old, new))
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fault.New(fault.IOFailed, "a claim in the Git directory cannot be removed").
		WithHint("give this user write permission to evolve/ in the Git directory").WithCause(err)
}

// list returns every claim that can be read, in no order. A file that is no
// claim is left alone.
func (c claims) list() ([]Claim, error) {
	names, err := c.names()
	if err != nil {
		return nil, err
	}
	var out []Claim
	for _, name := range names {
		if !strings.HasSuffix(name, claimSuffix) {
			continue
		}
		if claim, err := readClaim(filepath.Join(c.dir, name)); err == nil {
			out = append(out, claim)
		}
	}
	return out, nil
}

// NothingClaimed reports whether the repository of a Git directory surely has no
// claim.
func NothingClaimed(gitDir string) bool {
	entries, err := os.ReadDir(claimsIn(gitDir))
	return errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0
}

// ClaimedTokens are the tokens that the claim of a move names, if there is one,
// before it is known whether it holds.
func ClaimedTokens(gitDir, ref string, old, next gitrepo.ID) (tokens []review.Token, claimed bool) {
	c, err := claims{dir: claimsIn(gitDir)}.read(ref, old, next)
	if err != nil {
		return nil, false
	}
	for _, s := range c.Tokens {
		if t, err := review.ParseToken(s); err == nil {
			tokens = append(tokens, t)
		}
	}
	return tokens, true
}

// names lists the directory: claims, holds, and what a crash left of a write.
func (c claims) names() ([]string, error) {
	entries, err := os.ReadDir(c.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.New(fault.IOFailed, "the claims in the Git directory cannot be listed").
			WithHint("check the owner and mode of evolve/claims in the Git directory").WithCause(err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

func readClaim(path string) (Claim, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Claim{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxClaim {
		return Claim{}, fault.New(fault.IOFailed, "a claim in the Git directory is no plain small file")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Claim{}, err
	}
	var claim Claim
	if err := json.Unmarshal(data, &claim); err != nil {
		return Claim{}, fault.New(fault.IOFailed, "a claim in the Git directory cannot be read").WithCause(err)
	}
	return claim, nil
}
