package hooks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// bodyMark begins the line by which evolve knows its own hooks, of this version
// and of older ones. The number goes up when a body changes.
const (
	bodyMark    = "# evolve hook body "
	bodyVersion = "1"
)

// aside is the ending of a hook that was there before.
const aside = ".before-evolve"

// body is a hook's text. program is evolve-hook's command, one word or two.
func body(name string, program []string) string {
	return fmt.Sprintf("#!/bin/sh\n%s%s: %s\n# Made by \"evolve hook install\"; \"evolve hook uninstall\" takes it away.\nexec %s %s \"$@\"\n",
		bodyMark, bodyVersion, name, command(program), name)
}

// chainedBody also runs the hook that was there before, with the same arguments
// and standard input, and with its exit status where it refuses. It runs first,
// so that a push which it refuses leaves no claim; in post-receive, last.
func chainedBody(dir, name string, program []string) string {
	own := fmt.Sprintf("%s %s \"$@\" <\"$input\"", command(program), name)
	before := "\"$before\" \"$@\" <\"$input\""
	run := before + " || exit\n" + own + "\n"
	if name == "post-receive" {
		run = own + " || :\n" + before + "\n"
	}
	return fmt.Sprintf(`#!/bin/sh
%s%s: %s, with the hook that was here before
# Made by "evolve hook install"; "evolve hook uninstall" puts the other back.
before="${0%%/*}/%s%s"
[ -e "$before" ] || before=%s
input=$(mktemp) && cat >"$input" || exit 1
trap 'rm -f "$input"' EXIT
trap 'exit 1' HUP INT TERM
%s`, bodyMark, bodyVersion, name, name, aside, quote(filepath.Join(dir, name+aside)), run)
}

func command(program []string) string {
	words := make([]string, len(program))
	for i, w := range program {
		words[i] = quote(w)
	}
	return strings.Join(words, " ")
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// found is what stands at a hook's place.
type found struct {
	path       string
	text       string // "" if the file does not exist or is large
	exists     bool
	own        bool // evolve's, of whatever version
	executable bool
	chained    bool // a hook that was there before stands aside
}

// look reads a hook's place, through symbolic links: gitolite links hooks from a
// common directory.
func look(path string) found {
	const largest = 64 << 10 // ours are under 1 KiB
	f := found{path: path}
	if _, err := os.Lstat(path); err == nil {
		f.exists = true
	}
	info, err := os.Stat(path)
	if err != nil {
		return f
	}
	f.executable = info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
	if info.Mode().IsRegular() && info.Size() <= largest {
		if data, err := os.ReadFile(path); err == nil {
			f.text = string(data)
		}
	}
	for line := range strings.Lines(f.text) {
		f.own = f.own || strings.HasPrefix(line, bodyMark)
	}
	_, err = os.Lstat(path + aside)
	f.chained = err == nil
	return f
}

// program is the path of the program that a body of ours runs, "" if it cannot be
// told.
func (f found) program() string {
	for line := range strings.Lines(f.text) {
		if _, rest, ok := strings.Cut(strings.TrimPrefix(line, "exec "), "'"); ok && !strings.HasPrefix(line, "#") && !strings.Contains(line, "before=") {
			if path, _, ok := strings.Cut(rest, "' "); ok && strings.HasPrefix(path, "/") {
				return strings.ReplaceAll(path, `'\''`, "'")
			}
		}
	}
	return ""
}
