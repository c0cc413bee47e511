package main

import (
	"io"
	"runtime/debug"
)

// The help templates. They differ from the library's in one thing that matters
// to a script: the exit statuses are part of every --help.
const (
	appHelp = `{{.Name}} - {{.Usage}}

USAGE:
   {{.UsageText}}

COMMANDS:{{range .VisibleCommands}}
   {{printf "%-10s" .Name}} {{.Usage}}{{end}}

OPTIONS:
   -C DIR      run as if started in DIR
   -h, --help  show help; evolve COMMAND --help for one command

` + exitHelp + "\n"

	commandHelp = `{{.HelpName}} - {{.Usage}}

USAGE:
   {{.UsageText}}
{{if .Description}}
{{.Description}}
{{end}}{{if .VisibleCommands}}
COMMANDS:{{range .VisibleCommands}}
   {{printf "%-8s" .Name}} {{.Usage}}{{end}}
{{end}}{{if .VisibleFlags}}
OPTIONS:{{range .VisibleFlags}}
   {{.}}{{end}}
{{end}}
` + exitHelp + "\n"
)

// printStack writes where the program is, without any value.
func printStack(w io.Writer) { _, _ = w.Write(debug.Stack()) }
