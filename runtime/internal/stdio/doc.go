// Package stdio runs one MCP server as a child process and carries JSON-RPC
// over its standard streams.
//
// A Process is a child in its own process group: it is stopped with everything
// it started, reaped as soon as it dies, and its standard error goes to an
// unlinked file of bounded size. A Transport carries messages over a Process,
// or over any other Stream of lines, under limits: a frame has a largest size,
// a write ends with its context, and a response must answer a request.
//
// It knows nothing of declarations, approval or redaction; package runtime
// does. It never logs: what went wrong is an Error, whose text is a constant.
package stdio
