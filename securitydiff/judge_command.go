package securitydiff

import (
	"path"
	"strings"

	"github.com/evolve-mcp/evolve/internal/pattern"
)

// judgeCommand: what program runs, through what, and where.
func judgeCommand(v *verdicts, before, after *view, args []argPair) {
	if before != nil && before.d.Transport != after.d.Transport {
		v.add("transport-changed", Medium, "transport")
	}
	if before != nil && before.d.Command.Len() > 0 && after.d.Command.Len() > 0 && before.d.Command.Reveal() != after.d.Command.Reveal() {
		v.add("command-changed", High, "command")
	}
	if len(after.commandLine) > 0 && (before == nil || before.d.Command.Reveal() != after.d.Command.Reveal()) {
		v.add("malformed-command", Medium, "command")
	}
	if escapes(after.d.Cwd.Reveal()) && (before == nil || before.d.Cwd.Reveal() != after.d.Cwd.Reveal()) {
		v.add("cwd-escape", High, "cwd")
	}
	wasShell := before != nil && runsShell(before)
	for _, p := range args {
		if p.after == nil {
			judgeRemovedArg(v, p)
			continue
		}
		if p.before != nil && p.before.raw == p.after.raw {
			continue
		}
		judgeChangedArg(v, p)
	}
	if runsShell(after) && (!wasShell || scriptOf(before) != scriptOf(after)) {
		v.add("shell-wrapper", High, "command")
	}
}

// escapes: a working directory that is absolute or climbs out of the workspace.
func escapes(cwd string) bool {
	cwd = strings.ReplaceAll(strings.Map(visible, cwd), `\`, "/")
	if cwd == "" {
		return false
	}
	clean := path.Clean(cwd)
	return strings.HasPrefix(clean, "/") || clean == ".." || strings.HasPrefix(clean, "../") || windowsPath.MatchString(cwd) || strings.HasPrefix(cwd, "~")
}

func visible(r rune) rune {
	if r < 0x20 || r > 0x7e {
		return -1
	}
	return r
}

func runsShell(w *view) bool { return scriptOf(w) != "" }

func scriptOf(w *view) string {
	if w == nil {
		return ""
	}
	shell := shellPrograms[w.program]
	for i, a := range w.args {
		shell = shell || shellPrograms[programName(a.raw)]
		if a.kind == argScript {
			return a.raw
		}
		if shell && i > 0 && isScriptFlag(w.args[i-1].raw) {
			return a.raw
		}
	}
	return ""
}

// pipeToShell: what is fetched goes straight into an interpreter.
var (
	fetches    = pattern.New(`(?i)\b(curl|wget|fetch|iwr|irm|invoke-webrequest|invoke-restmethod)\b`)
	intoShell  = pattern.New(`(?i)(\|\s*(sudo\s+)?(sh|bash|zsh|dash|python[0-9.]*|node|perl|ruby|iex)\b|<\(|\beval\b|\biex\b|\$\(|` + "`" + `)`)
	dangerFlag = pattern.New(`^--?(dangerously-.*|no-sandbox|disable-(web-)?(sandbox|security)|allow-(all|root|run|write|net|read|env|ffi|sys|http|any.*|unsafe.*|dangerous.*)|` +
		`unsafe.*|insecure.*|ignore-(https|certificate|ssl|tls)-errors|no-(verify|check|auth|tls|ssl|confirm|prompt).*|skip-(permissions?|verify|auth|confirm.*)|` +
		`yolo|full-auto|trust-all.*|disable-auth.*|access-mode|unrestricted|skip-ssl.*|force-unsafe.*)$`)
	guardFlag = pattern.New(`^--?(read-?only|isolated|sandbox|restricted|safe(-mode)?|no-network|dry-run|strict|verify|` +
		`require-(auth|approval|confirm.*)|deny.*|block.*|allowed-(hosts|origins|paths|dirs|directories)|disable-(write|delete|exec|shell).*|` +
		`no-(write|exec|shell|delete)|network-none|headless-only|cap-drop|security-opt|max-.*)$`)
	tlsFlag = pattern.New(`^--?(insecure|ignore-(https|certificate|ssl|tls)-errors|no-verify-ssl|no-check-certificate|k)$`)
)

func judgeRemovedArg(v *verdicts, p argPair) {
	a := p.before
	if a.kind == argOption && guardFlag.MatchString(a.option) {
		v.add("guard-flag-removed", High, argField(p.i, a))
	}
}

func judgeChangedArg(v *verdicts, p argPair) {
	a, field := p.after, argField(p.j, p.after)
	if a.kind == argOption && (p.before == nil || p.before.option != a.option) && dangerFlag.MatchString(strings.ToLower(a.option)) && !turnedOff(a) {
		v.add("dangerous-flag", High, field)
		if tlsFlag.MatchString(a.option) {
			v.add("tls-verification-off", High, field)
		}
	}
	if p.before != nil && p.before.kind == argOption && p.before.option != a.option {
		judgeRemovedArg(v, p)
	}
	if a.kind == argScript || strings.ContainsAny(a.raw, " |") {
		if fetches.MatchString(a.raw) && intoShell.MatchString(a.raw) {
			v.add("remote-code-exec", Critical, field)
		}
	}
	if widerRoot(p) {
		v.add("filesystem-root-widened", High, field)
	}
	if a.kind == argValue && p.before != nil && p.before.kind == argValue && a.option == "" {
		v.add("positional-changed", Low, field)
	}
}

// turnedOff: --allow-write=false.
func turnedOff(a *arg) bool {
	_, value, attached := strings.Cut(a.raw, "=")
	return attached && (value == "false" || value == "0" || value == "no" || value == "off")
}

// widerRoot: a path argument that becomes a parent of what it was, or is one of
// the roots that hold everything.
func widerRoot(p argPair) bool {
	a := p.after.raw
	if p.after.kind == argOption {
		_, a, _ = strings.Cut(a, "=")
	}
	if broadRoots[strings.TrimRight(a, `/\`)] && strings.ContainsAny(a, `/\~:`) {
		return true
	}
	if p.before == nil {
		return false
	}
	b := p.before.raw
	if !strings.HasPrefix(a, "/") || !strings.HasPrefix(b, "/") {
		return false
	}
	a, b = path.Clean(a), path.Clean(b)
	return a != b && strings.HasPrefix(b, strings.TrimSuffix(a, "/")+"/")
}

var broadRoots = map[string]bool{
	"": true, "~": true, "/home": true, "/root": true, "/etc": true, "/usr": true, "/var": true, "/Users": true, "/opt": true,
	"C:": true, "c:": true, "D:": true, "/mnt/c": true, "$HOME": true, "/proc": true, "/sys": true, "/dev": true,
}
