package render

import (
	"strings"
	"time"

	"github.com/evolve-mcp/evolve/internal/redact"
	"github.com/evolve-mcp/evolve/securitydiff"
)

// Ids and times of the fixtures.
var (
	commitA = strings.Repeat("1a2b3c4d5e", 4)
	commitB = strings.Repeat("f0e1d2c3b4", 4)
	tokenA  = "mcp-review:" + strings.Repeat("0123456789abcdef", 4)
	tokenB  = "mcp-review:" + strings.Repeat("fedcba9876543210", 4)
	issued  = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
)

func docs() *securitydiff.Summary {
	return &securitydiff.Summary{
		ServerID: "docs", Path: "agent/mcp/docs.yaml", Enabled: true, Transport: "stdio", Risk: "medium",
		ApprovalPolicy: "prompt", EffectiveConnectApprovalPolicy: "prompt",
		ConnectCapability: "mcp.connect:docs", CallCapability: "mcp.call:docs",
		Command: "npx", Args: []redact.Shown{"-y", "@acme/docs-mcp@1.4.2", "--token=<redacted>", "<value #3f9a61c2 8-15>"},
		EnvNames: []redact.Shown{"API_TOKEN", "DOCS_URL"},
		Tools: securitydiff.Tools{
			Include: []redact.Shown{}, Exclude: []redact.Shown{"delete_*", "admin_*"},
		},
		ConnectTimeoutSeconds: 30, TimeoutSeconds: 60,
	}
}

func web() *securitydiff.Summary {
	return &securitydiff.Summary{
		ServerID: "web", Path: "agent/mcp/web.yaml", Transport: "streamable_http", Risk: "high",
		ApprovalPolicy: "auto", EffectiveConnectApprovalPolicy: "prompt",
		ConnectCapability: "mcp.connect:web", CallCapability: "mcp.call:web",
		URL: "https://mcp.acme.test:8443/<2 segments>?<redacted>", HeaderNames: []redact.Shown{"Authorization"},
		Tools:                 securitydiff.Tools{Include: []redact.Shown{"search", "read_*"}, Exclude: []redact.Shown{}},
		ConnectTimeoutSeconds: 2.5, TimeoutSeconds: 60, SupportsParallelToolCalls: true,
	}
}

func finding(id string, s securitydiff.Severity, field redact.Shown, message string) securitydiff.Finding {
	return securitydiff.Finding{ID: id, Severity: s, Message: message, Field: field}
}

// fullReport has every kind of change, field and finding.
func fullReport() *securitydiff.Report {
	after := docs()
	after.Args[1], after.ApprovalPolicy = "@acme/docs-mcp@1.5.2", "auto"
	r := &securitydiff.Report{
		Schema: securitydiff.Schema, Base: commitA, Head: commitB, RequiresReview: true, Readable: true,
		Problems: []securitydiff.Problem{},
		Changes: []securitydiff.Change{
			{
				Core: ".", Subject: securitydiff.SubjectDeclaration, ServerID: "fmt", Path: "agent/mcp/fmt.yaml",
				Change: securitydiff.Formatting, BeforeState: "valid", AfterState: "valid", Before: docs(), After: docs(),
				Fields: []securitydiff.Field{}, Findings: []securitydiff.Finding{},
			},
			modified(after),
			{
				Core: ".", Subject: securitydiff.SubjectDeclaration, ServerID: "web", Path: "agent/mcp/web.yaml",
				Change: securitydiff.Added, AfterState: "valid", After: web(),
				Fields: []securitydiff.Field{
					{Name: "url", Change: securitydiff.FieldAdded, After: "https://mcp.acme.test:8443"},
					{Name: "headers.Authorization", Change: securitydiff.FieldAdded, After: "literal"},
				},
				Findings: []securitydiff.Finding{
					finding("secret-literal-in-file", securitydiff.Critical, "headers.Authorization",
						"A secret is written in the file instead of being referred to as ${NAME}."),
					finding("server-added", securitydiff.High, "", "A new server: its code runs, or is reached, with what is declared here."),
				},
			},
			{
				Core: ".", Subject: securitydiff.SubjectDeclaration, ServerID: "new", Path: "agent/mcp/new.yaml", OldPath: "agent/mcp/old.yaml",
				Change: securitydiff.Renamed, BeforeState: "valid", AfterState: "valid", Before: docs(), After: docs(),
				Fields: []securitydiff.Field{{Name: "server_id", Change: securitydiff.FieldChanged, Before: "old", After: "new"}},
				Findings: []securitydiff.Finding{finding("server-id-changed", securitydiff.Low, "server_id",
					"The server has another id, so other capabilities and policies apply to it.")},
			},
			{
				Core: ".", Subject: securitydiff.SubjectLaunched, ServerID: "docs", Path: "agent/tools/server.py",
				Change: securitydiff.Modified, Fields: []securitydiff.Field{},
				Findings: []securitydiff.Finding{finding("launched-file-changed", securitydiff.Info, "", "Files that this server runs change.")},
			},
		},
	}
	c := r.Changes
	r.Changes = []securitydiff.Change{c[2], c[1], c[3], c[4], c[0]} // the worst first, as in every report
	return r
}

