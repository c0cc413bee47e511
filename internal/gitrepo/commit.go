package gitrepo

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// Commit is what is read of a commit object.
type Commit struct {
	ID        ID
	Tree      ID
	Parents   []ID
	Author    Person
	Committer Person
	Message   string // untrusted text
}

// Person is an author or committer line: free text that anyone can write.
type Person struct {
	Name, Email string
	When        time.Time
}

// ReadCommit reads and hashes one commit.
func (r *Repo) ReadCommit(ctx context.Context, id ID) (*Commit, error) {
	return r.store.Commit(ctx, id)
}

// Commit reads and hashes one commit. Nobody may change what it returns.
// Codes: surface_unreadable.
func (s *Store) Commit(ctx context.Context, id ID) (*Commit, error) {
	if c, ok := s.commits.get(id); ok {
		return c, nil
	}
	data, err := s.source.Read(ctx, id, "commit", MaxCommitBytes)
	if err != nil {
		return nil, err
	}
	c := parseCommit(id, data, s.digits)
	if c == nil {
		return nil, fault.New(fault.SurfaceUnreadable, "commit %s is broken", Short(id)).WithHint("git fsck")
	}
	s.commits.put(id, c, len(data))
	return c, nil
}

// parseCommit reads the headers that Git always writes first and in this order:
// tree, parents, author, committer. It returns nil for anything else.
func parseCommit(id ID, data []byte, digits int) *Commit {
	c := &Commit{ID: id}
	header, message, _ := bytes.Cut(data, []byte("\n\n"))
	c.Message = string(message)
	lines := strings.Split(string(header), "\n")
	next := func(key string) (string, bool) {
		if len(lines) == 0 {
			return "", false
		}
		value, ok := strings.CutPrefix(lines[0], key+" ")
		if ok {
			lines = lines[1:]
		}
		return value, ok
	}
	tree, ok := next("tree")
	if !ok || !IsID(tree, digits) {
		return nil
	}
	c.Tree = ID(tree)
	for {
		parent, ok := next("parent")
		if !ok {
			break
		}
		if !IsID(parent, digits) {
			return nil
		}
		c.Parents = append(c.Parents, ID(parent))
	}
	author, ok := next("author")
	if !ok {
		return nil
	}
	committer, ok := next("committer")
	if !ok {
		return nil
	}
	c.Author, c.Committer = parsePerson(author), parsePerson(committer)
	return c
}

// parsePerson reads "Name <email> seconds zone" as well as it goes.
func parsePerson(s string) Person {
	name, rest, _ := strings.Cut(s, "<")
	email, stamp, _ := strings.Cut(rest, ">")
	p := Person{Name: strings.TrimSpace(name), Email: strings.TrimSpace(email)}
	if fields := strings.Fields(stamp); len(fields) > 0 {
		if seconds, err := strconv.ParseInt(fields[0], 10, 64); err == nil {
			p.When = time.Unix(seconds, 0).UTC()
		}
	}
	return p
}

// Identity returns Git's author identity for this user, as git var prints it.
// Codes: config_invalid.
func (r *Repo) Identity(ctx context.Context) (Person, error) {
	out, err := r.run(ctx, command{args: []string{"var", "GIT_AUTHOR_IDENT"}, user: true})
	if err != nil {
		if fault.CodeOf(err) == fault.Interrupted {
			return Person{}, err
		}
		return Person{}, fault.New(fault.ConfigInvalid, "Git does not know who you are").
			WithHint("git config --global user.name NAME, and user.email ADDRESS").WithCause(err)
	}
	return parsePerson(strings.TrimSpace(string(out.stdout))), nil
}
