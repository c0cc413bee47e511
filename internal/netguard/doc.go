// Package netguard decides whether a URL may be requested, and at which
// addresses.
//
// It reads a URL strictly, brings its host into one canonical form (IDNA;
// decimal, hexadecimal, octal and short IPv4 forms), refuses the names of
// metadata services, resolves once, and judges all answers against one table.
// Whatever cannot be read, resolved or judged is refused. A Decision says so
// with a stable reason and holds nothing of the URL but its origin, so that it
// can be recorded and shown.
//
// What the package does not do: it opens no connection but the resolver's.
// Whoever dials must dial one of Decision.Addresses, and must ask again for
// each request and each redirect hop (Policy.Redirect holds the rules between
// two hops); runtime does both.
//
// The address table and the metadata names are data with their sources, in the
// directory data.
package netguard
