package decl

// maxTypos is the edit distance up to which a key counts as a misspelling.
const maxTypos = 2

// Nearest returns the known word that key is a misspelling of: at most two
// edits away, and fewer than half its letters. It is "" if there is none.
func Nearest(key string, known []string) string {
	best, bestDistance := "", maxTypos+1
	for _, word := range known {
		if d := distance(key, word, maxTypos); d < bestDistance && 2*d < len(word) {
			best, bestDistance = word, d
		}
	}
	return best
}

// distance is the Levenshtein distance, or limit+1 if it is more than limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j]+1, row[j+1]+1, diagonal+cost)
		}
	}
	return min(row[len(b)], limit+1)
}
