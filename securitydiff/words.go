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

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > 0x7e })
}
