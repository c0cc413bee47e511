package decl

import (
	"bytes"
	"unicode/utf8"
)

const byteOrderMark = "\uFEFF"

// scan looks at the bytes of a file before any YAML reader sees them, for what
// such readers disagree on. It returns at most one problem of each kind.
func scan(data []byte) []lineProblem {
	var out []lineProblem
	if len(data) > MaxFileBytes {
		return []lineProblem{{0, FileTooLarge, "the file has more than 262144 bytes; make it smaller"}}
	}
	line, encoding, control := 1, false, false
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			if !encoding {
				out = append(out, lineProblem{line, EncodingInvalid, "this line is not UTF-8; save the file as UTF-8"})
			}
			encoding = true
		case r == '\n':
			line++
		case refusedRune(r) && !isCRLF(data, i):
			if !control {
				out = append(out, lineProblem{line, ControlCharacter,
					"this line holds a control character or an unusual line separator; remove it, or write it as an escape inside double quotes"})
			}
			control = true
		}
		i += size
	}
	if line := directiveLine(data); line > 0 {
		out = append(out, lineProblem{line, YAMLDirective, "a YAML directive is not allowed; remove the line"})
	}
	return out
}

type lineProblem struct {
	line    int
	code    ProblemCode
	message string
}

// refusedRune: control characters, on which parsers disagree whether they end
// a line or are allowed at all (YAML 1.1 section 4.2, YAML 1.2 section 5.4). A
// byte order mark that is not the first character is among them: some readers
// drop it at the start of any line, others take it for part of a key.
func refusedRune(r rune) bool {
	switch {
	case r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r <= 0x9f, r == 0x2028, r == 0x2029, r == 0xfeff, r == 0xfffe, r == 0xffff:
		return true
	}
	return false
}

func isCRLF(data []byte, i int) bool {
	return data[i] == '\r' && i+1 < len(data) && data[i+1] == '\n'
}

// directiveLine is the line of the first %-directive in front of the document,
// or 0.
func directiveLine(data []byte) int {
	for n, line := range bytes.Split(data, []byte("\n")) {
		switch trimmed := bytes.TrimSpace(line); {
		case len(trimmed) == 0, trimmed[0] == '#':
		case line[0] == '%':
			return n + 1
		default:
			return 0
		}
	}
	return 0
}
