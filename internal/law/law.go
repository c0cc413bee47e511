// Package law holds no code: its test keeps the import law that ARCHITECTURE.md
// describes.
package law