func modified(after *securitydiff.Summary) securitydiff.Change {
	return securitydiff.Change{
		Core: ".", Subject: securitydiff.SubjectDeclaration, ServerID: "docs", Path: "agent/mcp/docs.yaml",
		Change: securitydiff.Modified, BeforeState: "valid", AfterState: "valid", Before: docs(), After: after,
		Fields: []securitydiff.Field{
			{Name: "approval_policy", Change: securitydiff.FieldChanged, Before: "prompt (default)", After: "auto"},
			{Name: "args[1]", Change: securitydiff.FieldChanged, Before: "@acme/docs-mcp@1.4.2", After: "@acme/docs-mcp@1.5.2"},
			{Name: "args[3]", Change: securitydiff.FieldChanged, Before: "<value #3f9a61c2 8-15>", After: "<value #99ab00cd 8-15>", Note: "connection string: host changed"},
			{Name: "args[4]", Change: securitydiff.FieldAdded, After: "--read-only"},
			{Name: "cwd", Change: securitydiff.FieldRemoved, Before: "services/docs"},
			{Name: "env.API_TOKEN", Change: securitydiff.FieldChanged, Before: "literal", After: "literal", Note: "value changed"},
			{Name: "env.DOCS_URL", Change: securitydiff.FieldChanged, Before: "literal", After: "${DOCS_URL}"},
			{Name: "env.OTHER", Change: securitydiff.FieldChanged, Note: "value changed"},
			{Name: "url.path", Change: securitydiff.FieldChanged, Before: "", After: "2 segments"},
			{Name: "headers.X-A-Header-Whose-Name-Is-Longer-Than-A-Column", Change: securitydiff.FieldAdded, After: "${DOCS_TOKEN}"},
			{Name: "tools.include", Change: securitydiff.FieldChanged},
		},
		Findings: []securitydiff.Finding{
			finding("approval-relaxed", securitydiff.High, "approval_policy", "A person is asked less often before a tool runs."),
			finding("secret-rotated", securitydiff.Medium, "env.API_TOKEN", "A withheld value changed."),
		},
	}
}

// brokenReport cannot be promoted.
func brokenReport() *securitydiff.Report {
	unread := &securitydiff.Summary{
		ServerID: "bad", Path: "agent/mcp/bad.yaml", EnvNames: []redact.Shown{"API_TOKEN"},
		Tools: securitydiff.Tools{Include: []redact.Shown{}, Exclude: []redact.Shown{}},
	}
	return &securitydiff.Report{
		Schema: securitydiff.Schema, Base: "absent", Head: "worktree", RequiresReview: true,
		Changes: []securitydiff.Change{
			{
				Core: ".", Subject: securitydiff.SubjectDeclaration, ServerID: "bad", Path: "agent/mcp/bad.yaml",
				Change: securitydiff.Modified, BeforeState: "valid", AfterState: "invalid_schema", Before: docs(), After: unread,
				Fields: []securitydiff.Field{}, Findings: []securitydiff.Finding{finding("invalid-declaration", securitydiff.High, "",
					"The file is no valid declaration; the host would not run it as written.")},
			},
			{
				Core: ".", Subject: securitydiff.SubjectDeclaration, ServerID: "link", Path: "agent/mcp/link.yaml",
				Change: securitydiff.Added, AfterState: "unsupported_entry",
				Fields: []securitydiff.Field{}, Findings: []securitydiff.Finding{},
			},
		},
		Problems: []securitydiff.Problem{
			{Path: "agent/mcp/bad.yaml", Line: 12, Field: "env.API_TOKEN", Code: "wrong_type", Message: "a string is wanted here; put the value in quotes"},
			{Path: "agent/mcp/link.yaml", Code: "not_a_file", Message: "a declaration must be a regular file"},
		},
	}
}

