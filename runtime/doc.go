// Package runtime is an MCP host: it connects to the servers that a core
// declares, lists their tools and calls them, under an authority that the host
// program issues. Any program can embed it.
//
// # What a host does
//
//	core, err := runtime.LoadDeclarations(os.DirFS(dir))    // what was reviewed
//	host, err := runtime.NewHost(runtime.Options{...})      // once
//	catalog, err := host.Prepare(ctx, turn)                 // before each turn
//	ref, ok := catalog.Resolve(name)                        // what the model chose
//	result := host.Call(ctx, turn, ref, arguments)
//	err = host.Close(ctx)
//
// A Turn says who asks (principal, session), for what (core, core revision,
// declarations), where (workspace) and under which rules (capabilities, policy).
// A turn that leaves one of them out is refused.
//
// # What it promises
//
//   - Nothing is started, dialled or resolved before it is allowed. For each
//     enabled declaration, in order: the capability mcp.connect:<server>; a cwd
//     inside the workspace, or the URL policy; the approver, who sees a Preview
//     without secrets. Only then are ${NAME} references read and a client built.
//   - Every call needs its own capability and approval, and fits the turn that
//     its catalog was prepared for, or is not made.
//   - Capabilities are granted by name, or by a name that ends in ":*"; policies
//     are the strictest of what is declared, what the core demands and what the
//     host demands.
//   - A server costs at most its limits: time to connect, pages, tools, bytes of
//     a message, of a result, of standard error. What goes wrong in one server is
//     a diagnostic of its own.
//   - What a server says (results, errors, progress, standard error, the
//     descriptions of its tools) is free of the values of env and headers before
//     anybody sees it. A Result holds five views for five readers.
//   - A child process has the environment that is listed here and nothing else,
//     leads its own process group, and is gone when Close returns: so is every
//     goroutine and every file.
//   - A catalog does not change, and is the same bytes from run to run.
//
// # What it does not
//
// It does not decide what a principal may do, store approvals, confine what a
// server does (it runs as the host's user), or judge what a tool returns. It
// offers servers no roots and no sampling, and asks the user only with an
// Elicitor.
//
// # A child's environment
//
// PATH, LANG, LC_ALL, LC_CTYPE, TERM, COLORTERM, TMPDIR, TMP, TEMP and TZ of the
// host (on Windows also what programs cannot start without), a private HOME
// under Options.Home, and the declaration's env. A declaration that sets HOME or
// USERPROFILE is refused. It is stopped in steps: its standard input is closed,
// then TERM, then KILL, the last two to its whole group, with a grace after each
// (Limits). The end of its standard error, 12,000 characters, is redacted and
// appended to logs/mcp-stderr.log under Options.Home.
//
// # Neighbours
//
// internal/decl reads declarations, internal/netguard judges URLs,
// internal/redact removes secrets. runtime/internal/stdio runs processes and
// carries messages; the files http*.go do so over HTTP. The protocol itself is
// mark3labs/mcp-go, which nothing outside this directory imports.
package runtime
