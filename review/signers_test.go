package review

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// keys are the keys of the tests of the signers file.
type keys struct {
	ada, bob, large, ecdsa, dsa string // public halves
	data                        []byte
	signature                   []byte // by ada
}

func makeKeys(t *testing.T) keys {
	t.Helper()
	dir := t.TempDir()
	make := func(name string, args ...string) string {
		path := filepath.Join(dir, name)
		run(t, "ssh-keygen", append(args, "-q", "-N", "", "-C", name+"'s key", "-f", path)...)
		return strings.TrimSpace(read(t, path+".pub"))
	}
	k := keys{
		ada: make("ada", "-t", "ed25519"), bob: make("bob", "-t", "ed25519"),
		large: make("large", "-t", "ecdsa", "-b", "521"), ecdsa: make("ecdsa", "-t", "ecdsa"),
		// From OpenSSH's own regress/unittests/sshkey/testdata/dsa_1.pub, cut to what is looked at.
		dsa:  "ssh-dss AAAAB3NzaC1kc3MAAACBAM==",
		data: []byte("a statement\n"),
	}
	file := filepath.Join(dir, "data")
	write(t, file, string(k.data))
	run(t, "ssh-keygen", "-q", "-Y", "sign", "-n", reviewNamespace, "-f", filepath.Join(dir, "ada"), file)
	k.signature = []byte(read(t, file+".sig"))
	return k
}

// openSSH asks ssh-keygen whether a signers file lets a principal sign at a time.
func openSSH(t *testing.T, file, signature, principal, zone string, data []byte, at time.Time) bool {
	t.Helper()
	cmd := exec.Command("ssh-keygen", "-Y", "verify", "-f", file, "-I", principal, "-n", reviewNamespace, "-s", signature,
		"-Overify-time="+at.UTC().Format("20060102150405")+"Z")
	cmd.Stdin = bytes.NewReader(data)
	cmd.Env = append(os.Environ(), "TZ="+zone)
	return cmd.Run() == nil
}

// TestSignersAsOpenSSH holds what is accepted against ssh-keygen -Y verify: on
// files that evolve reads, both say the same.
func TestSignersAsOpenSSH(t *testing.T) {
	k := makeKeys(t)
	const ours = `namespaces="mcp-review@evolve"`
	summer, winter := time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC), time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	cases := []struct {
		name, file string
		at         []time.Time
	}{
		{name: "one line", file: "ada@example.com " + ours + " " + k.ada},
		{name: "several namespaces", file: `ada@example.com namespaces="git,mcp-review@evolve,file" ` + k.ada},
		{name: "another namespace", file: `ada@example.com namespaces="git" ` + k.ada},
		{name: "a namespace in another letter case", file: `ada@example.com namespaces="MCP-Review@evolve" ` + k.ada},
		{name: "an empty namespace", file: `ada@example.com namespaces="" ` + k.ada},
		{name: "options in capitals", file: `ada@example.com NAMESPACES="mcp-review@evolve" ` + k.ada},
		{name: "another key", file: "ada@example.com " + ours + " " + k.bob},
		{name: "another principal", file: "bob@example.com " + ours + " " + k.ada},
		{name: "several principals", file: "bob@example.com,ada@example.com " + ours + " " + k.ada},
		{name: "several keys", file: "ada@example.com " + ours + " " + k.bob + "\nada@example.com " + ours + " " + k.ada},
		{name: "several types of keys", file: "a " + ours + " " + k.large + "\nb " + ours + " " + k.ecdsa + "\nada@example.com " + ours + " " + k.ada},
		{name: "comments and blank lines", file: "# signers\n\n  # more\n\t\nada@example.com " + ours + " " + k.ada + "\n"},
		{name: "spaces and tabs", file: "  ada@example.com\t\t" + ours + " \t " + strings.Replace(k.ada, " ", "\t ", 1)},
		{name: "CRLF", file: "ada@example.com " + ours + " " + k.ada + "\r\n"},
		{name: "no comment behind the key", file: "ada@example.com " + ours + " " + strings.Join(strings.Fields(k.ada)[:2], " ")},
		{name: "a principal in another letter case", file: "Ada@example.com " + ours + " " + k.ada},
		{name: "no file at all", file: ""},
	}
	for _, stamp := range []string{
		"20260701", "20260701Z", "20260701utc", "202607011200", "202607011000Z", "202607011000UTC", "20260701120000", "20260701100000Z",
		"20261201", "202612011100", "202612011000z", "20261201110000", "20330519", "20260329023000", "20261025023000",
	} {
		for _, option := range []string{"valid-after", "valid-before"} {
			moment, problem := readTime(stamp, berlin(t))
			if problem != "" {
				t.Fatalf("%s: %s", stamp, problem)
			}
			cases = append(cases, struct {
				name, file string
				at         []time.Time
			}{
				option + " " + stamp, fmt.Sprintf("ada@example.com %s,%s=%q %s", ours, option, stamp, k.ada),
				[]time.Time{summer, winter, moment.Add(-time.Second), moment, moment.Add(time.Second), moment.Add(time.Hour), moment.Add(-time.Hour)},
			})
		}
	}
	cases = append(cases, struct {
		name, file string
		at         []time.Time
	}{"a window", `ada@example.com valid-after="20260601",` + ours + `,valid-before="20260801" ` + k.ada, []time.Time{summer, winter, noon}})
	dir := t.TempDir()
	signature := filepath.Join(dir, "sig")
	write(t, signature, string(k.signature))
	accepted := 0
	for _, c := range cases {
		file := filepath.Join(dir, "signers")
		write(t, file, c.file)
		parsed, err := parseSigners([]byte(c.file), berlin(t))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for _, at := range append(c.at, noon) {
			_, problem := (&trust{signers: parsed}).verify(k.data, k.signature, "ada@example.com", at)
			if problem == "" {
				accepted++
			}
			if theirs := openSSH(t, file, signature, "ada@example.com", "Europe/Berlin", k.data, at); theirs != (problem == "") {
				t.Errorf("%s, at %s: ssh-keygen says %v, evolve %q", c.name, at, theirs, problem)
			}
		}
	}
	if accepted < 20 {
		t.Errorf("only %d cases were accepted by both", accepted)
	}
}

