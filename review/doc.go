// Package review turns a report into a signed record and a token, and judges
// whether a set of tokens is valid for a move (DESIGN sections 4 and 5).
package review
