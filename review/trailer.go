package review

import (
	"strings"

	"github.com/evolve-mcp/evolve/internal/pattern"
)

// trailerName is the name of the trailer that carries a token.
const trailerName = "MCP-Review"

// trailerLine is one line of a trailer block, as git-interpret-trailers(1)
// writes them.
var trailerLine = pattern.New(`^([A-Za-z0-9][A-Za-z0-9-]*)[ \t]*:[ \t]*(.*)$`)

// pickedLine is what git cherry-pick -x adds to a trailer block.
const pickedLine = "(cherry picked from commit "

// TrailerTokens lists the tokens in MCP-Review trailers of commit messages, in
// order, each once. Only the last paragraph of a message counts, only if it is
// not the subject and holds nothing but trailers, and only a well-formed token.
func TrailerTokens(messages []string) []Token {
	var out []Token
	seen := map[Token]bool{}
	for _, m := range messages {
		for _, value := range trailerValues(m) {
			if t, err := ParseToken(value); err == nil && !seen[t] {
				seen[t] = true
				out = append(out, t)
			}
		}
	}
	return out
}

// trailerValues lists the values of the MCP-Review trailers of one message. A
// line that begins with a space continues the value above it.
func trailerValues(message string) []string {
	var out []string
	ours := false
	for i, line := range lastParagraph(message) {
		m := trailerLine.FindStringSubmatch(line)
		switch {
		case i > 0 && (line[0] == ' ' || line[0] == '\t'):
			if ours {
				out[len(out)-1] += " " + strings.TrimSpace(line)
			}
		case strings.HasPrefix(line, pickedLine):
			ours = false
		case m == nil:
			return nil
		default:
			if ours = strings.EqualFold(m[1], trailerName); ours {
				out = append(out, strings.TrimSpace(m[2]))
			}
		}
	}
	return out
}

// lastParagraph is the last run of lines that are not blank, nil if it is the
// first one too: then it is the subject.
func lastParagraph(message string) []string {
	lines := strings.Split(message, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\r")
	}
	end := len(lines)
	for end > 0 && lines[end-1] == "" {
		end--
	}
	start := end
	for start > 0 && lines[start-1] != "" {
		start--
	}
	for _, line := range lines[:start] {
		if line != "" {
			return lines[start:end]
		}
	}
	return nil
}
