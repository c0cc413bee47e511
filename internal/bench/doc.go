// Package bench holds no code: its test, behind the build tag bench and run by
// "make bench", times the built evolve beside Git doing the same work, on
// repositories made for it, and writes docs/benchmarks.md.
//
// Both sides run as processes, in turns, in one run; what counts are the ratios
// of the medians, which a busy machine moves less than the times.
package bench
