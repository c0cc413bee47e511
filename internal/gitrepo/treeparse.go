package gitrepo

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/evolve-mcp/evolve/internal/decl"
)

// parseTree parses the bytes of a tree object. It is strict where Git is
// lenient, since two readers of a tree that breaks these rules see two
// different sets of files: entries are sorted as Git sorts them, no name
// appears twice, modes are known and written in one way, names are single
// components and none is .git.
//
// The entries come back sorted bytewise by name, which is not Git's order: it
// sorts a directory as if its name ended in a slash. The problem is "" for a good tree, else one sentence without a name from it.
func parseTree(data []byte, idBytes int) (entries []decl.Entry, problem string) {
	var previous string
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
		key := e.Name
		if e.Mode == decl.ModeTree {
			key += "/"
		}
		switch {
		case previous == key:
			return nil, "a name appears twice"
		case previous > key:
			return nil, "its entries are not in order"
		}
		previous = key
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b decl.Entry) int { return cmp.Compare(a.Name, b.Name) })
	for i := 1; i < len(entries); i++ {
		if entries[i].Name == entries[i-1].Name { // a file and a directory
			return nil, "a name appears twice"
		}
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