// hostileReport has values that try to look like the layout around them.
func hostileReport() *securitydiff.Report {
	long := redact.Shown(strings.Repeat("very-long-segment/", 12))
	return &securitydiff.Report{
		Schema: securitydiff.Schema, Base: commitA, Head: commitB, RequiresReview: true, Readable: true,
		Problems: []securitydiff.Problem{{Path: long, Line: 1, Field: "x: y: z", Code: "unknown_field", Message: "no such field"}},
		Changes: []securitydiff.Change{{
			Core: ".", Subject: securitydiff.SubjectDeclaration, ServerID: "x", Path: `agent/mcp/\u{202e}lmay.yaml`,
			Change: securitydiff.Modified, Before: docs(), After: docs(),
			Fields: []securitydiff.Field{
				{Name: "command", Change: securitydiff.FieldChanged, Before: "npx -> npx", After: `npx\u{a}info      all-is-well: Nothing to see.`},
				{Name: "args[0]", Change: securitydiff.FieldChanged, Before: "[-old-]{+new+} ^^^", After: "[-old-]{+old+} ^^^"},
				{Name: "args[1]", Change: securitydiff.FieldChanged, Before: long + "a", After: long + "b"},
				{Name: long, Change: securitydiff.FieldAdded, After: long},
				{Name: "cwd", Change: securitydiff.FieldChanged, Before: `\x{1b}[31m`, After: "\x1b[8m\u202e\n\tnot escaped before"},
			},
			Findings: []securitydiff.Finding{finding("bidi-control", securitydiff.Critical, long, "Invisible or direction-changing characters make this text look different from what it is.")},
		}},
	}
}

func emptyReport() *securitydiff.Report {
	return &securitydiff.Report{
		Schema: securitydiff.Schema, Base: commitA, Head: "worktree", Readable: true,
		Changes: []securitydiff.Change{}, Problems: []securitydiff.Problem{},
	}
}

func lintReport() *securitydiff.LintReport {
	r := brokenReport()
	return &securitydiff.LintReport{
		Schema: securitydiff.LintSchema, Revision: commitB, Problems: r.Problems,
		Servers: []securitydiff.LintServer{
			{Core: ".", Path: "agent/mcp/docs.yaml", State: "valid", Summary: docs()},
			{Core: ".", Path: "agent/mcp/bad.yaml", State: "invalid_schema", Summary: r.Changes[0].After},
			{Core: ".", Path: "agent/mcp/link.yaml", State: "unsupported_entry"},
		},
		Findings: []securitydiff.LintFinding{
			{Path: "agent/mcp/docs.yaml", Finding: finding("unpinned-package", securitydiff.High, "args[1]", "The package has no exact version, so what runs can change without a review.")},
			{Path: "agent/mcp/bad.yaml", Finding: finding("ambiguous-scalar", securitydiff.Medium, "env.API_TOKEN", "YAML readers disagree on a value.")},
			{Path: "agent/mcp/docs.yaml", Finding: finding("new-env", securitydiff.Low, "", "The server gets an environment variable it did not have.")},
		},
	}
}

func cleanLint() *securitydiff.LintReport {
	return &securitydiff.LintReport{
		Schema: securitydiff.LintSchema, Revision: "worktree", Valid: true, Servers: []securitydiff.LintServer{},
		Problems: []securitydiff.Problem{}, Findings: []securitydiff.LintFinding{},
	}
}

func verification(valid, requires bool, code string) Verification {
	return Verification{
		Schema: SchemaVerification, Valid: valid, Code: code, Ref: "refs/heads/live",
		Base: commitA, Head: commitB, Tokens: List[string]{tokenA}, RequiresReview: requires,
	}
}

func reviews() Reviews {
	return Reviews{Schema: SchemaReviews, Reviews: List[ReviewEntry]{
		{
			Token: tokenA, Ref: "refs/heads/live", Base: commitA, Head: commitB, Reviewer: "alice@example.test",
			IssuedAt: issued, ExpiresAt: issued.Add(24 * time.Hour), State: ReviewValid, Reason: "read the release notes of 1.5.2 and the lock file",
		},
		{
			Token: tokenB, Ref: "refs/heads/\u202elive", Base: "absent", Head: commitA, Reviewer: "bob\x1b[31m@example.test",
			IssuedAt: issued, ExpiresAt: issued.Add(time.Hour), State: ReviewRevoked,
		},
		{Token: tokenB, State: ReviewUnverified},
	}}
}

func doctor() Doctor {
	return Doctor{
		Schema: SchemaDoctor,
		Checks: List[Check]{
			{ID: "signers", Status: StatusOK, Message: "2 keys may review"},
			{ID: "signing-key", Status: StatusWarn, Message: "reviews are signed with a key that evolve made: whoever runs as this user can approve", Mend: "git config gpg.ssh.allowedSignersFile FILE names your reviewers' keys"},
			{ID: "ref_moved", Status: StatusFail, Message: "refs/heads/live was moved past the gate", Mend: "evolve rollback --ref refs/heads/live"},
		},
		Settings: List[Setting]{
			{Name: "evolve.expiry", Value: "24h", Origin: "default"},
			{Name: "evolve.guard", Value: "refs/heads/main", Origin: "file:.git/config"},
			{Name: "evolve.repository", Value: "", Origin: "default"},
		},
	}
}
