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
)

// claimLife is how long a claim is good: long enough for a push that waits for
// other hooks, short enough that a stale verdict carries nothing.
const claimLife = 10 * time.Minute

// maxClaim bounds the size of a claim file that is read back, in bytes.
const maxClaim = 1 << 20

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
	By      string     `json:"by"` // promote, pre-receive
	At      time.Time  `json:"at"`
	Expires time.Time  `json:"expires"`
}

// claims is the directory of claims of one repository.
type claims struct {
	dir   string
	perms permissions
}

func (c claims) path(ref string, old, new gitrepo.ID) string {
	sum := sha256.Sum256([]byte(ref + "\x00" + string(old) + "\x00" + string(new)))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:])+".json")
}

// write stores a claim. Two processes that judge the same move write the same
// verdict; the later file replaces the earlier.
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

func (c claims) remove(ref string, old, new gitrepo.ID) error {
	err := os.Remove(c.path(ref, old, new))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// list returns every claim that can be read, in no order. A file that is no
// claim is left alone: doctor names it.
func (c claims) list() ([]Claim, error) {
	entries, err := os.ReadDir(c.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.New(fault.IOFailed, "the claims in the Git directory cannot be listed").WithCause(err)
	}
	var out []Claim
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		if claim, err := readClaim(filepath.Join(c.dir, e.Name())); err == nil {
			out = append(out, claim)
		}
	}
	return out, nil
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
