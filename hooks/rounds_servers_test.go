//go:build servers

package hooks_test

// raceRounds is how often each clone of the race pushes.
const raceRounds = 20
