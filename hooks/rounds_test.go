//go:build !servers

package hooks_test

// raceRounds is how often each clone of the race pushes; make test-servers runs
// more.
const raceRounds = 2
