package securitydiff

import (
	"strings"

	"github.com/evolve-mcp/evolve/internal/pattern"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// argKind is what an argument is, by its position.
type argKind int

const (
	argValue    argKind = iota // a positional argument or an option's value, withheld
	argWord                    // a plain word
	argOption                  // an option, with or without a value of its own
	argSecret                  // the value of an option that is named as secret
	argPackage                 // what a package runner runs
	argImage                   // what a container runner runs
	argPath                    // a path that exists in the tree
	argEnvPair                 // NAME or NAME=VALUE behind -e or --env
	argHeader                  // Name: value behind --header
	argProgram                 // a program within a package, a module of an interpreter
	argScript                  // a shell's or an interpreter's string
	argKnownRaw                // equal to an entry of the host's list
)

// arg is one argument: what may be shown of it, and what the judges look at.
type arg struct {
	raw    string
	shown  redact.Shown
	kind   argKind
	option string // the option itself, or the one that this value belongs to
	value  string // the attached or own value, withheld
	name   string // of an environment pair or header
	// class says what kind of value it is, "" if nothing helps.
	class string
}

var (
	longOption  = pattern.New(`^(--[A-Za-z0-9][A-Za-z0-9._-]*)([=:])(.*)$`)
	plainOption = pattern.New(`^--[A-Za-z0-9][A-Za-z0-9]*([-_.][A-Za-z0-9]+)*$`)
	nextOption  = pattern.New(`^(-[A-Za-z]|--[a-z]+(-[a-z]+)*)$`)
	slashOption = pattern.New(`^(/[A-Za-z][A-Za-z-]*)([:=])(.+)$`)
	shortOption = pattern.New(`^-[A-Za-z0-9]$`)
	// singleDash is Go's and PowerShell's form, for names that are known: -pVALUE
	// with a value that holds "=" looks the same.
	singleDash = pattern.New(`^(-[A-Za-z][A-Za-z0-9-]{3,})(=)(.*)$`)
	envPair    = pattern.New(`^([A-Za-z_][A-Za-z0-9_]*)(=(.*))?$`)
	headerPair = pattern.New(`^([A-Za-z][A-Za-z0-9-]*)\s*:\s*(.*)$`)
	wholeRef   = pattern.New(`^(?:([A-Za-z]+) )?\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)
)

// isReference: a value that is nothing but ${NAME}, behind an authentication
// scheme at most.
func isReference(v string) bool {
	m := wholeRef.FindStringSubmatch(v)
	return m != nil && (m[1] == "" || authSchemes[strings.ToLower(m[1])])
}

// showReference shows a value that isReference.
func showReference(v string) redact.Shown {
	m := wholeRef.FindStringSubmatch(v)
	if m == nil {
		return redact.Redacted
	}
	out := "${" + nameAt(redact.EnvName, m[2]) + "}"
	if m[1] != "" {
		out = redact.Shown(m[1]) + " " + out
	}
	return out
}

// argReader classifies the arguments of one command line.
type argReader struct {
	v       *viewer
	program string // the base name of the command
	field   string // what the arguments are called: args
	out     []arg
	// pending is the option whose value the next argument may be.
	pending string
	runner  runnerState
	shell   bool // the next argument is a shell's string
	// shellWords: a shell such as cmd takes all that follows as its string.
	shellWords bool
}

// read classifies all arguments, in order.
func (v *viewer) readArgs(command string, args []string) []arg {
	r := &argReader{v: v, program: programName(command), field: "args"}
	r.runner = newRunner(r.program)
	for i, a := range args {
		r.out = append(r.out, r.one(i, a))
	}
	return r.out
}

func (r *argReader) one(i int, s string) arg {
	pending := r.pending
	r.pending = ""
	shell := r.shell
	r.shell = false
	if shell {
		return r.withheld(i, s, arg{kind: argScript, class: "shell script"})
	}
	if pending != "" {
		if a, done := r.valueOf(i, pending, s); done {
			r.runner.waiting = false
			return a
		}
	}
	if len(s) > 1 && s[0] == '-' {
		return r.optionArg(i, s)
	}
	if strings.HasPrefix(pending, "--") {
		a := r.positional(i, s)
		if a.kind == argValue {
			a.option = pending
		}
		return a
	}
	if m := slashOption.FindStringSubmatch(s); m != nil && redact.SecretName(m[1]) {
		return r.attached(i, s, m[1], m[2], m[3])
	}
	return r.positional(i, s)
}

// valueOf reads an argument behind an option that takes a value of a known kind.
// done is false if it is to be read like any other.
func (r *argReader) valueOf(i int, option, s string) (arg, bool) {
	name := strings.TrimLeft(option, "-")
	switch {
	case isEnvOption(r, option):
		return r.envArg(i, s, option, ""), true
	case name == "header" || name == "headers" || option == "-H":
		return r.headerArg(i, s, option, ""), true
	case r.runner.takesPackage(option):
		return r.packageArg(i, s, argPackage), true
	case option == "-m" && isPython(r.program):
		return r.packageArg(i, s, argProgram), true
	case !redact.SecretName(option):
		return arg{}, false
	case nextOption.MatchString(s):
		return arg{}, false
	}
	a := arg{raw: s, kind: argSecret, option: option, value: s, shown: redact.Redacted}
	if isReference(s) {
		a.shown = showReference(s)
	}
	r.v.withhold(s)
	return a, true
}

func isEnvOption(r *argReader, option string) bool {
	return option == "--env" || option == "-e" && r.forContainer()
}

// forContainer: an option of docker run itself, not of what the image runs.
func (r *argReader) forContainer() bool { return r.runner.container && !r.runner.named }

func (r *argReader) optionArg(i int, s string) arg {
	if s == "--" || s == "-" {
		r.runner.sawOption("")
		return arg{raw: s, shown: redact.Shown(s), kind: argWord}
	}
	if m := longOption.FindStringSubmatch(s); m != nil {
		return r.attached(i, s, m[1], m[2], m[3])
	}
	if m := singleDash.FindStringSubmatch(s); m != nil && (dashSecrets[m[1]] || dashWords[m[1]]) {
		return r.attached(i, s, m[1], m[2], m[3])
	}
	if r.forContainer() && strings.HasPrefix(s, "-e") && len(s) > 2 && s[1] != '-' && envPair.MatchString(s[2:]) {
		return r.envArg(i, s[2:], "-e", "-e")
	}
	if plainOption.MatchString(s) || dashSecrets[s] || dashWords[s] || shortOption.MatchString(s) || plainWord(s) {
		if shown, ok := show(redact.OptionName, s); ok {
			r.pending = s
			r.runner.sawOption(s)
			r.shell = evaluators[bareName(r.program)][s] || shellPrograms[r.program] && isScriptFlag(s) || r.v.nestedShell(r.out) && isScriptFlag(s)
			return arg{raw: s, shown: shown, kind: argOption, option: s}
		}
	}
	if len(s) > 2 && s[1] != '-' && shortOption.MatchString(s[:2]) {
		// A short option with its value attached, or a cluster that is not known.
		a := r.withheld(i, s[2:], arg{kind: argOption, option: s[:2]})
		a.raw, a.shown = s, redact.Shown(s[:2])+a.shown
		return a
	}
	return r.withheld(i, s, arg{kind: argValue})
}

// attached reads --name=value.
func (r *argReader) attached(i int, s, option, sep, value string) arg {
	name, ok := show(redact.OptionName, option)
	if !ok {
		return r.withheld(i, s, arg{kind: argValue})
	}
	r.runner.sawOption(option + "=")
	switch {
	case option == "--env":
		return r.envArg(i, value, option, option+"=")
	case option == "--header" || option == "--headers":
		return r.headerArg(i, value, option, option+"=")
	case redact.SecretName(option):
		r.v.withhold(value)
		a := arg{raw: s, kind: argOption, option: option, value: value, shown: name + redact.Shown(sep) + redact.Redacted}
		if isReference(value) {
			a.shown = name + redact.Shown(sep) + showReference(value)
		}
		return a
	}
	a := r.plainOrWithheld(i, value, arg{kind: argOption, option: option})
	a.raw, a.shown = s, name+redact.Shown(sep)+a.shown
	return a
}

// envArg reads NAME or NAME=VALUE. Elsewhere than in docker run the option can
// mean anything, so that only what is written like a variable counts as one.
func (r *argReader) envArg(i int, s, option, prefix string) arg {
	m := envPair.FindStringSubmatch(s)
	if m == nil || !r.forContainer() && m[1] != strings.ToUpper(m[1]) {
		return r.withheld(i, s, arg{kind: argValue, option: option})
	}
	name, ok := show(redact.EnvName, m[1])
	if !ok {
		return r.withheld(i, s, arg{kind: argValue, option: option})
	}
	a := arg{raw: prefix + s, kind: argEnvPair, option: option, name: m[1], value: m[3], shown: redact.Shown(prefix) + name}
	if m[2] != "" {
		r.v.withhold(m[3])
		a.shown += "=" + secretOrRef(m[3])
	}
	return a
}

func secretOrRef(v string) redact.Shown {
	if isReference(v) {
		return showReference(v)
	}
	return redact.Redacted
}

// headerArg reads "Name: value".
func (r *argReader) headerArg(i int, s, option, prefix string) arg {
	m := headerPair.FindStringSubmatch(s)
	if m == nil {
		return r.withheld(i, s, arg{kind: argValue, option: option})
	}
	name, ok := show(redact.HeaderName, m[1])
	if !ok {
		return r.withheld(i, s, arg{kind: argValue, option: option})
	}
	if !isReference(m[2]) {
		r.v.withhold(m[2])
		r.v.withhold(withoutScheme(m[2]))
	}
	return arg{
		raw: prefix + s, kind: argHeader, option: option, name: m[1], value: m[2],
		shown: redact.Shown(prefix) + name + ": " + secretOrRef(m[2]),
	}
}

func (r *argReader) positional(i int, s string) arg {
	if !r.runner.active() && runnerNamed(s) {
		r.runner = newRunner(programName(s)) // a runner behind a wrapper
		return r.plainOrWithheld(i, s, arg{kind: argValue})
	}
	if isScriptFlag(s) && (shellPrograms[r.program] || r.v.nestedShell(r.out)) {
		r.shellWords = true
	}
	if r.shellWords && strings.ContainsAny(s, " \t") {
		return r.withheld(i, s, arg{kind: argScript, class: "shell script"})
	}
	if m := envPair.FindStringSubmatch(s); m != nil && m[2] != "" && r.program == "env" && !r.runner.active() {
		return r.envArg(i, s, "", "")
	}
	if kind, ok := r.runner.positional(s); ok {
		return r.packageArg(i, s, kind)
	}
	return r.plainOrWithheld(i, s, arg{kind: argValue})
}

func (r *argReader) packageArg(i int, s string, kind argKind) arg {
	if kind == argPackage && r.v.namesPath(s) {
		return r.plainOrWithheld(i, s, arg{kind: argValue}) // what is run is bound
	}
	if shown, ok := showPackage(r.v, s, kind); ok {
		return arg{raw: s, kind: kind, shown: shown}
	}
	return r.withheld(i, s, arg{kind: kind})
}

// plainOrWithheld shows a word of the list, a path of the tree, an entry of the
// host's list; anything else is a fingerprint.
func (r *argReader) plainOrWithheld(i int, s string, a arg) arg {
	a.raw = s
	switch {
	case s == "":
		a.shown = `""`
		return a
	case plainWord(s):
		a.shown = redact.Shown(s)
		if a.kind == argValue {
			a.kind = argWord
		}
		return a
	case r.v.known[s]:
		a.shown = redact.Escape(s)
		if a.kind == argValue {
			a.kind = argKnownRaw
		}
		return a
	case r.v.namesPath(s):
		if shown, ok := show(redact.FilePath, s); ok {
			a.shown = shown
			if a.kind == argValue {
				a.kind = argPath
			}
			return a
		}
	}
	return r.withheld(i, s, a)
}

// withheld stands for a value by a fingerprint, a length class, and a class word.
func (r *argReader) withheld(i int, s string, a arg) arg {
	a.raw, a.value = s, s
	if a.class == "" {
		a.class = classOf(s)
	}
	r.v.withhold(s)
	a.shown = r.v.placeholder(r.field, i, s, a.class)
	return a
}

// placeholder is "<value #3f9a61c2 8-15>".
func (v *viewer) placeholder(field string, index int, value, class string) redact.Shown {
	return v.fingerprint.Class(class, v.path, field, index, redact.NewRaw(value))
}

var (
	schemeURL   = pattern.New(`^[A-Za-z][A-Za-z0-9+.-]*://`)
	windowsPath = pattern.New(`^[A-Za-z]:[\\/]`)
	digitsOnly  = pattern.New(`^[0-9]+$`)
)

// classOf is a word that helps a reviewer without telling the value.
func classOf(s string) string {
	switch lower := strings.ToLower(s); {
	case strings.HasPrefix(lower, "http://"), strings.HasPrefix(lower, "https://"):
		return "URL"
	case schemeURL.MatchString(s):
		return "connection string"
	case strings.HasPrefix(s, "/"), windowsPath.MatchString(s), strings.HasPrefix(s, "~"):
		return "absolute path"
	case strings.HasPrefix(s, "{"), strings.HasPrefix(s, "["):
		return "JSON"
	case digitsOnly.MatchString(s) && len(s) <= 5:
		return "number"
	}
	return "value"
}
