package gitrepo

import (
	"bytes"
	"encoding/hex"
	"strings"

	"github.com/evolve-mcp/evolve/internal/decl"
)

// parseTree parses the bytes of a tree object. It is strict where Git is
// lenient, since two readers of a tree that breaks these rules see two
// different sets of files: entries are sorted as Git sorts them, no name
// appears twice, modes are known and written in one way, names are single
// components and none is .git.
//
// The problem is "" for a good tree, else one sentence without a name from it.
func parseTree(data []byte, idBytes int) (entries []decl.Entry, problem string) {
	var previous string
	seen := map[string]bool{}
	for len(data) > 0 {
		mode, rest, ok := bytes.Cut(data, []byte{' '})
		if !ok {
			return nil, "an entry has no mode"
		}
		name, rest, ok := bytes.Cut(rest, []byte{0})
		if !ok || len(rest) < idBytes {
			return nil, "an entry is cut short"
		}
		e := decl.Entry{Name: string(name), Mode: treeModes[string(mode)], ID: hex.EncodeToString(rest[:idBytes])}
		data = rest[idBytes:]
		if e.Mode == 0 {
			return nil, "an entry has an unknown mode"
		}
		if problem := checkName(e.Name); problem != "" {
			return nil, problem
		}
		if seen[e.Name] {
			return nil, "a name appears twice"
		}
		seen[e.Name] = true
		key := e.Name
		if e.Mode == decl.ModeTree {
			key += "/"
		}
		if previous != "" && previous >= key {
			return nil, "its entries are not in order"
		}
		previous = key
		entries = append(entries, e)
	}
	return entries, ""
}

// treeModes are the modes as a tree spells them. Git once wrote 100664 too; no
// Git of this century does.
var treeModes = map[string]decl.Mode{
	"40000":  decl.ModeTree,
	"100644": decl.ModeRegular,
	"100755": decl.ModeExecutable,
	"120000": decl.ModeSymlink,
	"160000": decl.ModeSubmodule,
}

func checkName(name string) string {
	switch {
	case name == "":
		return "an entry has no name"
	case name == "." || name == "..":
		return "an entry is named . or .."
	case strings.EqualFold(name, ".git"):
		return "an entry is named .git"
	case strings.Contains(name, "/"):
		return "an entry's name holds a slash"
	}
	return ""
}
