package render

import (
	"encoding/json"
	"io"
)

// SchemaCatalog names the JSON form of a Catalog.
const SchemaCatalog = "evolve.catalog/v1"

// SchemaCall names the JSON form of a Call.
const SchemaCall = "evolve.call/v1"

// Catalog is what became of a revision's servers, and the tools they have. It is
// the same, byte for byte, whatever order the servers answered in.
type Catalog struct {
	Schema   string              `json:"schema"` // SchemaCatalog
	Revision string              `json:"revision"`
	Core     string              `json:"core"`  // directory; "." for the root
	Valid    bool                `json:"valid"` // every enabled server is connected
	Servers  List[CatalogServer] `json:"servers"`
	// Collisions are exposed names that two tools would share; neither has it.
	Collisions List[CatalogCollision] `json:"collisions"`
}

// CatalogServer is one enabled declaration.
type CatalogServer struct {
	ServerID string `json:"server_id"`
	Path     string `json:"path"`
	Status   string `json:"status"` // connected, denied, failed
	// Diagnostic says why it is not connected, "" if it is.
	Diagnostic      string            `json:"diagnostic"`
	ProtocolVersion string            `json:"protocol_version"`
	Tools           List[CatalogTool] `json:"tools"`
}

// CatalogTool is one tool. Its texts are the server's, redacted.
type CatalogTool struct {
	Name         string          `json:"name"` // the exposed name
	Tool         string          `json:"tool"` // the server's own
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
	Capability   string          `json:"capability"`
	Risk         string          `json:"risk"`
	Approval     string          `json:"approval"`
}

// CatalogCollision is one exposed name and the tools that would share it.
type CatalogCollision struct {
	Name    string       `json:"name"`
	Sources List[string] `json:"sources"`
}

// Call is the result of one tool call.
type Call struct {
	Schema  string `json:"schema"` // SchemaCall
	Tool    string `json:"tool"`
	Status  string `json:"status"`
	Started bool   `json:"started"`
	Reason  string `json:"reason"`
	View    string `json:"view"`   // which view it is
	Result  string `json:"result"` // that view, redacted
}

var serverStyles = map[string]style{"connected": plain, "denied": critical, "failed": critical}

// CatalogText writes what became of each server; tools are listed by tools, and by
// verbose.
func CatalogText(w io.Writer, c Catalog, tools bool, o TextOptions) error {
	p := newPage(o)
	for _, s := range c.Servers {
		p.catalogServer(s, tools || o.Verbose)
	}
	for _, x := range c.Collisions {
		text := words("no tool is exposed as", critical)
		text = append(text, styled(x.Name+":", heading))
		for _, source := range x.Sources {
			text = append(text, words(source, plain)...)
		}
		p.prose(0, 2, text...)
	}
	if len(c.Servers) == 0 {
		p.prose(0, 2, words("no enabled server is declared", plain)...)
	}
	return emit(w, p.buf.Bytes())
}

func (p *page) catalogServer(s CatalogServer, tools bool) {
	text := []run{styled(s.ServerID+":", heading), styled(s.Status+",", serverStyles[s.Status])}
	if s.Status == "connected" {
		text = append(text, words(count(len(s.Tools), "tool")+", protocol "+s.ProtocolVersion, plain)...)
	} else {
		text = append(text, words(s.Diagnostic, plain)...)
	}
	p.prose(0, 2, text...)
	if !tools {
		return
	}
	rows := make([]row, 0, len(s.Tools))
	for _, t := range s.Tools {
		about := t.Title
		if about == "" {
			about = t.Description
		}
		rows = append(rows, row{styled(t.Name, plain), func(room int) []run { return wrap(room, 0, words(firstLine(about), plain)...) }})
	}
	p.table(2, rows)
}

// firstLine keeps a tool's description to what fits a list.
func firstLine(s string) string {
	const most = 120
	for i, r := range s {
		if r == '\n' {
			return s[:i]
		}
		if i >= most {
			return s[:i] + "..."
		}
	}
	return s
}
