package securitydiff

import (
	"fmt"
	"slices"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// agent adds the change of a core's settings.
func (c *comparison) agent(d decl.Delta) {
	old, new := agentOf(c.before, d.Key.Core), agentOf(c.after, d.Key.Core)
	ch := Change{
		Core: showCore(d.Key.Core), Subject: SubjectAgent, Path: showPath(d.Key.Path), Change: kindOfDelta(d),
		Fields: []Field{}, Findings: []Finding{}, BeforeState: agentState(c.before, d.Key.Core), AfterState: agentState(c.after, d.Key.Core),
	}
	c.names.add(d.Key.Core)
	c.names.agent(&old)
	c.names.agent(&new)
	c.guard.Withhold(old.Outline.Values...)
	c.guard.Withhold(new.Outline.Values...)
	l, v := &fieldList{}, &verdicts{}
	if root := showRoot(new.MCPRoot); old.MCPRoot != new.MCPRoot && ch.Change == Modified {
		l.scalar("mcp_root", showRoot(old.MCPRoot), root)
		v.add("mcp-root-moved", High, "mcp_root")
	}
	compareGrants(l, v, old.Grants, new.Grants)
	compareApproval(l, v, &old, &new)
	compareMetadata(l, v, old.ToolMetadata, new.ToolMetadata)
	if new.State != decl.StateValid {
		v.add("unreadable-declaration", High, "")
	}
	if ch.Change == Modified && len(l.list) == 0 {
		for _, node := range old.ChangedNodes(&new) {
			l.add(Field{Name: redact.Shown(node), Change: FieldChanged, Note: "settings changed"})
		}
		v.add("agent-settings-changed", Medium, "")
	}
	ch.Fields = append(ch.Fields, l.list...)
	ch.Findings = v.sorted()
	if ch.Change != Modified && len(ch.Fields) == 0 && len(ch.Findings) == 0 {
		return // a core appears or goes with its declarations, which are told
	}
	c.out = append(c.out, ch)
}

func showRoot(root string) redact.Shown {
	if root == "" {
		return ""
	}
	return showPath(root)
}

func agentOf(s *decl.Surface, core string) decl.Agent {
	for i := range s.Cores {
		if s.Cores[i].Dir == core {
			return s.Cores[i].Agent
		}
	}
	return decl.Agent{State: decl.StateValid}
}

func agentState(s *decl.Surface, core string) string {
	for i := range s.Cores {
		if s.Cores[i].Dir == core {
			return string(s.Cores[i].Agent.State)
		}
	}
	return ""
}

func kindOfDelta(d decl.Delta) ChangeKind {
	switch (decl.Digest{}) {
	case d.Before:
		return Added
	case d.After:
		return Removed
	}
	return Modified
}

func compareGrants(l *fieldList, v *verdicts, old, new []redact.Raw) {
	for _, g := range new {
		if !slices.ContainsFunc(old, g.Equal) {
			name := "capabilities.defaults." + nameAt(redact.Capability, g.Reveal())
			l.add(Field{Name: name, Change: FieldAdded, After: "granted"})
			v.add("grant-added", High, name)
		}
	}
	for _, g := range old {
		if !slices.ContainsFunc(new, g.Equal) {
			name := "capabilities.defaults." + nameAt(redact.Capability, g.Reveal())
			l.add(Field{Name: name, Change: FieldRemoved, Before: "granted"})
			v.add("grant-removed", Info, name)
		}
	}
}

// compareApproval compares the approval rules. A rule that goes leaves what the
// next lookup says, which may be weaker: it counts as relaxed unless it was the
// weakest.
func compareApproval(l *fieldList, v *verdicts, old, new *decl.Agent) {
	for _, part := range []struct {
		name     string
		old, new []decl.Rule
	}{
		{"approval.tools", old.Approval.Tools, new.Approval.Tools},
		{"approval.capabilities", old.Approval.Capabilities, new.Approval.Capabilities},
		{"approval.risks", old.Approval.Risks, new.Approval.Risks},
	} {
		policies := map[string][2]decl.Approval{}
		for _, r := range part.old {
			policies[r.Name.Reveal()] = [2]decl.Approval{r.Policy, ""}
		}
		for _, r := range part.new {
			policies[r.Name.Reveal()] = [2]decl.Approval{policies[r.Name.Reveal()][0], r.Policy}
		}
		for _, name := range sortedKeys(policies) {
			approvalRule(l, v, redact.Shown(part.name)+"."+nameAt(redact.Capability, name), policies[name])
		}
	}
	approvalRule(l, v, "approval.default", [2]decl.Approval{old.Approval.Default, new.Approval.Default})
}

func approvalRule(l *fieldList, v *verdicts, field redact.Shown, p [2]decl.Approval) {
	if p[0] == p[1] {
		return
	}
	l.scalar(field, redact.Shown(p[0]), redact.Shown(p[1]))
	switch {
	case p[1] == decl.ApprovalAuto:
		v.add("approval-relaxed", Critical, field)
	case p[1] == "" && p[0] != decl.ApprovalAuto, p[0] != "" && p[1] != "" && p[1].Strictness() < p[0].Strictness():
		v.add("approval-relaxed", High, field)
	}
}

func compareMetadata(l *fieldList, v *verdicts, old, new []decl.ToolMetadata) {
	before, after := map[string]decl.ToolMetadata{}, map[string]decl.ToolMetadata{}
	all := map[string]bool{}
	for _, m := range old {
		before[m.Name.Reveal()], all[m.Name.Reveal()] = m, true
	}
	for _, m := range new {
		after[m.Name.Reveal()], all[m.Name.Reveal()] = m, true
	}
	for _, name := range sortedKeys(all) {
		b, a := before[name], after[name]
		field := "tools.metadata." + nameAt(redact.Key, name)
		n := len(l.list)
		l.scalar(field+".risk", redact.Shown(b.Risk), redact.Shown(a.Risk))
		l.scalar(field+".approval_policy", redact.Shown(b.ApprovalPolicy), redact.Shown(a.ApprovalPolicy))
		l.hidden(field+".capability", optional(b.Capability), optional(a.Capability), b.Capability, a.Capability)
		if len(l.list) == n {
			continue
		}
		v.add("tool-metadata-changed", High, field)
		if a.ApprovalPolicy != b.ApprovalPolicy && a.ApprovalPolicy != "" {
			severity := High
			if a.ApprovalPolicy == decl.ApprovalAuto {
				severity = Critical
			}
			if b.ApprovalPolicy == "" || a.ApprovalPolicy.Strictness() < b.ApprovalPolicy.Strictness() {
				v.add("approval-relaxed", severity, field)
			}
		}
		if a.Risk != "" && (b.Risk == "" || a.Risk.Level() < b.Risk.Level()) && a.Risk.Level() < decl.RiskHigh.Level() {
			v.add("risk-downgraded", High, field)
		}
	}
}

func optional(r redact.Raw) redact.Shown {
	if r.Len() == 0 {
		return ""
	}
	return nameAt(redact.Capability, r.Reveal())
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// maxChangedFiles is how many files of a bound directory are named.
const maxChangedFiles = 20

// bound adds the change of what a declaration launches, what a runner reads, or
// of attributes, by path only. An item that is new because a changed declaration
// names what was there before is told, and is no finding of its own.
func (c *comparison) bound(d decl.Delta) error {
	ch := Change{
		Core: showCore(d.Key.Core), Subject: boundSubjects[d.Key.Kind].subject, Path: showPath(d.Key.Path), Change: kindOfDelta(d),
		Fields: []Field{}, Findings: []Finding{},
	}
	c.names.add(d.Key.Core, d.Key.Path)
	list := decl.ChangedFiles
	if ch.Change == Added {
		list = decl.Arrived
	}
	paths, more, err := list(c.ctx, c.before, c.after, d.Key, maxChangedFiles)
	if err != nil {
		return err
	}
	c.names.add(paths...)
	v := &verdicts{}
	if len(paths) == 0 && ch.Change == Added {
		v.add("launched-files-bound", Info, "")
	} else {
		v.add(boundSubjects[d.Key.Kind].finding, boundSubjects[d.Key.Kind].severity, "")
	}
	for _, p := range paths {
		ch.Fields = append(ch.Fields, Field{Name: showPath(p), Change: fileChange(ch.Change), Note: "content " + string(fileChange(ch.Change))})
	}
	if more {
		ch.Fields = append(ch.Fields, Field{Name: "...", Change: FieldChanged, Note: fmt.Sprintf("more than %d files", maxChangedFiles)})
	}
	ch.Findings = v.sorted()
	c.out = append(c.out, ch)
	return nil
}

// boundSubjects says what a bound item is about, and what a change of it raises.
var boundSubjects = map[decl.ItemKind]struct {
	subject  Subject
	finding  string
	severity Severity
}{
	decl.KindLaunched:   {SubjectLaunched, "launched-file-changed", High},
	decl.KindRunner:     {SubjectRunner, "runner-config-changed", High},
	decl.KindAttributes: {SubjectAttributes, "attributes-changed", Medium},
}

func fileChange(k ChangeKind) FieldChange {
	switch k {
	case Added:
		return FieldAdded
	case Removed:
		return FieldRemoved
	}
	return FieldChanged
}
