package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// arrange puts a command line into the one order that urfave/cli parses in
// full: flags first, then "--", then operands. The library stops at the first
// operand and silently drops every flag behind it, so that "promote REV
// --dry-run" would promote. arrange also refuses what the library would let
// pass: unknown flags, a flag without its value, a single-valued flag given
// twice, and an unknown command.
//
// args are the arguments behind the program's name.
func arrange(app *cli.App, args []string) ([]string, error) {
	flags, rest, err := leadingFlags(app.Flags, args)
	if err != nil {
		return nil, err
	}
	out := flags
	commands := app.Commands
	path := app.Name
	var command *cli.Command
	for len(commands) > 0 {
		if len(rest) == 0 {
			return out, nil // the app or the group reports what is missing
		}
		if isHelp(rest[0]) {
			return append(out, "--help"), nil
		}
		if strings.HasPrefix(rest[0], "-") && rest[0] != "-" {
			return nil, fault.New(fault.Usage, "%s is no flag of %q", flagName(rest[0]), path).
				WithHint("%s --help", path)
		}
		next := find(commands, rest[0])
		if next == nil {
			return nil, unknownCommand(path, commands, rest[0])
		}
		command = next
		path += " " + command.Name
		out = append(out, command.Name)
		rest = rest[1:]
		commands = command.Subcommands
	}
	if command == nil {
		return append(out, rest...), nil
	}
	flags, operands, err := splitArgs(path, command.Flags, rest)
	if err != nil {
		return nil, err
	}
	out = append(out, flags...)
	if len(operands) > 0 {
		out = append(append(out, "--"), operands...)
	}
	return out, nil
}

// leadingFlags takes the global flags in front of the command.
func leadingFlags(known []cli.Flag, args []string) (flags, rest []string, err error) {
	n := 0
	for n < len(args) && strings.HasPrefix(args[n], "-") && args[n] != "-" && args[n] != "--" {
		if f := lookup(known, args[n]); takesValue(f) && !strings.Contains(args[n], "=") {
			n++
		}
		n++
	}
	n = min(n, len(args))
	flags, operands, err := splitArgs("evolve", known, args[:n])
	if err != nil {
		return nil, nil, err
	}
	return flags, append(operands, args[n:]...), nil
}

// splitArgs separates the flags of one command from its operands.
func splitArgs(path string, known []cli.Flag, args []string) (flags, operands []string, err error) {
	seen := map[cli.Flag]bool{}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			return flags, append(operands, args[i+1:]...), nil
		case isHelp(arg):
			return []string{"--help"}, nil, nil
		case !strings.HasPrefix(arg, "-") || arg == "-":
			operands = append(operands, arg)
			continue
		}
		flag := lookup(known, arg)
		if flag == nil {
			return nil, nil, fault.New(fault.Usage, "%s is no flag of %q", flagName(arg), path).
				WithHint("%s --help", path)
		}
		if _, repeatable := flag.(*cli.GenericFlag); seen[flag] && !repeatable {
			return nil, nil, fault.New(fault.Usage, "%s is given twice", flagName(arg)).WithHint("%s --help", path)
		}
		seen[flag] = true
		if !takesValue(flag) || strings.Contains(arg, "=") {
			flags = append(flags, arg)
			continue
		}
		if i+1 >= len(args) {
			return nil, nil, fault.New(fault.Usage, "%s needs a value", flagName(arg)).WithHint("%s --help", path)
		}
		i++
		// One word, so that a value that begins with a dash is no flag.
		flags = append(flags, arg+"="+args[i])
	}
	return flags, operands, nil
}

// lookup finds the flag that arg names: "-x" for one letter, "--word" for more.
func lookup(known []cli.Flag, arg string) cli.Flag {
	name, _, _ := strings.Cut(arg, "=")
	for _, flag := range known {
		for _, n := range flag.Names() {
			if len(n) == 1 && name == "-"+n || len(n) > 1 && name == "--"+n {
				return flag
			}
		}
	}
	return nil
}

func takesValue(flag cli.Flag) bool {
	v, ok := flag.(cli.DocGenerationFlag)
	return ok && v.TakesValue()
}

func isHelp(arg string) bool { return arg == "-h" || arg == "--help" }

// flagName is a flag as an error names it: without a value, and escaped.
func flagName(arg string) string {
	name, _, _ := strings.Cut(arg, "=")
	const longest = 40
	if len(name) > longest {
		name = name[:longest] + "..."
	}
	return safetext.Terminal(name)
}

func find(commands []*cli.Command, name string) *cli.Command {
	for _, c := range commands {
		if c.Name == name {
			return c
		}
	}
	return nil
}

func unknownCommand(path string, commands []*cli.Command, name string) error {
	var names []string
	for _, c := range commands {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return fault.New(fault.Usage, "%s is no command of %q (it has %s)",
		flagName(name), path, strings.Join(names, ", ")).WithHint("%s --help", path)
}
