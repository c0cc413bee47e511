// Package redact decides what text from a repository or a server may be shown.
//
// Raw holds text that must not be printed; Shown holds text that passed the
// grammar of its position and the credential screen, as printable ASCII. What
// may not be shown is replaced by a Fingerprinter's class, and remembered by a
// Guard, which searches the finished output for it. Position decides; names
// (SecretName) and shapes (LooksLikeCredential) only ever withhold more.
package redact
