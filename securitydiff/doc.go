// Package securitydiff is described in DESIGN.
package securitydiff
