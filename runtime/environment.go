package runtime

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// environment is everything that a child gets: the host's allowlist, a private
// home, and what the declaration says. ok is false if the declaration names a
// home of its own.
func environment(lookup func(string) (string, bool), extra []string, home string, declared []resolved) (env []string, ok bool) {
	values := map[string]bool{}
	for _, r := range declared {
		if strings.EqualFold(r.name, "HOME") || strings.EqualFold(r.name, "USERPROFILE") {
			return nil, false
		}
		values[r.name] = true
	}
	for _, name := range slices.Concat(allowedEnv, extra) {
		if strings.EqualFold(name, "HOME") || strings.EqualFold(name, "USERPROFILE") {
			continue
		}
		if v, set := lookup(name); set && !values[name] {
			env = append(env, name+"="+v)
		}
	}
	env = append(env, homeEnv(home)...)
	for _, r := range declared {
		env = append(env, r.name+"="+r.value)
	}
	return env, true
}

// privateHome makes the home of one server of one core, readable by its owner
// only. It stays from run to run: package runners keep their caches there.
func privateHome(runtimeHome, core, server string) (string, error) {
	sum := sha256.Sum256([]byte(core + "\x00" + server))
	dir := filepath.Join(runtimeHome, "mcp", "homes", hex.EncodeToString(sum[:8]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o700)
}
