package securitydiff

import (
	"cmp"
	"slices"

	"github.com/evolve-mcp/evolve/internal/redact"
)

// messages has the one sentence of every finding. A severity is chosen where the
// finding is raised, since it can depend on the change; severities lists which
// are possible.
var messages = map[string]string{
	"agent-settings-changed":   "Settings in agent.yaml that decide what the agent may do change.",
	"ambiguous-scalar":         "YAML readers disagree on a value, so the host might read another one than you.",
	"approval-relaxed":         "A person is asked less often before a tool runs.",
	"attributes-changed":       "A .gitattributes on the way to reviewed files changes how Git treats them.",
	"bidi-control":             "Invisible or direction-changing characters make this text look different from what it is.",
	"capability-changed":       "Calls need another capability than before, which may be granted already.",
	"code-injection-env":       "This environment variable can load other code into the server.",
	"command-changed":          "Another program runs than before.",
	"container-privileged":     "The container has powers of the host.",
	"control-characters":       "Control characters in this text can rewrite what a terminal shows.",
	"credential-to-new-origin": "Credentials that were given to one host go to another one.",
	"cwd-escape":               "The working directory is outside the workspace; the host refuses to run it.",
	"dangerous-flag":           "This option switches a protection of the server off.",
	"duplicate-key":            "A key is given twice, and readers differ in which one counts.",
	"filesystem-root-widened":  "The server is given a larger part of the file system.",
	"filter-widened":           "Tools that were filtered out become available.",
	"grant-added":              "The agent is granted a capability it did not have.",
	"grant-removed":            "The agent loses a capability.",
	"guard-flag-removed":       "An option that restricted the server is gone.",
	"homoglyph":                "Letters that look like others make this name look like a different one.",
	"host-mount":               "The container sees directories or sockets of the host that give control over it.",
	"host-network":             "The container shares the network of the host.",
	"invalid-declaration":      "The file is no valid declaration; the host would not run it as written.",
	"launched-file-changed":    "Files that this server runs change.",
	"launched-files-bound":     "This server runs these files, which are reviewed from now on.",
	"lfs-pointer":              "Git LFS replaces these bytes on checkout; the pointer was reviewed, not the content.",
	"listen-all-interfaces":    "The server listens on every network interface.",
	"malformed-command":        "The command holds a whole command line; a host runs it as one program name.",
	"mcp-root-moved":           "Declarations are read from another directory than before.",
	"metadata-target":          "The address is a cloud metadata service, which hands out credentials.",
	"multi-document":           "The file has several YAML documents, and readers differ in which one counts.",
	"new-env":                  "The server gets an environment variable it did not have.",
	"new-network-origin":       "The server is, or talks to, another host than before.",
	"oversized-value":          "A value is too long for a person to review.",
	"parallel-enabled":         "Tool calls to this server may run at the same time.",
	"plaintext-transport":      "The connection is not encrypted.",
	"positional-changed":       "An argument changed whose value is not shown.",
	"remote-code-exec":         "Code is fetched from the network and run at once.",
	"resource-bomb":            "The file is built to exhaust a reader.",
	"risk-downgraded":          "The declared risk is lower than before, so policies that go by risk apply less.",
	"runner-config-changed":    "A file that the package runner reads by itself changes.",
	"secret-in-args":           "An argument holds what looks like, or is named as, a secret; arguments show in process lists.",
	"secret-in-command":        "The command holds what looks like, or is named as, a secret.",
	"secret-in-url":            "The URL holds what may be a secret; URLs end up in logs.",
	"secret-literal-in-file":   "A secret is written in the file instead of being referred to as ${NAME}.",
	"secret-removed-from-file": "A secret is no longer written in the file.",
	"secret-repeated":          "Text that would be shown repeats a withheld value, and is withheld too.",
	"secret-rotated":           "A withheld value changed.",
	"secret-source-changed":    "A secret comes from another variable of the host than before.",
	"secret-still-in-history":  "The removed file held a secret, which the repository's history keeps.",
	"server-added":             "A new server: its code runs, or is reached, with what is declared here.",
	"server-disabled":          "The server is no longer connected.",
	"server-enabled":           "The server was disabled, and is connected from now on.",
	"server-id-changed":        "The server has another id, so other capabilities and policies apply to it.",
	"server-removed":           "The server is gone.",
	"shell-wrapper":            "A shell runs a string, which can do anything.",
	"symlink":                  "The declaration is a symbolic link or no file at all; what it points to is not reviewed.",
	"timeout-raised":           "The server may take longer than before.",
	"tls-verification-off":     "Certificates are not verified, so anyone in between can read and change everything.",
	"tool-metadata-changed":    "agent.yaml changes the declared risk, approval or capability of a tool.",
	"traffic-interception-env": "This environment variable sends the server's traffic through another host.",
	"transport-changed":        "The server is reached in another way than before.",
	"unknown-key":              "A key is not known, so what it was meant to do does not happen.",
	"unpinned-image":           "The image is named by a tag that can be moved; pin it by digest or version.",
	"unpinned-package":         "The package has no exact version, so what runs can change without a review.",
	"unreadable-declaration":   "The file cannot be read as a declaration.",
	"unresolvable-reference":   "A reference is not of the form ${NAME}; the host passes it on as it is written.",
	"vcs-source":               "The package is built from a repository, not from a published release.",
	"withheld-name":            "A name is not shown, since it does not look like one.",
	"yaml-alias":               "Anchors, aliases or merge keys hide what a value is.",
	"yaml-tag":                 "A YAML tag changes how a value is read.",
}

// FindingIDs lists every id that a report can hold, sorted.
func FindingIDs() []string {
	out := make([]string, 0, len(messages))
	for id := range messages {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// rank orders severities, worst first.
var rank = map[Severity]int{Critical: 0, High: 1, Medium: 2, Low: 3, Info: 4}

// Worse reports whether s is worse than o.
func (s Severity) Worse(o Severity) bool { return rank[s] < rank[o] }

// verdicts collects the findings of one change.
type verdicts struct{ list []Finding }

// add raises a finding once for each field.
func (v *verdicts) add(id string, s Severity, field redact.Shown) {
	for i, f := range v.list {
		if f.ID == id && f.Field == field {
			if s.Worse(f.Severity) {
				v.list[i].Severity = s
			}
			return
		}
	}
	v.list = append(v.list, Finding{ID: id, Severity: s, Message: messages[id], Field: field})
}

// dropVague takes positional-changed back where another finding says more about
// the same argument.
func (v *verdicts) dropVague() {
	v.list = slices.DeleteFunc(v.list, func(f Finding) bool {
		return f.ID == "positional-changed" && slices.ContainsFunc(v.list, func(o Finding) bool { return o.Field == f.Field && o.ID != f.ID })
	})
}

func (v *verdicts) sorted() []Finding {
	out := append([]Finding{}, v.list...)
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(rank[a.Severity], rank[b.Severity]), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Field, b.Field))
	})
	return out
}
