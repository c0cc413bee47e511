package runtime

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"time"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// Approval is a policy for connecting or calling.
type Approval = decl.Approval

// The approval policies, weakest first.
const (
	Auto   = decl.ApprovalAuto
	Prompt = decl.ApprovalPrompt
	Deny   = decl.ApprovalDeny
)

// Risk is a statement of how dangerous tools are.
type Risk = decl.Risk

// The risks, lowest first.
const (
	RiskLow      = decl.RiskLow
	RiskMedium   = decl.RiskMedium
	RiskHigh     = decl.RiskHigh
	RiskCritical = decl.RiskCritical
)

// Declaration is one MCP server as a core declares it. It comes from
// LoadDeclarations. Its texts are not exported: a Preview shows what may be
// seen of them. The zero Declaration is not valid.
type Declaration struct{ d *decl.Declaration }

// ServerID is the declaration's file name without its suffix.
func (d Declaration) ServerID() string { return d.d.ServerID }

// Path is the file's path within the core's file system.
func (d Declaration) Path() string { return d.d.Path }

// Enabled reports whether the server may be connected at all.
func (d Declaration) Enabled() bool { return d.d.Enabled }

// HTTP reports whether the server is reached over HTTP; else it is a child
// process.
func (d Declaration) HTTP() bool { return d.d.Transport == decl.StreamableHTTP }

// Risk is the declared risk.
func (d Declaration) Risk() Risk { return d.d.Risk }

// CallTimeout bounds one call.
func (d Declaration) CallTimeout() time.Duration { return seconds(d.d.Timeout) }

// ConnectTimeout bounds starting, initialising and listing together.
func (d Declaration) ConnectTimeout() time.Duration { return seconds(d.d.ConnectTimeout) }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Core is what a host reads of one core: what is declared, granted and
// demanded.
type Core struct {
	Declarations []Declaration
	// Capabilities are those that agent.yaml grants.
	Capabilities Capabilities
	// Approval are agent.yaml's rules, to be put into a Policy.
	Approval ApprovalRules
	// ToolMetadata changes what a declaration says of single tools.
	ToolMetadata []ToolMetadata
}

// LoadDeclarations reads the core whose directory fsys is, by the same strict
// rules as a review. Anything that is wrong there is an error (a *fault.Fault
// that names the first problem): a host that cannot read all of what was
// reviewed runs nothing of it. Symbolic links are never followed.
func LoadDeclarations(fsys fs.FS) (*Core, error) {
	ctx := context.Background() // fs.FS knows no context: there is nothing to cancel
	surface, err := decl.LoadSurface(ctx, fsTree{fsys}, decl.Options{})
	if err != nil {
		return nil, err
	}
	for i := range surface.Cores {
		if surface.Cores[i].Dir != "" {
			continue
		}
		if problems := coreProblems(surface, &surface.Cores[i]); len(problems) > 0 {
			return nil, fault.New(fault.DeclarationInvalid, "%s", problems[0].String()).
				WithHint("run evolve lint for all problems")
		}
		return FromCore(&surface.Cores[i]), nil
	}
	return &Core{}, nil
}

// coreProblems leaves out the problems of other cores below this one.
func coreProblems(s *decl.Surface, c *decl.Core) []decl.Problem {
	out := append([]decl.Problem{}, s.Problems...)
	out = append(out, c.Agent.Problems...)
	for _, f := range c.Files {
		out = append(out, f.Problems...)
	}
	return out
}

// FromCore takes a core of a surface that was already loaded and found valid.
func FromCore(c *decl.Core) *Core {
	out := &Core{Approval: RulesFrom(c.Agent.Approval)}
	for _, f := range c.Files {
		if f.Decl != nil {
			out.Declarations = append(out.Declarations, Declaration{f.Decl})
		}
	}
	grants := make([]string, 0, len(c.Agent.Grants))
	for _, g := range c.Agent.Grants {
		grants = append(grants, g.Reveal())
	}
	out.Capabilities = NewCapabilities(grants...)
	for _, m := range c.Agent.ToolMetadata {
		out.ToolMetadata = append(out.ToolMetadata, ToolMetadata{
			Name: m.Name.Reveal(), Risk: m.Risk, Approval: m.ApprovalPolicy, Capability: m.Capability.Reveal(),
		})
	}
	return out
}

// RulesFrom are the rules of an approval node, of an agent or of the host.
func RulesFrom(a decl.ApprovalRules) ApprovalRules {
	return ApprovalRules{
		Tools: rules[string](a.Tools), Capabilities: rules[string](a.Capabilities), Risks: rules[Risk](a.Risks), Default: a.Default,
	}
}

func rules[K ~string](list []decl.Rule) map[K]Approval {
	out := map[K]Approval{}
	for _, r := range list {
		out[K(r.Name.Reveal())] = r.Policy
	}
	return out
}

// fsTree reads a file system as a revision.
type fsTree struct{ fsys fs.FS }

// List implements decl.Tree.
func (t fsTree) List(_ context.Context, dir string) ([]decl.Entry, error) {
	at := path.Join(".", dir)
	for sub := at; sub != "."; sub = path.Dir(sub) {
		info, err := fs.Lstat(t.fsys, sub)
		if err != nil || !info.IsDir() {
			return nil, notThere(sub, err)
		}
	}
	list, err := fs.ReadDir(t.fsys, at)
	if err != nil {
		return nil, notThere(at, err)
	}
	out := make([]decl.Entry, 0, len(list))
	for _, e := range list {
		if e.Name() == ".git" {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, notThere(path.Join(at, e.Name()), err)
		}
		out = append(out, decl.Entry{Name: e.Name(), Mode: entryMode(info.Mode())})
	}
	return out, nil
}

func notThere(name string, err error) error {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return fs.ErrNotExist
	}
	return fault.New(fault.SurfaceUnreadable, "%s could not be read", safetext.Terminal(name)).WithCause(err)
}

// entryMode maps to what Git would record. Devices and sockets are nothing that
// Git sees, but a reviewer would: they count as an unsupported kind.
func entryMode(m fs.FileMode) decl.Mode {
	switch {
	case m.IsDir():
		return decl.ModeTree
	case m&fs.ModeSymlink != 0:
		return decl.ModeSymlink
	case m.IsRegular() && m&0o111 != 0:
		return decl.ModeExecutable
	case m.IsRegular():
		return decl.ModeRegular
	default:
		return decl.ModeSubmodule
	}
}

// Read implements decl.Tree.
func (t fsTree) Read(_ context.Context, dir string, e decl.Entry, limit int64) ([]byte, error) {
	name := path.Join(".", dir, e.Name)
	if e.Mode == decl.ModeSymlink {
		target, err := fs.ReadLink(t.fsys, name)
		return []byte(target), err
	}
	f, err := t.fsys.Open(name)
	if err != nil {
		return nil, notThere(name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, notThere(name, err)
	}
	if int64(len(data)) > limit {
		return nil, decl.ErrTooLarge
	}
	return data, nil
}
