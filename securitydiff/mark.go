package securitydiff

import (
	"github.com/sergi/go-diff/diffmatchpatch"

	"github.com/evolve-mcp/evolve/internal/redact"
)

// Segment is a piece of a safe text.
type Segment struct {
	Text redact.Shown
	// Changed says that the other text does not have this piece here.
	Changed bool
}

// maxMarked is the longest text, in bytes, that Mark looks into. The comparison
// is quadratic in the number of words: two texts of this length that are all
// punctuation take about 1 ms. Longer ones are shown whole.
const maxMarked = 256

// Mark shows what changed between two safe texts, word by word: the segments of
// b join to before, those of a to after. Texts that have too little in common,
// or are too long, come back as one changed segment each. The result depends on
// the two texts alone.
//
// It only ever sees redact.Shown, so that it cannot say more of a value than
// the report does.
func Mark(before, after redact.Shown) (b, a []Segment) {
	if before == after {
		return segments(before, false), segments(after, false)
	}
	if len(before) > maxMarked || len(after) > maxMarked {
		return segments(before, true), segments(after, true)
	}
	var book glossary
	// Without a deadline the result does not depend on the machine's speed.
	differ := diffmatchpatch.DiffMatchPatch{DiffTimeout: 0}
	var common int
	for _, d := range differ.DiffMainRunes(book.encode(before), book.encode(after), false) {
		text, weight := book.decode(d.Text)
		switch d.Type {
		case diffmatchpatch.DiffDelete:
			b = appendSegment(b, text, true)
		case diffmatchpatch.DiffInsert:
			a = appendSegment(a, text, true)
		default:
			common += weight
			b, a = appendSegment(b, text, false), appendSegment(a, text, false)
		}
	}
	// Less than a third in common is chance: marking it would only confuse.
	const least = 3
	if common*least < max(letters(before), letters(after)) {
		return segments(before, true), segments(after, true)
	}
	return b, a
}

// segments is the whole text as one segment, and no segment for no text.
func segments(text redact.Shown, changed bool) []Segment {
	return appendSegment(nil, text, changed)
}

func appendSegment(list []Segment, text redact.Shown, changed bool) []Segment {
	if text == "" {
		return list
	}
	if n := len(list); n > 0 && list[n-1].Changed == changed {
		list[n-1].Text += text
		return list
	}
	return append(list, Segment{text, changed})
}

// glossary numbers words, so that a comparison of characters becomes one of
// words. A number is a rune from a block of 20,992 ideographs, more than two
// texts of maxMarked bytes have words.
type glossary struct {
	words   []redact.Shown
	numbers map[redact.Shown]rune
}

const firstNumber = '\u4e00'

func (g *glossary) encode(text redact.Shown) []rune {
	if g.numbers == nil {
		g.numbers = map[redact.Shown]rune{}
	}
	var numbers []rune
	for text != "" {
		n := wordLength(text)
		word := text[:n]
		number, known := g.numbers[word]
		if !known {
			number = firstNumber + rune(len(g.words))
			g.numbers[word] = number
			g.words = append(g.words, word)
		}
		numbers, text = append(numbers, number), text[n:]
	}
	return numbers
}

func (g *glossary) decode(numbers string) (text redact.Shown, weight int) {
	for _, number := range numbers {
		text += g.words[number-firstNumber]
	}
	return text, letters(text)
}

// wordLength is the length of the word that text begins with: a run of letters
// and digits, or one other character.
func wordLength(text redact.Shown) int {
	n := 0
	for n < len(text) && isLetter(text[n]) {
		n++
	}
	return max(n, 1)
}

func letters(text redact.Shown) int {
	n := 0
	for i := range len(text) {
		if isLetter(text[i]) {
			n++
		}
	}
	return n
}

func isLetter(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}
