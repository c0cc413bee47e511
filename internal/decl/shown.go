package decl

import "github.com/evolve-mcp/evolve/internal/redact"

// shownName is what may be printed of a key.
func shownName(key string) redact.Shown { return redact.Name(redact.NewRaw(key)) }
