// Package safetext is described in DESIGN.
package safetext
