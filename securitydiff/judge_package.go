package securitydiff

import (
	"strings"

	"github.com/evolve-mcp/evolve/internal/pattern"
	"github.com/evolve-mcp/evolve/internal/redact"
)

var (
	exactNPM    = pattern.New(`^(?:npm:|jsr:)?(@[^/@]+/)?[^/@]+@[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?$`)
	exactPython = pattern.New(`^[A-Za-z0-9._-]+(\[[A-Za-z0-9,_-]+\])?(==|@)[0-9][0-9A-Za-z.+!-]*$`)
	exactGo     = pattern.New(`^[a-z0-9.-]+\.[a-z]+(/[^/@]+)+@v[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?$`)
	exactTag    = pattern.New(`:v?[0-9]+(\.[0-9]+)*([._-][0-9A-Za-z._-]+)?$`)
	exactCommit = pattern.New(`[@#][0-9a-f]{40}$`)
	betweenRuns = pattern.New(`[;&|\n]+`) // of commands in a script
	localPath   = pattern.New(`^(\.{0,2}/|\.\.?$|[A-Za-z]:[\\/]|~|file:)`)
)

// pinned reports whether a package or image names one exact version.
func pinned(a arg) bool {
	s := a.raw
	switch {
	case a.kind == argImage:
		return digestPart.MatchString(s) || exactTag.MatchString(s)
	case vcsSource.MatchString(s):
		return exactCommit.MatchString(s)
	case localPath.MatchString(s):
		return true
	}
	return exactNPM.MatchString(s) || exactPython.MatchString(s) || exactGo.MatchString(s)
}

// runs lists the packages and images of a side, also those that a shell's string
// or a command line names.
func runs(w *view) []arg {
	var out []arg
	if w == nil {
		return nil
	}
	for _, a := range append(append([]arg{}, w.commandLine...), w.args...) {
		if a.kind == argPackage || a.kind == argImage {
			out = append(out, a)
		}
		if a.kind == argScript {
			out = append(out, scriptRuns(a.raw)...)
		}
	}
	return out
}

// scriptRuns finds package runners in a shell's string.
func scriptRuns(script string) []arg {
	var out []arg
	for _, line := range betweenRuns.Split(script, -1) {
		words := strings.Fields(line)
		for i, w := range words {
			runner := newRunner(programName(w))
			if !runner.active() {
				continue
			}
			r := &argReader{v: &viewer{}, program: programName(w), runner: runner}
			for j, s := range words[i+1:] {
				if a := r.one(j, s); a.kind == argPackage || a.kind == argImage {
					out = append(out, a)
				}
			}
			break
		}
	}
	return out
}

// judgePackages: whether what runs is one exact thing. A package that was already
// without a version weighs less than one that loses it.
func judgePackages(v *verdicts, before, after *view) {
	old := runs(before)
	wasLoose := map[argKind]bool{}
	hadAny := false
	for _, a := range old {
		hadAny = true
		if !pinned(a) {
			wasLoose[a.kind] = true
		}
	}
	for _, a := range runs(after) {
		field := redact.Shown("args")
		if at := indexOf(after.args, a.raw); at >= 0 {
			field = argField(at, &after.args[at])
		}
		id := "unpinned-package"
		if a.kind == argImage {
			id = "unpinned-image"
		}
		switch {
		case pinned(a):
		case before == nil || hadAny && !wasLoose[a.kind] && a.kind != argScript && !inScript(after, a):
			v.add(id, High, field)
		case a.kind == argImage && !wasLoose[a.kind]:
			v.add(id, High, field)
		default:
			v.add(id, Medium, field)
		}
		if a.kind == argPackage && vcsSource.MatchString(a.raw) && !has(old, a.raw) {
			v.add("vcs-source", High, field)
			if m := vcsParts.FindStringSubmatch(a.raw); m != nil && m[2] != "" {
				v.add("secret-in-url", High, field)
			}
		}
	}
}

func inScript(w *view, a arg) bool { return indexOf(w.args, a.raw) < 0 }

func indexOf(args []arg, raw string) int {
	for i, a := range args {
		if a.raw == raw {
			return i
		}
	}
	return -1
}

func has(list []arg, raw string) bool { return indexOf(list, raw) >= 0 }
