// Package validation runs a revision's declarations on the host runtime, under
// the policies that a host would apply: it writes the reviewed files into a
// private workspace, prepares one turn, and says what became of each server.
//
// It decides nothing itself: what is reviewed is internal/decl's, what may be
// reached and called is runtime's. It keeps nothing: Close leaves no process, no
// workspace and no temporary file.
package validation
