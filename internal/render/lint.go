package render

import (
	"io"

	"github.com/evolve-mcp/evolve/internal/redact"
	"github.com/evolve-mcp/evolve/securitydiff"
)

// LintText writes what is wrong with one surface, problems first, and what a
// reviewer should weigh, file by file. Verbose adds every server as a host would
// run it.
func LintText(w io.Writer, r *securitydiff.LintReport, o TextOptions) error {
	if err := guard(r); err != nil {
		return err
	}
	p := newPage(o)
	p.lintHeadline(r)
	if len(r.Problems) > 0 {
		p.blank()
		p.problems(r.Problems)
	}
	for _, group := range byPath(r.Findings) {
		p.blank()
		p.prose(0, 2, styled(string(group.path), heading))
		p.findings(group.findings)
	}
	if o.Verbose {
		for _, s := range r.Servers {
			p.blank()
			p.server(s)
		}
	}
	return emit(w, p.buf.Bytes())
}

func (p *page) lintHeadline(r *securitydiff.LintReport) {
	var all []securitydiff.Finding
	for _, f := range r.Findings {
		all = append(all, f.Finding)
	}
	list := append([]run{styled(short(r.Revision)+":", heading)},
		words(count(len(r.Servers), "server")+",", heading)...)
	if n := len(r.Problems); n > 0 {
		list = append(list, words(count(n, "problem")+",", critical)...)
	} else {
		list = append(list, words("no problems,", heading)...)
	}
	list = append(list, verdict(worst(all))...)
	if r.Valid {
		list = append(list, styled("valid", good))
	} else {
		list = append(list, words("not valid", critical)...)
	}
	p.prose(0, 2, list...)
}

func (p *page) server(s securitydiff.LintServer) {
	st := plain
	if !readable(s.State) {
		st = critical
	}
	p.prose(0, 2, p.entitled(styled(string(s.Path), heading), styled(s.State, st))...)
	if s.Summary != nil {
		p.table(2, summaryRows(s.Summary, readable(s.State)))
	}
}

// fileFindings are the findings of one file.
type fileFindings struct {
	path     redact.Shown
	findings []securitydiff.Finding
}

// byPath groups findings by file, in the order in which files first appear:
// findings come worst first, so the worst file does too.
func byPath(list []securitydiff.LintFinding) []fileFindings {
	var groups []fileFindings
	place := map[redact.Shown]int{}
	for _, f := range list {
		i, known := place[f.Path]
		if !known {
			i = len(groups)
			place[f.Path] = i
			groups = append(groups, fileFindings{path: f.Path})
		}
		groups[i].findings = append(groups[i].findings, f.Finding)
	}
	return groups
}
