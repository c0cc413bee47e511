// Package runtime is described in DESIGN.
package runtime
