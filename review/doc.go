// Package review turns a report that a person accepted into a signed record and
// a token, and judges whether a set of tokens is valid for a move.
//
// A record is a small commit at refs/evolve/reviews/<hex> whose tree holds an
// in-toto statement and its SSH signature. The token is "mcp-review:" and the
// SHA-256 of the statement's bytes, so it cannot be made without a record, and
// anyone can check it with sha256sum and ssh-keygen. A token works once without
// any state: history itself says whether a named item was changed since.
//
//	token.go, trailer.go     the token, and where commits name it
//	statement.go, items.go   what is signed, and its one encoding
//	record.go, mint.go       records in the repository
//	signers.go, trust.go     who may review, as the host says now
//	settings.go, policy.go   the host's settings, from Git's configuration
//	signer.go, generated.go  who reviews here
//	verify.go, history.go    the rules that a token is held against
//	manage.go, pushed.go     list, show, revoke, prune; records that are pushed
//	examine.go               what doctor looks at
//
// Policy is never taken from a file inside a worktree. What changed is decided in
// internal/decl, what it means in securitydiff; promote combines this package's
// answer with the ref.
package review
