// Package soak holds no code: its tests run the built evolve as its users do,
// many at once, killed at any moment, on a full disk, with nobody reading.
//
// The tests of streams and signals run with every "go test". The storms are
// behind the build tag soak and are run by "make soak", which writes down their
// results in docs/soak.md; SOAK_SCALE scales their counts (1 is the full run).
package soak
