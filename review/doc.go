// Package review turns a report that a person accepted into a signed record and
// a token, and judges whether a set of tokens is valid for a move.
//
// A record is a small commit at refs/evolve/reviews/<hex> whose tree holds an
// in-toto statement and its SSH signature. The token is "mcp-review:" and the
// SHA-256 of the statement's bytes, so it cannot be made without a record, and
// anyone can check it with sha256sum and ssh-keygen. A token works once without
// any state: history itself says whether a named item was changed since.
//
// The host's policy comes from Git's configuration (policy.go), never from a
// file inside a worktree. What changed is decided in internal/decl, what it means
// in securitydiff; promote combines this package's answer with the ref.
package review
