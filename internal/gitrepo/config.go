package gitrepo

import (
	"context"
	"strings"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// Setting is one configured value and where it comes from.
type Setting struct {
	Key    string // as Git prints it: section and name in lower case
	Value  string
	Scope  string // system, global, local, worktree, command
	Origin string // file:PATH, command line:, ...
}

// Config is Git's configuration as it is in force.
type Config struct{ settings []Setting }

// Add puts one more setting behind those that are there.
func (c *Config) Add(s Setting) { c.settings = append(c.settings, s) }

// Settings are all settings, in the order of the files; nobody may change them.
func (c *Config) Settings() []Setting { return c.settings }

// Config reads the configuration. In a hook that leaves out what the
// environment gives.
func (r *Repo) Config(ctx context.Context) (*Config, error) {
	if c, ready, err := r.early.config(); ready {
		return c, err
	}
	return r.readConfig(ctx)
}

func (r *Repo) readConfig(ctx context.Context) (*Config, error) {
	out, err := r.run(ctx, command{args: []string{"config", "--list", "-z", "--show-origin", "--show-scope", "--includes"}})
	if err != nil {
		if fault.CodeOf(err) == fault.Interrupted {
			return nil, err
		}
		return nil, fault.New(fault.ConfigInvalid, "Git's configuration cannot be read").
			WithHint("git config --list says where it is broken").WithCause(err)
	}
	fields := strings.Split(string(out.stdout), "\x00")
	c := &Config{}
	const perSetting = 3
	for i := 0; i+perSetting <= len(fields); i += perSetting {
		s := Setting{Scope: fields[i], Origin: fields[i+1]}
		if s.Scope == "command" && strings.HasPrefix(s.Origin, "command line:") && isQuietSetting(fields[i+2]) {
			continue
		}
		key, value, hasValue := strings.Cut(fields[i+2], "\n")
		s.Key, s.Value = key, value
		if !hasValue {
			s.Value = "true" // "[section] name" alone, as Git reads it
		}
		c.settings = append(c.settings, s)
	}
	return c, nil
}

// isQuietSetting recognises the settings that run itself adds.
func isQuietSetting(kv string) bool {
	key, value, _ := strings.Cut(kv, "\n")
	for _, q := range quietSettings {
		if strings.EqualFold(q, key+"="+value) {
			return true
		}
	}
	return false
}

// Last returns the last value of a key, as Git would use it.
func (c *Config) Last(key string) (Setting, bool) {
	all := c.All(key)
	if len(all) == 0 {
		return Setting{}, false
	}
	return all[len(all)-1], true
}

// All returns every value of a key, in order. Section and name are compared
// without case, a subsection between them as it is.
func (c *Config) All(key string) []Setting {
	var out []Setting
	key = foldKey(key)
	for _, s := range c.settings {
		if s.Key == key {
			out = append(out, s)
		}
	}
	return out
}

// foldKey writes a key as Git prints it.
func foldKey(key string) string {
	first, last := strings.Index(key, "."), strings.LastIndex(key, ".")
	if first < 0 {
		return strings.ToLower(key)
	}
	return strings.ToLower(key[:first]) + key[first:last] + strings.ToLower(key[last:])
}
