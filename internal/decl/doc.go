// Package decl reads MCP server declarations, and the surface that a review of
// them covers, out of one revision of a repository.
//
// Reading is strict, because a reviewer and a host must read the same thing:
// one YAML document in UTF-8, no anchors, tags, merge keys or duplicate keys,
// no scalar that YAML 1.1 and 1.2 read differently. All problems of a file are
// reported at once, in our own words, and none quotes a value.
//
// A surface is a set of items, each with a digest: the agent's own settings,
// every declaration, what a declaration launches, what a package runner reads
// by itself, and the .gitattributes on the way to those. Two surfaces are
// compared item by item; that comparison is what a token binds.
//
// The package reads through the Tree interface and knows neither Git nor a
// disk: internal/gitrepo implements Tree for commits and working trees. What
// may be shown of a declaration is decided in internal/redact, what a change
// means in securitydiff.
package decl
