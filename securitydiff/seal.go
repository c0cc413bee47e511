package securitydiff

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// seal is the first stage of the last guard: an atom that repeats a withheld
// value is withheld itself, with a finding.
func (r *Report) seal() {
	for i := range r.Changes {
		c := &r.Changes[i]
		repeated := false
		eachShown(c, func(_ string, s *redact.Shown) {
			if r.guard.Repeats(string(*s)) {
				*s, repeated = redact.Withheld, true
			}
		})
		if repeated {
			v := &verdicts{list: c.Findings}
			v.add("secret-repeated", Medium, "")
			c.Findings = v.sorted()
		}
	}
}

// Check is the second stage: every text of the finished report that came from the
// repository is searched for every withheld value and its common encodings. A
// hit is a bug of ours; the error names the place and nothing else.
// Codes: internal.
func (r *Report) Check() error {
	if r.guard == nil {
		return nil
	}
	var found error
	for i := range r.Changes {
		c := &r.Changes[i]
		eachShown(c, func(field string, s *redact.Shown) {
			if found == nil && r.guard.Finds(string(*s)) {
				found = leak(fmt.Sprintf("changes[%d].%s", i, field))
			}
		})
	}
	for i := range r.Problems {
		p := &r.Problems[i]
		for field, s := range map[string]redact.Shown{"path": p.Path, "field": p.Field} {
			if found == nil && r.guard.Finds(string(s)) {
				found = leak(fmt.Sprintf("problems[%d].%s", i, field))
			}
		}
	}
	return found
}

func leak(where string) error {
	return fault.New(fault.Internal, "the report would have shown a withheld value at %s; nothing was printed", where).
		WithHint("this is a bug in evolve: please report the place named here, without the file")
}

// Digest is the SHA-256 of the report as JSON, in hex.
func (r *Report) Digest() string {
	data, err := json.Marshal(r)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// eachShown visits every text of a change that came from the repository.
func eachShown(c *Change, visit func(field string, s *redact.Shown)) {
	visit("core", &c.Core)
	visit("server_id", &c.ServerID)
	visit("path", &c.Path)
	visit("old_path", &c.OldPath)
	for _, side := range []struct {
		name string
		sum  *Summary
	}{{"before", c.Before}, {"after", c.After}} {
		if side.sum != nil {
			eachInSummary(side.name, side.sum, visit)
		}
	}
	for i := range c.Fields {
		f := &c.Fields[i]
		visit("fields.name", &f.Name)
		visit("fields.before", &f.Before)
		visit("fields.after", &f.After)
	}
	for i := range c.Findings {
		visit("findings.field", &c.Findings[i].Field)
	}
}

func eachInSummary(side string, s *Summary, visit func(string, *redact.Shown)) {
	for name, text := range map[string]*redact.Shown{
		"server_id": &s.ServerID, "path": &s.Path, "connect_capability": &s.ConnectCapability, "call_capability": &s.CallCapability,
		"command": &s.Command, "cwd": &s.Cwd, "url": &s.URL,
	} {
		visit(side+"."+name, text)
	}
	for name, list := range map[string][]redact.Shown{
		"args": s.Args, "env_names": s.EnvNames, "header_names": s.HeaderNames, "tools.include": s.Tools.Include, "tools.exclude": s.Tools.Exclude,
	} {
		for i := range list {
			visit(side+"."+name, &list[i])
		}
	}
}
