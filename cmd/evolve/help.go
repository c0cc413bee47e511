package main

import (
	"io"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"
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
{{end}}
` + optionsHere + `
` + exitHelp + "\n"

	// optionsHere is where the options of a command go (optionsHelp).
	optionsHere = "@OPTIONS@"
)

// helpWidth is how wide help is, in columns.
const helpWidth = 80

// helpOf is the help template of one command.
func helpOf(c *cli.Command) string {
	options := ""
	if len(c.Subcommands) == 0 {
		options = "OPTIONS:\n" + optionsHelp(c.Flags) + "\n"
	}
	return strings.Replace(commandHelp, optionsHere+"\n", options, 1)
}

// optionsHelp lists flags in two columns. The library's own list has lines of any
// length.
func optionsHelp(flags []cli.Flag) string {
	type row struct{ left, right string }
	var rows []row
	widest := 0
	add := func(left, right string) {
		rows = append(rows, row{left, right})
		widest = max(widest, len(left))
	}
	for _, f := range flags {
		add(flagHelp(f))
	}
	add("-h, --help", "show help")
	var b strings.Builder
	for _, r := range rows {
		const margin, gap = 3, 2
		left := strings.Repeat(" ", margin) + r.left
		indent := margin + widest + gap
		for _, line := range wrapWords(r.right, helpWidth-indent) {
			b.WriteString(left + strings.Repeat(" ", indent-len(left)) + line + "\n")
			left = ""
		}
	}
	return b.String()
}

// flagHelp is a flag as it is written, and what it does.
func flagHelp(f cli.Flag) (left, right string) {
	var names []string
	for _, n := range f.Names() {
		if len(n) == 1 {
			names = append(names, "-"+n)
		} else {
			names = append(names, "--"+n)
		}
	}
	left = strings.Join(names, ", ")
	doc, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return left, ""
	}
	right = doc.GetUsage()
	if before, rest, found := strings.Cut(right, "`"); found {
		value, after, _ := strings.Cut(rest, "`")
		left, right = left+" "+value, before+value+after
	}
	if value := strings.Trim(doc.GetValue(), `"`); doc.TakesValue() && value != "" {
		right += " (default: " + value + ")"
	}
	return left, right
}

// wrapWords breaks a sentence into lines of at most width columns.
func wrapWords(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case len(*last)+1+len(word) > width:
			lines = append(lines, word)
		default:
			*last += " " + word
		}
	}
	return lines
}

// printStack writes where the program is, without any value.
func printStack(w io.Writer) { _, _ = w.Write(debug.Stack()) }
