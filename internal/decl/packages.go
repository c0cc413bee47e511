package decl

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/evolve-mcp/evolve/internal/pattern"
)

// packageRunners run a package of a registry, unless the project has one of that
// name: its own, or one of its workspaces.
var packageRunners = words("npx pnpx bunx npm pnpm yarn bun")

// maxWorkspaces bounds the workspaces of a surface that are looked at.
const maxWorkspaces = 200

// localPackages binds the package of the repository that a package runner finds
// before it asks a registry.
func (b *binder) localPackages(line, dirs []string) error {
	names, runs := map[string]bool{}, false
	for _, word := range line {
		runs = runs || packageRunners[program(word)]
		for _, w := range strings.Split(word, "=") {
			if at := strings.LastIndexByte(w, '@'); at > 0 {
				w = w[:at]
			}
			names[w] = true
		}
	}
	if !runs {
		return nil
	}
	for _, dir := range dirs {
		p, err := b.packageAt(dir)
		if err != nil {
			return err
		}
		if p == nil {
			continue
		}
		if p.offers(names) {
			if err := b.bindDir(dir); err != nil {
				return err
			}
		}
		for _, pattern := range p.workspaces {
			if err := b.workspaces(dir, pattern, names); err != nil {
				return err
			}
		}
	}
	return nil
}

// npmPackage is what matters of a package.json.
type npmPackage struct {
	name       string
	commands   []string
	workspaces []string
}

func (p *npmPackage) offers(names map[string]bool) bool {
	for _, c := range p.commands {
		if names[c] {
			return true
		}
	}
	return p.name != "" && names[p.name]
}

// listItem is an entry of the packages of a pnpm-workspace.yaml.
var listItem = pattern.New(`(?m)^\s*-\s*['"]?([^'"#\s]+)`)

// packageAt reads the package of a directory, nil if there is none that can be
// read. Each is read once.
func (b *binder) packageAt(dir string) (*npmPackage, error) {
	if known, ok := b.l.packages[dir]; ok {
		return known, nil
	}
	b.l.packages[dir] = nil
	data, err := b.plainFile(dir, "package.json")
	if err != nil || data == nil {
		return nil, err
	}
	var raw struct {
		Name       string          `json:"name"`
		Bin        json.RawMessage `json:"bin"`
		Workspaces json.RawMessage `json:"workspaces"`
	}
	_ = json.Unmarshal(data, &raw) // what cannot be read, npm cannot read either
	p := &npmPackage{name: raw.Name, workspaces: jsonStrings(raw.Workspaces)}
	commands := map[string]string{}
	_ = json.Unmarshal(raw.Bin, &commands)
	for c := range commands {
		p.commands = append(p.commands, c)
	}
	if p.name != "" {
		p.commands = append(p.commands, p.name[strings.LastIndexByte(p.name, '/')+1:])
	}
	pnpm, err := b.plainFile(dir, "pnpm-workspace.yaml")
	if err != nil {
		return nil, err
	}
	for _, m := range listItem.FindAllStringSubmatch(string(pnpm), -1) {
		p.workspaces = append(p.workspaces, m[1])
	}
	b.l.packages[dir] = p
	return p, nil
}

// plainFile reads a regular file, nil if there is none or it is too large.
func (b *binder) plainFile(dir, name string) ([]byte, error) {
	here, err := b.l.dirs.list(b.ctx, dir)
	if err != nil || here == nil {
		return nil, err
	}
	e, found := here.entry(name)
	if !found || !e.Mode.IsRegular() {
		return nil, nil
	}
	data, err := b.l.dirs.tree.Read(b.ctx, dir, e, MaxFileBytes)
	if errors.Is(err, ErrTooLarge) {
		return nil, nil
	}
	if err != nil {
		return nil, readError(join(dir, name), err)
	}
	return data, nil
}

// workspaces binds those workspaces of a project that a pattern names and that
// offer one of the names.
func (b *binder) workspaces(dir, pattern string, names map[string]bool) error {
	at := []string{dir}
	for _, segment := range strings.Split(strings.Trim(strings.TrimPrefix(pattern, "./"), "/"), "/") {
		var next []string
		for _, d := range at {
			var err error
			if next, err = b.below(d, segment, next); err != nil {
				return err
			}
		}
		at = next
	}
	for _, d := range at {
		p, err := b.packageAt(d)
		if err != nil {
			return err
		}
		if p != nil && p.offers(names) {
			if err := b.bindDir(d); err != nil {
				return err
			}
		}
	}
	return nil
}

// below adds the directories in dir that one segment of a pattern names; ** is
// the directory itself and all below it.
func (b *binder) below(dir, segment string, out []string) ([]string, error) {
	if segment == "**" {
		out = append(out, dir)
	}
	here, err := b.l.dirs.list(b.ctx, dir)
	if err != nil || here == nil {
		return out, err
	}
	for _, e := range here.entries {
		if e.Mode != ModeTree || len(out) >= maxWorkspaces || e.Name == "node_modules" {
			continue
		}
		switch {
		case segment == "**":
			if out, err = b.below(join(dir, e.Name), segment, out); err != nil {
				return out, err
			}
		case globSegment(segment, e.Name):
			out = append(out, join(dir, e.Name))
		}
	}
	return out, nil
}
