//go:build !unix

package gogit

// ownedHere cannot tell owners apart on this system, and lets them pass.
func ownedHere(string, []string) bool { return true }
