// Package securitydiff compares two surfaces and says what the change means: a
// report of summaries, changed fields and findings that holds nothing secret.
//
// Redaction happens here, when a declaration becomes a view (view.go, args.go,
// urlview.go), and nowhere later: text from the repository enters a Report only as
// redact.Shown. What is changed is told field by field (fields.go); what it means
// is judged by families of rules (judge_*.go) against one table of findings
// (findings.go). At the end the report is sealed (seal.go): whatever repeats a
// withheld value is withheld too, and a last guard searches the rest.
//
// Rendering is internal/render's business; which items a token binds is
// internal/decl's.
package securitydiff
