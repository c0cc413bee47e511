// Package decl is described in DESIGN.
package decl
