package review

import (
	"fmt"
	"strconv"
	"time"
)

// durationUnits are the units of a duration in a setting or a flag.
var durationUnits = map[byte]time.Duration{
	's': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour,
}

// parseDuration reads one number above 0, of at most six digits, and a unit: 90m,
// 24h, 7d, 2w.
func parseDuration(s string) (time.Duration, bool) {
	const mostDigits = 6
	if len(s) < 2 || len(s) > mostDigits+1 {
		return 0, false
	}
	unit, known := durationUnits[s[len(s)-1]]
	n, err := strconv.ParseUint(s[:len(s)-1], 10, 32)
	if !known || err != nil || n == 0 {
		return 0, false
	}
	return time.Duration(n) * unit, true //nolint:gosec // six digits
}

// inWords writes a duration in the form in which it is set.
func inWords(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d > 2*day && d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return fmt.Sprintf("%ds", d/time.Second)
}
