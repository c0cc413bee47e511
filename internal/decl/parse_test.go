package decl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl"
)

const valid = "command: npx\nargs: [\"-y\", \"@acme/docs-mcp@1.4.2\"]\n"

func parse(text string) decl.File {
	return decl.Parse("agent/mcp/docs.yaml", decl.ModeRegular, []byte(text))
}

// secret stands for any value of a file: no problem may repeat it.
const secret = "s3cr3tValue"

func TestParseReportsEachBrokenRule(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       string // line: field: code of the first problem
		state      decl.State
	}{
		{"empty", "", "0::empty_file", decl.StateInvalid},
		{"only a comment", "# " + secret + "\n", "0::empty_file", decl.StateInvalid},
		{"null", "~\n", "0::empty_file", decl.StateInvalid},
		{"a list", "- " + secret + "\n", "1::wrong_type", decl.StateInvalid},
		{"a scalar", secret + "\n", "1::wrong_type", decl.StateInvalid},
		{"unknown field", valid + "comand: " + secret + "\n", "3:comand:unknown_key", decl.StateInvalid},
		{"unknown filter", valid + "tools: {only: [" + secret + "]}\n", "3:tools.only:unknown_key", decl.StateInvalid},
		{"no command", "args: [" + secret + "]\n", "0:command:value_missing", decl.StateInvalid},
		{"empty command", "command: \"\"\n", "1:command:value_invalid", decl.StateInvalid},
		{"no url", "transport: streamable_http\n", "0:url:value_missing", decl.StateInvalid},
		{"other scheme", "transport: streamable_http\nurl: file:///" + secret + "\n", "2:url:value_invalid", decl.StateInvalid},
		{"other transport", "command: x\ntransport: sse\n", "2:transport:value_invalid", decl.StateInvalid},
		{"other risk", "command: x\nrisk: " + secret + "\n", "2:risk:value_invalid", decl.StateInvalid},
		{"quoted boolean", "command: x\nenabled: \"true\"\n", "2:enabled:wrong_type", decl.StateInvalid},
		{"yes as boolean", "command: x\nenabled: yes\n", "2:enabled:wrong_type", decl.StateInvalid},
		{"zero timeout", "command: x\ntimeout_seconds: 0\n", "2:timeout_seconds:value_invalid", decl.StateInvalid},
		{"a day and a second", "command: x\ntimeout_seconds: 86401\n", "2:timeout_seconds:value_invalid", decl.StateInvalid},
		{"infinite timeout", "command: x\ntimeout_seconds: .inf\n", "2:timeout_seconds:wrong_type", decl.StateInvalid},
		{"exponent", "command: x\ntimeout_seconds: 1e3\n", "2:timeout_seconds:wrong_type", decl.StateInvalid},
		{"args as text", "command: x\nargs: " + secret + "\n", "2:args:wrong_type", decl.StateInvalid},
		{"env as list", "command: x\nenv: [" + secret + "]\n", "2:env:wrong_type", decl.StateInvalid},
		{"nested env", "command: x\nenv:\n  A: {B: " + secret + "}\n", "3:env.A:wrong_type", decl.StateInvalid},
		{"env name with =", "command: x\nenv: {\"A=B\": " + secret + "}\n", "2:env.<name withheld>:value_invalid", decl.StateInvalid},
		{"NUL in an argument", "command: x\nargs: [\"a\\0" + secret + "\"]\n", "2:args[0]:value_invalid", decl.StateInvalid},
		{"header of two lines", "transport: streamable_http\nurl: https://a\nheaders: {A: \"x\\n" + secret + "\"}\n", "3:headers.A:value_invalid", decl.StateInvalid},
		{"header name", "transport: streamable_http\nurl: https://a\nheaders: {\"a b\": " + secret + "}\n", "3:headers.<name withheld>:value_invalid", decl.StateInvalid},
		{"anchor", "command: &a " + secret + "\n", "1:command:yaml_alias", decl.StateInvalid},
		{"standard tag", "command: !!str " + secret + "\n", "1:command:yaml_tag", decl.StateInvalid},
		{"number as key", valid + "env:\n  1: " + secret + "\n", "4:env", decl.StateInvalid},
		{"NO as key", valid + "env:\n  NO: " + secret + "\n", "4:env.NO:key_not_string", decl.StateInvalid},
		{"directive", "%YAML 1.1\n---\ncommand: x\n", "1::yaml_directive", decl.StateInvalid},

		{"foreign tag", "command: !run " + secret + "\n", "1:command:foreign_tag", decl.StateUnparseable},
		{"two documents", valid + "---\n" + valid, "0::multi_document", decl.StateUnparseable},
		{"key twice", valid + "command: " + secret + "\n", "3:command:duplicate_key", decl.StateUnparseable},
		{"env name twice", valid + "env:\n  A: x\n  A: " + secret + "\n", "5:env.A:duplicate_key", decl.StateUnparseable},
		{"not UTF-8", valid + "env: {A: \"\xff" + secret + "\"}\n", "3::encoding_invalid", decl.StateUnparseable},
		{"UTF-16", "\xff\xfec\x00o\x00", "1::encoding_invalid", decl.StateUnparseable},
		{"NEL in a comment", valid + "# a\u0085command: " + secret + "\n", "3::control_character", decl.StateUnparseable},
		{"line separator", valid + "# a\u2028command: " + secret + "\n", "3::control_character", decl.StateUnparseable},
		{"paragraph separator", valid + "# a\u2029command: " + secret + "\n", "3::control_character", decl.StateUnparseable},
		{"lone carriage return", valid + "# a\rcommand: " + secret + "\n", "3::control_character", decl.StateUnparseable},
		{"escape character", valid + "# \x1b[2K" + secret + "\n", "3::control_character", decl.StateUnparseable},
		{"unclosed quote", "command: \"" + secret + "\n", "2::yaml_syntax", decl.StateUnparseable},
		{"too deep", "command: " + strings.Repeat("[", 17) + secret + strings.Repeat("]", 17), "1:command", decl.StateUnparseable},
		{"too large", "command: x\n#" + strings.Repeat("x", decl.MaxFileBytes), "0::file_too_large", decl.StateUnparseable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := parse(tt.text)
			if f.State != tt.state || f.Decl != nil || len(f.Problems) == 0 {
				t.Fatalf("state %q with %d problems, want %q; %v", f.State, len(f.Problems), tt.state, f.Problems)
			}
			p := f.Problems[0]
			if got := fmt.Sprintf("%d:%s:%s", p.Line, p.Field, p.Code); !strings.HasPrefix(got, tt.want) {
				t.Errorf("first problem is %s, want %s", got, tt.want)
			}
			for _, p := range f.Problems {
				if strings.Contains(p.String(), secret) {
					t.Errorf("%s: a problem repeats a value", p.Code)
				}
				if p.Message == "" || !strings.HasPrefix(p.String(), "agent/mcp/docs.yaml") {
					t.Errorf("problem %q does not say what and where", p.String())
				}
			}
		})
	}
}

