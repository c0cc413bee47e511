package promote

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/review"
)

// maxAuditLine bounds one line of the audit log that is read back, in bytes.
const maxAuditLine = 1 << 20

// Entry is one line of <git common dir>/evolve/audit.jsonl: one move, or one
// refused move.
type Entry struct {
	At      time.Time  `json:"at"`
	Who     string     `json:"who"`
	By      string     `json:"by"` // promote, rollback, pre-receive, reference-transaction, or who saw a move
	Ref     string     `json:"ref"`
	Old     gitrepo.ID `json:"old"` // "" if the ref did not exist
	New     gitrepo.ID `json:"new"`
	Tokens  []string   `json:"tokens"`
	Verdict string     `json:"verdict"` // moved, refused, seen
	Code    string     `json:"code,omitempty"`
	Reason  string     `json:"reason,omitempty"`
	// Recovered says that the command that moved the ref was cut off before it
	// wrote this line, and that a later one wrote it from the claim.
	Recovered bool `json:"recovered,omitempty"`
	// Claim is the id of the claim that a move was made under, "" for a refusal.
	Claim string `json:"claim,omitempty"`
}

// The verdicts of an Entry.
const (
	VerdictMoved   = "moved"
	VerdictRefused = "refused"
	// VerdictSeen is of a move that a hook or doctor saw later and did not judge.
	VerdictSeen = "seen"
)

// auditLog is the audit log of one repository.
type auditLog struct {
	path  string
	perms permissions
}

// append writes one line in one write, under the log's lock. A line that a
// crash cut short is closed off first, so that it spoils no other.
func (a auditLog) append(e Entry) error { return a.write(e, nil) }

// appendOnce is append where another process may have written the same move
// down: no claim has two lines.
func (a auditLog) appendOnce(e Entry) error {
	return a.write(e, func() (bool, error) {
		found := false
		_, err := a.each(func(known Entry) { found = found || known.Claim == e.Claim })
		return found, err
	})
}

// check reports whether a line could be written, as far as that can be told
// without writing one: a move must not be made that could not be written down.
func (a auditLog) check() error {
	f, err := a.open()
	if err != nil {
		return err
	}
	_ = f.Close()
	return nil
}

func (a auditLog) open() (*os.File, error) {
	if err := a.perms.makeDir(filepath.Dir(a.path)); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(a.path, os.O_APPEND|os.O_CREATE|os.O_RDWR, a.perms.creation(false))
	if err != nil {
		return nil, auditFault(err)
	}
	_ = a.perms.setFile(f) // only the owner may; others find it set
	return f, nil
}

// write appends e unless known, asked under the lock, says that it is there.
func (a auditLog) write(e Entry, known func() (bool, error)) error {
	data, err := json.Marshal(e)
	if err != nil {
		return fault.New(fault.Internal, "an audit line could not be encoded").WithCause(err)
	}
	f, err := a.open()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	waitLock(f)
	if known != nil {
		if there, err := known(); there || err != nil {
			return err
		}
	}
	return appendLine(f, data)
}

// appendLine writes all of a line or, as far as the file system lets it, none.
func appendLine(f *os.File, data []byte) error {
	info, err := f.Stat()
	if err != nil {
		return auditFault(err)
	}
	line := slices.Concat(data, []byte{'\n'})
	if !endsClean(f, info.Size()) {
		line = slices.Concat([]byte{'\n'}, line)
	}
	n, err := f.Write(line)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		return nil
	}
	if n > 0 {
		_ = f.Truncate(info.Size())
	}
	return auditFault(err)
}

func auditFault(err error) error {
	return fault.New(fault.IOFailed, "the audit log evolve/audit.jsonl in the Git directory cannot be written").
		WithHint("check the free space and the permissions of the Git directory").WithCause(err)
}

// endsClean reports whether a file of the given size is empty or ends with a
// line break.
func endsClean(f *os.File, size int64) bool {
	if size == 0 {
		return true
	}
	last := make([]byte, 1)
	_, err := f.ReadAt(last, size-1)
	return err != nil || last[0] == '\n'
}

// each calls visit with every whole line, oldest first. Damaged lines are
// skipped and counted.
func (a auditLog) each(visit func(Entry)) (damaged int, err error) {
	f, err := os.Open(a.path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fault.New(fault.IOFailed, "the audit log evolve/audit.jsonl in the Git directory cannot be read").WithCause(err)
	}
	defer func() { _ = f.Close() }()
	r := bufio.NewReaderSize(f, 64<<10)
	for {
		line, err := readLine(r)
		if len(bytes.TrimSpace(line)) > 0 {
			var e Entry
			if json.Unmarshal(line, &e) == nil && e.Ref != "" {
				visit(e)
			} else {
				damaged++
			}
		}
		if errors.Is(err, io.EOF) {
			return damaged, nil
		}
		if err != nil {
			return damaged, fault.New(fault.IOFailed, "the audit log evolve/audit.jsonl in the Git directory cannot be read").WithCause(err)
		}
	}
}

// readLine reads a line of at most maxAuditLine bytes; of a longer one it
// returns the start, which is no whole line and counts as damaged.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line) < maxAuditLine {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// spent reports whether a move of ref that created it already used token. It is
// asked only for tokens whose base is absent: with no base, history cannot say.
func (a auditLog) spent(ref string, token review.Token) (bool, error) {
	found := false
	want := token.String()
	_, err := a.each(func(e Entry) {
		if e.Verdict != VerdictMoved || e.Ref != ref {
			return
		}
		for _, t := range e.Tokens {
			found = found || t == want
		}
	})
	return found, err
}

// LastMoves returns, for every ref, the newest audited move. damaged counts
// lines that cannot be read.
func (g *Gate) LastMoves() (moves map[string]Entry, damaged int, err error) {
	moves = map[string]Entry{}
	damaged, err = g.audit().each(func(e Entry) {
		if e.Verdict == VerdictMoved && !comesBefore(e, moves[e.Ref]) {
			moves[e.Ref] = e
		}
	})
	return moves, damaged, err
}

// comesBefore reports whether e led to where the move that is written above it
// began: two processes may write the lines of two moves in the other order.
func comesBefore(e, above Entry) bool {
	return above.Ref != "" && e.New == above.Old && e.Old != above.New
}

func (g *Gate) audit() auditLog {
	return auditLog{path: filepath.Join(g.Repo.CommonDir(), "evolve", "audit.jsonl"), perms: g.perms()}
}

func (g *Gate) claims() claims {
	return claims{dir: claimsIn(g.Repo.CommonDir()), perms: g.perms()}
}