func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func TestSignersRefused(t *testing.T) {
	k := makeKeys(t)
	const ours = `namespaces="mcp-review@evolve"`
	for name, text := range map[string]string{
		"a wildcard":                   "*@example.com " + ours + " " + k.ada,
		"a question mark":              "ad?@example.com " + ours + " " + k.ada,
		"a negated principal":          "ada@example.com,!bob@example.com " + ours + " " + k.ada,
		"an empty principal":           "ada@example.com, " + ours + " " + k.ada,
		"a principal in quotes":        `"ada lovelace" ` + ours + " " + k.ada,
		"an invisible principal":       "ada\u200b@example.com " + ours + " " + k.ada,
		"a principal that is no UTF-8": "ada\xff@example.com " + ours + " " + k.ada,
		"a certificate authority":      "ada@example.com cert-authority," + ours + " " + k.ada,
		"an unknown option":            "ada@example.com " + ours + ",verify-required " + k.ada,
		"an unknown option alone":      "ada@example.com touch " + k.ada,
		"an unknown option's value":    "ada@example.com " + ours + `,from="10.0.0.1" ` + k.ada,
		"an empty option":              "ada@example.com " + ours + ",, " + k.ada,
		"an option twice":              "ada@example.com " + ours + "," + ours + " " + k.ada,
		"an option without quotes":     "ada@example.com namespaces=mcp-review@evolve " + k.ada,
		"an authority with a value":    `ada@example.com cert-authority="yes" ` + k.ada,
		"a namespace taken back":       `ada@example.com namespaces="mcp-review@evolve,!mcp-*" ` + k.ada,
		"a quote that is not closed":   `ada@example.com namespaces="mcp-review@evolve ` + k.ada,
		"an escaped quote":             `ada@example.com namespaces="a\"b,mcp-review@evolve" ` + k.ada,
		"a month that is none":         "ada@example.com " + ours + `,valid-after="20261301" ` + k.ada,
		"a day that is none":           "ada@example.com " + ours + `,valid-after="20260230" ` + k.ada,
		"a short time":                 "ada@example.com " + ours + `,valid-before="2026" ` + k.ada,
		"an hour alone":                "ada@example.com " + ours + `,valid-before="2026010112" ` + k.ada,
		"a time before 1970":           "ada@example.com " + ours + `,valid-before="19600101Z" ` + k.ada,
		"an empty time":                "ada@example.com " + ours + `,valid-before="" ` + k.ada,
		"a window that is closed":      "ada@example.com " + ours + `,valid-after="20260801",valid-before="20260701" ` + k.ada,
		"a key of another type":        "ada@example.com " + ours + " " + k.dsa,
		"a certificate":                "ada@example.com " + ours + " ssh-ed25519-cert-v01@openssh.com AAAA",
		"a broken key":                 "ada@example.com " + ours + " ssh-ed25519 AAAA!",
		"a key under another type":     "ada@example.com " + ours + " ssh-rsa " + strings.Fields(k.ada)[1],
		"no key":                       "ada@example.com " + ours,
		"nothing but a principal":      "ada@example.com",
		"a NUL byte":                   "ada@example.com " + ours + " " + k.ada + "\x00",
	} {
		t.Run(name, func(t *testing.T) {
			file := "# the first line\n\nbob@example.com " + ours + " " + k.bob + "\n" + text + "\n"
			_, err := parseSigners([]byte(file), time.UTC)
			f := wantCode(t, err, fault.ConfigInvalid, "ada", strings.Fields(k.ada)[1])
			if !strings.HasPrefix(f.Message, "line 4 of the signers file: ") {
				t.Errorf("the message does not name the line: %s", f.Message)
			}
		})
	}
}