func TestParseReportsAllProblemsOfAFileAtOnce(t *testing.T) {
	f := parse("comand: x\nrisk: no\ntimeout_seconds: -1\nenv:\n  A: 0123\n")
	var got []string
	for _, p := range f.Problems {
		got = append(got, string(p.Code))
	}
	want := "value_missing unknown_key ambiguous_scalar wrong_type ambiguous_scalar"
	if strings.Join(got, " ") != want {
		t.Errorf("problems are %v, want %s", got, want)
	}
}

func TestParseAppliesDefaults(t *testing.T) {
	f := parse(valid)
	if f.State != decl.StateValid {
		t.Fatal(f.Problems)
	}
	d := f.Decl
	if !d.Enabled || d.Transport != decl.Stdio || d.Risk != decl.RiskMedium || d.ApprovalPolicy != decl.ApprovalPrompt ||
		d.Capability.Reveal() != "mcp.call:docs" || d.ConnectTimeout != 30 || d.Timeout != 60 || d.Parallel {
		t.Errorf("defaults are wrong: %+v", d)
	}
	if d.ConnectApproval() != decl.ApprovalPrompt || d.ConnectCapability() != "mcp.connect:docs" {
		t.Errorf("connecting needs %s and %s", d.ConnectApproval(), d.ConnectCapability())
	}
}

func TestParseReadsEveryField(t *testing.T) {
	f := parse(`enabled: false
transport: streamable_http
url: https://docs.example.com/mcp
headers: {Authorization: "Bearer ${TOKEN}"}
cwd: tools
tools: {include: ["read_*"], exclude: ["write"]}
risk: high
approval_policy: deny
capability: docs.read
connect_timeout_seconds: 2.5
timeout_seconds: 90
supports_parallel_tool_calls: true
`)
	if f.State != decl.StateValid {
		t.Fatal(f.Problems)
	}
	d := f.Decl
	if d.Enabled || d.Transport != decl.StreamableHTTP || d.URL.Reveal() != "https://docs.example.com/mcp" ||
		d.Headers[0].Value.Reveal() != "Bearer ${TOKEN}" || d.Include[0].Reveal() != "read_*" || d.Exclude[0].Reveal() != "write" ||
		d.Risk != decl.RiskHigh || d.ConnectApproval() != decl.ApprovalDeny || d.Capability.Reveal() != "docs.read" ||
		d.ConnectTimeout != 2.5 || d.Timeout != 90 || !d.Parallel {
		t.Errorf("%+v", d)
	}
}

