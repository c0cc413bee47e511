package runtime

import "testing"

// TestTheEffectivePolicyIsTheStrictest looks rules up by tool, then capability,
// then risk, then default, in the core and in the host.
func TestTheEffectivePolicyIsTheStrictest(t *testing.T) {
	rules := func(tool, capability, risk, fallback Approval) ApprovalRules {
		r := ApprovalRules{Tools: map[string]Approval{}, Capabilities: map[string]Approval{}, Risks: map[Risk]Approval{}, Default: fallback}
		if tool != "" {
			r.Tools["docs__echo"] = tool
		}
		if capability != "" {
			r.Capabilities["mcp.call:docs"] = capability
		}
		if risk != "" {
			r.Risks[RiskMedium] = risk
		}
		return r
	}
	for _, tt := range []struct {
		name       string
		declared   Approval
		core, host ApprovalRules
		metadata   []ToolMetadata
		want       Approval
	}{
		{name: "declared alone", declared: Auto, want: Auto},
		{name: "the host demands more", declared: Auto, host: rules("", "", "", Prompt), want: Prompt},
		{name: "auto lowers nothing", declared: Prompt, core: rules(Auto, Auto, Auto, Auto), host: rules(Auto, Auto, Auto, Auto), want: Prompt},
		{name: "deny is final", declared: Auto, core: rules("", "", "", Deny), host: rules(Auto, Auto, Auto, Auto), want: Deny},
		{name: "tool before capability", declared: Auto, host: rules(Prompt, Deny, Deny, Deny), want: Prompt},
		{name: "capability before risk", declared: Auto, host: rules("", Prompt, Deny, Deny), want: Prompt},
		{name: "risk before default", declared: Auto, host: rules("", "", Prompt, Deny), want: Prompt},
		{name: "metadata changes what is declared", declared: Prompt, metadata: []ToolMetadata{{Name: "echo", Approval: Auto}}, want: Auto},
		{name: "metadata of the exposed name first", declared: Prompt,
			metadata: []ToolMetadata{{Name: "echo", Approval: Deny}, {Name: "docs__echo", Approval: Auto}}, want: Auto},
		{name: "metadata never lowers the host", declared: Auto, metadata: []ToolMetadata{{Name: "echo", Approval: Auto}}, host: rules("", "", "", Deny), want: Deny},
		{name: "metadata changes risk, and so the rule", declared: Auto, metadata: []ToolMetadata{{Name: "echo", Risk: RiskHigh}}, host: rules("", "", Deny, Prompt), want: Prompt},
		{name: "what is no policy denies", declared: "maybe", want: Deny},
		{name: "the server's own name counts too", declared: Auto, host: ApprovalRules{Tools: map[string]Approval{"echo": Deny, "docs__echo": Auto}}, want: Deny},
	} {
		d := core(t, map[string]string{"docs.yaml": "command: x\n"}).Declarations[0]
		d.d.ApprovalPolicy = tt.declared
		p := Policy{ID: "p", Core: tt.core, Host: tt.host, ToolMetadata: tt.metadata}
		if got := p.effective(p.calling(d.d, "docs__echo", "echo")); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
