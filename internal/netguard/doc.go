// Package netguard is described in DESIGN.
package netguard