func TestPlainScalarsThatReadersDisagreeOn(t *testing.T) {
	for value, refused := range map[string]bool{
		"yes": true, "No": true, "on": true, "OFF": true, "y": true, "N": true, "True": true, "TRUE": true, "~": true,
		"null": true, "Null": true, "0123": true, "0o17": true, "0x1F": true, "0b101": true, "1_000": true, "1:20": true,
		"190:20:30": true, "2026-01-02": true, "2026-01-02T10:00:00Z": true, ".inf": true, "-.INF": true, ".nan": true,
		"1e3": true, "+1": true, "1.50": true, "1.0": true, "-0": true, "12345678901234567": true, ".5": true,
		"4096": false, "-1": false, "0": false, "1.5": false, "true": false, "false": false, "info": false, "1.2.3": false,
		"v1": false, "nine": false, "0xg": false, "1:2:x": false, "8080:80": false, "8080:20": true, "20260102": false, "a-b": false,
	} {
		f := parse("command: x\nenv:\n  A: " + value + "\n")
		if got := f.State != decl.StateValid; got != refused {
			t.Errorf("%s: refused %v, want %v (%v)", value, got, refused, f.Problems)
		}
		if quoted := parse("command: x\nenv:\n  A: \"" + value + "\"\n"); quoted.State != decl.StateValid {
			t.Errorf("%q in quotes is refused: %v", value, quoted.Problems)
		}
	}
}

func TestServerIDs(t *testing.T) {
	for id, want := range map[string]bool{
		"docs": true, "Docs-2.x_y": true, "0": true, strings.Repeat("a", 64): true,
		"": false, ".hidden": false, "_x": false, "a__b": false, "a b": false, "dоcs": false, strings.Repeat("a", 65): false,
	} {
		if got := decl.ValidServerID(id); got != want {
			t.Errorf("%q: %v, want %v", id, got, want)
		}
		f := decl.Parse("agent/mcp/"+id+".yaml", decl.ModeRegular, []byte(valid))
		if got := f.State == decl.StateValid; got != want {
			t.Errorf("file %q: valid %v, want %v", id, got, want)
		}
	}
}

func TestByteOrderMarkIsFormatting(t *testing.T) {
	f := parse("\uFEFF" + valid)
	if f.State != decl.StateValid || !f.HasBOM {
		t.Errorf("state %s, BOM %v: %v", f.State, f.HasBOM, f.Problems)
	}
	if f := parse(valid + "# \uFEFF\n"); f.HasBOM {
		t.Error("a mark inside the file counts as one in front")
	}
}

func TestNearest(t *testing.T) {
	known := decl.FieldNames()
	for key, want := range map[string]string{
		"comand": "command", "argz": "args", "Command": "command", "headerz": "headers", "enabledd": "enabled",
		"autoApprove": "", "x": "", "password": "", "trust": "",
	} {
		if got := decl.Nearest(key, known); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		valid, "", "a: &a [*a]\n", "env:\n  <<: *x\n", "? [a]\n: b\n", "command: !!binary aGk=\n", "\uFEFF" + valid, "%YAML 1.2\n---\n",
		"command: |\n  x\n", "{[]: }", "a: b: c", "- - - -", "\x00", "command: \"\\ud800\"\n", "!!map {}\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file := decl.Parse("agent/mcp/docs.yaml", decl.ModeRegular, data)
		if (file.State == decl.StateValid) != (file.Decl != nil) || (file.State == decl.StateValid) != (len(file.Problems) == 0) {
			t.Fatalf("state %s, declaration %v, problems %v", file.State, file.Decl != nil, file.Problems)
		}
		for _, p := range file.Problems {
			for _, r := range p.String() {
				if r < 0x20 || r > 0x7e {
					t.Fatalf("a problem holds %q", r)
				}
			}
		}
	})
}

func TestAProblemDoesNotRepeatACredentialInAFileName(t *testing.T) {
	p := decl.Problem{Path: "agent/mcp/ghp_" + strings.Repeat("a1B2", 9) + ".yaml", Code: decl.EmptyFile, Message: "x"}
	if got := p.String(); strings.Contains(got, "a1B2") || !strings.HasPrefix(got, "agent/mcp/") {
		t.Error(got)
	}
}
