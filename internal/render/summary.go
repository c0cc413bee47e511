package render

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/evolve-mcp/evolve/internal/redact"
	"github.com/evolve-mcp/evolve/securitydiff"
)

// sides shows the effective values of a server that is new or gone, and those
// of both sides of any other change if asked to.
func (p *page) sides(c securitydiff.Change, whole, verbose bool) {
	if verbose && c.Before != nil && reflect.DeepEqual(c.Before, c.After) {
		p.prose(2, 2, words("before and after:", heading)...)
		p.table(4, summaryRows(c.After, readable(c.AfterState)))
		return
	}
	for _, side := range []struct {
		name    string
		state   string
		summary *securitydiff.Summary
	}{{"before:", c.BeforeState, c.Before}, {"after:", c.AfterState, c.After}} {
		switch {
		case side.summary == nil || !whole && !verbose:
		case whole:
			p.table(2, summaryRows(side.summary, readable(side.state)))
		default:
			p.prose(2, 2, styled(side.name, heading))
			p.table(4, summaryRows(side.summary, readable(side.state)))
		}
	}
}

func readable(state string) bool { return state == "" || state == "valid" }

// summarised are the fields whose whole value summaryRows shows, by the first
// part of their names.
func summarised(field string) bool {
	name, _, _ := strings.Cut(field, "[")
	return slices.Contains([]string{
		"server_id", "path", "enabled", "transport", "risk", "approval_policy", "capability",
		"connect_capability", "call_capability", "effective_connect_approval_policy",
		"command", "args", "cwd", "url", "tools.include", "tools.exclude",
		"connect_timeout_seconds", "timeout_seconds", "supports_parallel_tool_calls",
	}, name)
}

// summaryRows are the effective values of one side, in the order in which a
// reviewer asks: what runs, with what, under which rules. Of a side that could
// not be read only names are known, and defaults would be a guess.
func summaryRows(s *securitydiff.Summary, readable bool) []row {
	var rows []row
	add := func(label string, values ...redact.Shown) {
		var list []run
		for _, v := range values {
			if v != "" {
				list = append(list, styled(string(v), plain))
			}
		}
		if len(list) > 0 {
			rows = append(rows, plainRow(label, list...))
		}
	}
	add("server_id", s.ServerID)
	add("transport", redact.Shown(s.Transport))
	add("command", s.Command)
	add("args", s.Args...)
	add("cwd", s.Cwd)
	add("env", s.EnvNames...)
	add("url", s.URL)
	add("headers", s.HeaderNames...)
	if !readable {
		return rows
	}
	if !s.Enabled {
		add("enabled", "false")
	}
	add("risk", redact.Shown(s.Risk))
	rows = append(rows,
		plainRow("to connect", words(s.EffectiveConnectApprovalPolicy+", "+string(s.ConnectCapability), plain)...),
		plainRow("to call", words(s.ApprovalPolicy+", "+string(s.CallCapability), plain)...))
	if len(s.Tools.Include) == 0 {
		add("tools", "all")
	} else {
		add("tools", s.Tools.Include...)
	}
	add("tools excluded", s.Tools.Exclude...)
	rows = append(rows, plainRow("timeouts",
		words(seconds(s.ConnectTimeoutSeconds)+" to connect, "+seconds(s.TimeoutSeconds)+" a call", plain)...))
	if s.SupportsParallelToolCalls {
		add("parallel calls", "allowed")
	}
	return rows
}

func seconds(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) + " s" }
