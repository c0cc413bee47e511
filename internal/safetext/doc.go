// Package safetext makes text from outside harmless to print.
//
// It is for what is printed and did not come as redact.Shown: paths that the
// operating system or Git gave, ref names, principals, configured values. It
// hides nothing: what must not be read has to be withheld before (package
// redact). A control character, a bidirectional override or a letter that only
// looks like another comes out as an escape that can be read.
//
// Every result is printable ASCII, so its length in bytes is its width on a
// terminal. That is stricter than a list of dangerous characters, and unlike
// such a list it does not age: what Unicode adds next year is covered.
package safetext
