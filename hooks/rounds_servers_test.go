//go:build servers

package hooks_test

import (
	"os"
	"strconv"
)

// raceRounds is how often each clone of the race pushes: 20, or what RACE_ROUNDS
// says, for a shorter run.
var raceRounds = func() int {
	if n, err := strconv.Atoi(os.Getenv("RACE_ROUNDS")); err == nil && n > 0 {
		return n
	}
	return 20
}()
