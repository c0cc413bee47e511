package safetext

import (
	"strings"
	"testing"
)

func TestTerminalEscapesWhatATerminalOrAnEyeWouldMisread(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"plain text", "refs/heads/main", "refs/heads/main"},
		{"empty", "", ""},
		{"colour", "a\x1b[31mred", `a\u{1b}[31mred`},
		{"title change by OSC and BEL", "\x1b]0;x\a", `\u{1b}]0;x\u{7}`},
		{"eight-bit CSI", "a\u009b2Jb", `a\u{9b}2Jb`},
		{"eight-bit CSI as a raw byte", "a\x9b2Jb", `a\x{9b}2Jb`},
		{"carriage return that overwrites", "safe\rEVIL", `safe\u{d}EVIL`},
		{"a second line", "a\nevolve: all is well", `a\u{a}evolve: all is well`},
		{"tab", "a\tb", `a\u{9}b`},
		{"delete", "a\x7fb", `a\u{7f}b`},
		{"bidirectional override", "gpj.\u202eexe", `gpj.\u{202e}exe`},
		{"bidirectional isolate", "\u2066x\u2069", `\u{2066}x\u{2069}`},
		{"zero width", "ad\u200bmin", `ad\u{200b}min`},
		{"byte order mark", "\ufeffmain", `\u{feff}main`},
		{"line separator", "a\u2028b", `a\u{2028}b`},
		{"no-break space", "a\u00a0b", `a\u{a0}b`},
		{"Cyrillic a", "m\u0430in", `m\u{430}in`},
		{"tag characters", "x\U000e0041", `x\u{e0041}`},
		{"variation selector", "x\ufe0f", `x\u{fe0f}`},
		{"replacement character as text", "\ufffd", `\u{fffd}`},
		{"half of a character", "caf\xc3", `caf\x{c3}`},
		{"backslash", `C:\dir`, `C:\dir`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Terminal(c.in); got != c.want {
				t.Errorf("Terminal(%q) = %s, want %s", c.in, got, c.want)
			}
		})
	}
}

func FuzzTerminal(f *testing.F) {
	for _, s := range []string{"", "main", "\x1b[2J", "\u202e", "\xff\xfe", "a\nb", `\u{1b}`, "\u00e9\U0001f600"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Terminal(s)
		if i := strings.IndexFunc(got, func(r rune) bool { return r < 0x20 || r > 0x7e }); i >= 0 {
			t.Fatalf("Terminal(%q) holds %q", s, got[i:])
		}
		if again := Terminal(got); again != got {
			t.Fatalf("Terminal is not stable: %q then %q", got, again)
		}
	})
}
