package securitydiff

import (
	"strings"

	"github.com/evolve-mcp/evolve/internal/redact"
)

// show returns what may be printed of a text at a position, and whether that is
// the text itself.
func show(p redact.Position, text string) (redact.Shown, bool) {
	shown, verdict := redact.Show(p, redact.NewRaw(text))
	return shown, verdict == redact.Passed
}

// plainWord reports whether a text is one of a list of words that every reader
// knows from the manuals of launchers and servers. Such a word is shown wherever
// it stands.
func plainWord(s string) bool { return plainWords[s] }

var plainWords = set(`true false yes no on off none null auto all any default stdio sse http https tcp udp stream streamable-http
	streamable_http run exec start serve server dev prod production staging test debug info warn warning error trace verbose quiet
	mcp mcp-server client proxy host bridge local localhost remote read write readonly read-only read-write rw ro json yaml text
	dlx x tool install build up compose main latest stable always never missing if-not-present node python python3 bash sh cmd
	npx uvx docker podman npm pnpm yarn bun deno go cargo pipx uv -y -i -t -it -ti -d -e -v -p -c -lc -ic -ec -m -q -u -f -h -n -x
	/c /C /k -rm 127.0.0.1 ::1 0.0.0.0`)

// dashSecrets are options of one dash that take a secret, as Go programs have.
var dashSecrets = set("-token -api-key -apikey -api_key -password -secret -auth-token -access-token -pwd")

// dashWords are options of one dash that are words (Go's flag package, PowerShell,
// java).
var dashWords = set(`-transport -stdio -http -sse -port -host -addr -address -listen -config -debug -verbose -version -help -quiet
	-log -log-level -log-file -env -env-file -read-only -readonly -toolsets -user -username -url -endpoint -root -dir -path -file -data
	-db -database -timeout -jar -classpath -cp -server -insecure -Command -NoProfile -File -ExecutionPolicy -NonInteractive
	-EncodedCommand -NoLogo`)

// evaluators run a text in their own language behind these options.
var evaluators = map[string]map[string]bool{
	"python": set("-c"), "pypy": set("-c"), "py": set("-c"), "node": set("-e --eval -p --print"), "bun": set("-e --eval"),
	"ruby": set("-e"), "perl": set("-e -E"), "php": set("-r"), "osascript": set("-e"),
}

// bareName is a program's name without a version at its end: python3.12.
func bareName(program string) string { return strings.TrimRight(program, "0123456789.-") }

func isPython(program string) bool {
	name := bareName(program)
	return name == "python" || name == "pypy" || name == "py"
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > 0x7e })
}