// TestSignersOfOthers: lines that do not name the namespace are somebody else's.
func TestSignersOfOthers(t *testing.T) {
	k := makeKeys(t)
	file := strings.Join([]string{
		"* " + k.ada,
		"*@example.com cert-authority " + k.bob,
		`git@example.com namespaces="git,mcp-*" ` + k.ada,
		`"quoted" namespaces="git" ` + k.ada,
		"old@example.com " + k.dsa,
		`bob@example.com namespaces="mcp-review@evolve" ` + k.bob,
	}, "\n")
	file = strings.Replace(file, `"quoted"`, "unquoted", 1)
	got, err := parseSigners([]byte(file), time.UTC)
	if err != nil || len(got) != 1 || got[0].principals[0] != "bob@example.com" || got[0].line != 6 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRevokedKeys(t *testing.T) {
	k := makeKeys(t)
	revoked, err := parseRevoked([]byte("# gone\n\n" + k.bob + "\n" + k.ada + "\r\n"))
	if err != nil || len(revoked) != 2 {
		t.Fatalf("%v, %v", revoked, err)
	}
	signers, err := parseSigners([]byte(`ada namespaces="mcp-review@evolve" `+k.ada), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	if _, problem := (&trust{signers: signers, revoked: revoked}).verify(k.data, k.signature, "ada", noon); problem != "its key is revoked" {
		t.Errorf("a revoked key: %q", problem)
	}
	for name, text := range map[string]string{
		"a list of serials": "serial: 1",
		"a fingerprint":     "SHA256:abc",
		"options":           "cert-authority " + k.ada,
		"a broken key":      "ssh-ed25519 AAAA!",
	} {
		_, err := parseRevoked([]byte(k.bob + "\n" + text))
		if f := wantCode(t, err, fault.ConfigInvalid); !strings.HasPrefix(f.Message, "line 2 of gpg.ssh.revocationFile") {
			t.Errorf("%s: %s", name, f.Message)
		}
	}
	krl := filepath.Join(t.TempDir(), "krl")
	pub := krl + ".pub"
	write(t, pub, k.ada+"\n")
	run(t, "ssh-keygen", "-q", "-k", "-f", krl, pub)
	if _, err := parseRevoked([]byte(read(t, krl))); !strings.Contains(wantCode(t, err, fault.ConfigInvalid).Message, "KRL") {
		t.Errorf("a binary list: %v", err)
	}
}

func TestSignatureKinds(t *testing.T) {
	k := makeKeys(t)
	dir := t.TempDir()
	for _, kind := range [][]string{{"-t", "ed25519"}, {"-t", "ecdsa", "-b", "384"}, {"-t", "rsa", "-b", "2048"}} {
		key, file := filepath.Join(dir, kind[1]), filepath.Join(dir, "data-"+kind[1])
		run(t, "ssh-keygen", append(kind, "-q", "-N", "", "-f", key)...)
		write(t, file, "text")
		run(t, "ssh-keygen", "-q", "-Y", "sign", "-n", reviewNamespace, "-f", key, file)
		got, problem := checkSignature([]byte("text"), []byte(read(t, file+".sig")), reviewNamespace)
		if problem != "" || got == nil {
			t.Errorf("%s: %q", kind[1], problem)
		}
	}
	for name, problem := range map[string]string{
		"another namespace": second(checkSignature(k.data, k.signature, revokeNamespace)),
		"other data":        second(checkSignature([]byte("another"), k.signature, reviewNamespace)),
		"no signature":      second(checkSignature(k.data, nil, reviewNamespace)),
		"half a signature":  second(checkSignature(k.data, k.signature[:len(k.signature)/2], reviewNamespace)),
		"a bit less":        second(checkSignature(k.data, bytes.Replace(k.signature, []byte("A"), []byte("B"), 1), reviewNamespace)),
	} {
		if problem == "" {
			t.Errorf("%s was accepted", name)
		}
	}
}

func second[A, B any](_ A, b B) B { return b }
