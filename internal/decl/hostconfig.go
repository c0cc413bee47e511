package decl

import (
	"net/netip"
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/evolve-mcp/evolve/internal/redact"
)

// HostConfig is evolve.yaml in the runtime home: what the host allows beside the
// reviewed declarations. It belongs to the host, never to a repository.
type HostConfig struct {
	// TrustedNetworks may be reached although they are private.
	TrustedNetworks []netip.Prefix
	// Environment are further names of the host's environment that servers get.
	Environment []string
	// Approval are the host's own rules, which can only make policies stricter.
	Approval ApprovalRules
	// ApproveConnect are servers whose connection needs no question here.
	ApproveConnect []string
	// Discoveries is how many servers are in discovery at once; 0 is the default.
	Discoveries int
	// MaxTools is how many tools one server may have, MaxPages in how many pages it
	// may list them; 0 is the default.
	MaxTools, MaxPages int
}

// ParseHostConfig reads evolve.yaml by the same strict YAML rules as a
// declaration. It never fails: what is wrong is in the problems.
func ParseHostConfig(path string, data []byte) (HostConfig, []Problem) {
	r := &reader{path: path}
	var c HostConfig
	body, _ := cutBOM(data)
	root := r.document(body)
	if root == nil && len(r.problems) == 1 && r.problems[0].Code == EmptyFile {
		return c, nil
	}
	if root != nil {
		r.structure(root, "", 0)
		r.hostConfig(root, &c)
	}
	sortProblems(r.problems)
	return c, r.problems
}

func (r *reader) hostConfig(root *yaml.Node, c *HostConfig) {
	known := []string{"trusted_networks", "environment", "approval", "approve_connect", "discoveries", "max_tools", "max_pages"}
	for _, e := range r.entries(root, "") {
		switch e.key.Value {
		case "trusted_networks":
			for i, raw := range r.strs(e.value, e.field) {
				prefix, err := netip.ParsePrefix(raw.Reveal())
				if err != nil {
					r.problem(e.value.Line, at(e.field, i), ValueInvalid, "this is no network such as 10.0.0.0/8")
					continue
				}
				c.TrustedNetworks = append(c.TrustedNetworks, prefix.Masked())
			}
		case "environment":
			c.Environment = r.envNames(e)
		case "approval":
			var a Agent
			r.approval(e, &a)
			c.Approval = a.Approval
		case "approve_connect":
			for i, raw := range r.strs(e.value, e.field) {
				if !ValidServerID(raw.Reveal()) {
					r.problem(e.value.Line, at(e.field, i), ValueInvalid, "this is no server's id")
					continue
				}
				c.ApproveConnect = append(c.ApproveConnect, raw.Reveal())
			}
		case "discoveries":
			r.whole(e.value, e.field, maxDiscoveries, &c.Discoveries)
		case "max_tools":
			r.whole(e.value, e.field, maxListed, &c.MaxTools)
		case "max_pages":
			r.whole(e.value, e.field, maxListed, &c.MaxPages)
		default:
			r.unknown(e, known)
		}
	}
}

// What a host may ask for at most: each discovery is a process, and each tool and
// page is kept.
const (
	maxDiscoveries = 64
	maxListed      = 10_000
)

// whole reads a whole number from 1 to most.
func (r *reader) whole(n *yaml.Node, field redact.Shown, most int, into *int) {
	v, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.Style != 0 || !plainNumber.MatchString(n.Value) || err != nil || v < 1 || v > most {
		r.problem(n.Line, field, ValueInvalid, "this must be a whole number from 1 to "+strconv.Itoa(most))
		return
	}
	*into = v
}

// envNames reads names of environment variables. HOME and its kin are set by the
// runtime itself.
func (r *reader) envNames(e entry) []string {
	var out []string
	for i, raw := range r.strs(e.value, e.field) {
		name := raw.Reveal()
		if !envName.MatchString(name) || slices.Contains([]string{"HOME", "USERPROFILE"}, name) {
			r.problem(e.value.Line, at(e.field, i), ValueInvalid, "this is no name of an environment variable that can be passed on")
			continue
		}
		out = append(out, name)
	}
	return out
}
