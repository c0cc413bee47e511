// Package promote decides whether one ref may move, and moves it.
//
// Gate.Judge is the one decision function: promote, verify and the server's
// hooks all ask it. It reads immutable ids only and writes nothing. Gate.Promote
// judges, asks for the ordinary approval, writes the verdict down as a claim,
// and moves the ref through Git's own transaction; what can still change (the
// ref's value, expiry, revocation) is checked again under the ref's lock. When
// anything is refused, no ref has changed.
//
// Every move and every refused move is a line of the audit log. A move whose
// line was cut off by a crash is written down by the next command, from the
// claim that it left (Reconcile).
//
// Reading objects and driving the transaction is internal/gitrepo's work,
// judging tokens is package review's. The report for a person is made elsewhere
// (securitydiff): the hooks, which explain in one sentence, do not link it.
package promote
