package main

import (
	"context"
	"sync"

	"golang.org/x/term"

	"github.com/evolve-mcp/evolve/internal/gitrepo"
	"github.com/evolve-mcp/evolve/internal/render"
	"github.com/evolve-mcp/evolve/internal/safetext"
	"github.com/evolve-mcp/evolve/runtime"
)

// progress tells a person on a terminal what happens, and everybody with -v.
type progress struct {
	s       *session
	verbose bool
}

// Emit implements runtime.EventSink.
func (p *progress) Emit(e runtime.Event) {
	if !p.verbose && !term.IsTerminal(int(p.s.err.Fd())) {
		return
	}
	id := safetext.Terminal(e.ServerID)
	switch e.Name {
	case runtime.ServerConnected:
		p.s.tell(id + ": connected")
	case runtime.ServerDenied:
		p.s.tell(id + ": denied (" + safetext.Terminal(e.Reason) + ")")
	case runtime.ServerFailed:
		p.s.tell(id + ": failed (" + safetext.Terminal(e.Message) + ")")
	case runtime.URLDecision:
		if p.verbose && e.URLPolicy != nil {
			p.s.tell(id + ": " + safetext.Terminal(e.URLPolicy.Target) + ", " + safetext.Terminal(e.URLPolicy.Reason))
		}
	case runtime.ToolCalled:
		if p.verbose {
			p.s.tell(id + ": " + safetext.Terminal(e.Tool) + " was called, " + safetext.Terminal(e.Status))
		}
	case runtime.CatalogChanged:
	}
}

// tell is note in lines that fit, and never in the middle of a question: what
// happens meanwhile waits for the answer.
func (s *session) tell(text string) {
	if s.quiet {
		return
	}
	s.asking.Lock()
	defer s.asking.Unlock()
	_ = render.Note(s.err, text, s.width(s.err))
}

// person asks whoever sits at the terminal.
type person struct{ s *session }

// person is nil where nobody can be asked.
func (s *session) person() runtime.Approver {
	if !term.IsTerminal(int(s.in.Fd())) {
		return nil
	}
	return &person{s: s}
}

// Approve implements runtime.Approver.
func (p *person) Approve(ctx context.Context, r runtime.ApprovalRequest) (runtime.Answer, error) {
	p.s.tell(safetext.Terminal(r.Preview.String()))
	question := "Connect to " + safetext.Terminal(r.ServerID) + "?"
	if r.Kind == runtime.CallApproval {
		question = "Call " + safetext.Terminal(r.Tool) + " of " + safetext.Terminal(r.ServerID) + "?"
	}
	p.s.asking.Lock()
	defer p.s.asking.Unlock()
	yes, err := p.s.approved(ctx, false, question)
	if err != nil || !yes {
		return runtime.No, err
	}
	return runtime.Once, nil
}

// onceAsked remembers a person's answers about the servers of a commit, so that
// a promotion, which runs them twice, asks once.
type onceAsked struct {
	inner  runtime.Approver
	commit gitrepo.ID
	mu     sync.Mutex
	known  map[answered]runtime.Answer
}

type answered struct {
	commit gitrepo.ID
	server string
}

// at returns an approver for the servers of one commit, nil if nobody can be asked.
func (o *onceAsked) at(commit gitrepo.ID) runtime.Approver {
	if o.inner == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.commit = commit
	return o
}

// Approve implements runtime.Approver.
func (o *onceAsked) Approve(ctx context.Context, r runtime.ApprovalRequest) (runtime.Answer, error) {
	o.mu.Lock()
	key := answered{o.commit, r.ServerID}
	answer, known := o.known[key]
	o.mu.Unlock()
	if known && r.Kind == runtime.ConnectApproval {
		return answer, nil
	}
	answer, err := o.inner.Approve(ctx, r)
	if err == nil && r.Kind == runtime.ConnectApproval {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.known == nil {
			o.known = map[answered]runtime.Answer{}
		}
		o.known[key] = answer
	}
	return answer, err
}
