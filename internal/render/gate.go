package render

import (
	"io"
	"strings"
	"time"
)

// VerificationText writes the answer of verify in one sentence, and the tokens
// that it rests on. What to do about a refusal is the caller's error to say.
func VerificationText(w io.Writer, v Verification, o TextOptions) error {
	p := newPage(o)
	move := []run{styled(v.Ref, heading), styled(short(v.Base)+".."+short(v.Head)+":", heading)}
	switch {
	case !v.Valid:
		move = append(move, words("refused, "+v.Code, critical)...)
	case v.RequiresReview:
		move = append(move, words("valid, the reviews cover this move", good)...)
	default:
		move = append(move, words("valid, this move needs no review", good)...)
	}
	p.prose(0, 2, move...)
	for _, t := range v.Tokens {
		p.prose(2, 2, styled(t, plain))
	}
	return emit(w, p.buf.Bytes())
}

var reviewStyles = map[ReviewState]style{
	ReviewValid:      good,
	ReviewRevoked:    high,
	ReviewUnverified: critical,
}

// ReviewsText writes the records, each below its token, which stands alone on
// its line so that it can be copied.
func ReviewsText(w io.Writer, r Reviews, o TextOptions) error {
	p := newPage(o)
	if len(r.Reviews) == 0 {
		p.prose(0, 0, words("no reviews", plain)...)
	}
	for i, e := range r.Reviews {
		if i > 0 {
			p.blank()
		}
		p.review(e)
	}
	return emit(w, p.buf.Bytes())
}

func (p *page) review(e ReviewEntry) {
	p.prose(0, 2, styled(e.Token, heading))
	rows := []row{plainRow("state", styled(string(e.State), reviewStyles[e.State]))}
	if e.Ref != "" {
		rows = append(rows,
			plainRow("for", styled(e.Ref, plain), styled(short(e.Base)+".."+short(e.Head), plain)),
			plainRow("by", styled(e.Reviewer, plain)))
	}
	if !e.IssuedAt.IsZero() || !e.ExpiresAt.IsZero() {
		rows = append(rows, plainRow("from", styled(moment(e.IssuedAt), plain), run{{"to", plain}}, styled(moment(e.ExpiresAt), plain)))
	}
	if e.Reason != "" {
		rows = append(rows, plainRow("reason", words(e.Reason, plain)...))
	}
	p.table(2, rows)
}

// moment is a time in UTC to the second (RFC 3339, with a space for the T as its
// section 5.6 allows).
func moment(t time.Time) string {
	return strings.Replace(t.UTC().Truncate(time.Second).Format(time.RFC3339), "T", " ", 1)
}
