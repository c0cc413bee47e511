package netguard

import "context"

// MaxRedirects is how many hops may follow a request, as in net/http and curl's
// usual setting.
const MaxRedirects = 10

// Hop is one redirect that a server asks for.
type Hop struct {
	From     Target // the request that was answered with a redirect
	Location string // the header's value
	Number   int    // 1 for the first hop
	HasBody  bool   // the request had a body
}

// Redirect reads and judges the target of a hop, and then applies the rules
// between two hops: no https to http, at most MaxRedirects, and another origin
// only for a request without a body. The target is judged (and resolved) first,
// so that a decision can be recorded for every target that a server names. On a
// refusal the Target must not be used.
func (p *Policy) Redirect(ctx context.Context, hop Hop) (Target, Decision) {
	next, reason := hop.From.Resolve(hop.Location)
	if reason != Allowed {
		return Target{}, refuse(Target{}, reason)
	}
	d := p.DecideTarget(ctx, next)
	if !d.Allowed {
		return Target{}, d
	}
	for _, rule := range redirectRules {
		if rule.breaks(hop, next) {
			d.Allowed, d.Reason, d.Class = false, rule.reason, Class(rule.reason)
			return Target{}, d
		}
	}
	return next, d
}

var redirectRules = []struct {
	reason Reason
	breaks func(hop Hop, next Target) bool
}{
	{TooManyRedirects, func(hop Hop, _ Target) bool { return hop.Number > MaxRedirects }},
	{SchemeDowngrade, func(hop Hop, next Target) bool { return hop.From.Scheme == "https" && next.Scheme == "http" }},
	{CrossOriginBody, func(hop Hop, next Target) bool { return hop.HasBody && hop.From.Origin() != next.Origin() }},
}
