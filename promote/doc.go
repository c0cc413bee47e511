// Package promote is described in DESIGN.
package promote
