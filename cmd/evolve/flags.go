package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/review"
)

// Flags that several commands share.
func formatFlag() cli.Flag {
	return &cli.StringFlag{Name: "format", Value: "text", Usage: "print `FORMAT`: text or json"}
}

func quietFlag() cli.Flag {
	return &cli.BoolFlag{Name: "q", Aliases: []string{"quiet"}, Usage: "print results and errors only"}
}

func verboseFlag() cli.Flag {
	return &cli.BoolFlag{Name: "v", Aliases: []string{"verbose"}, Usage: "print more: whole summaries, formatting-only changes"}
}

func refFlag() cli.Flag {
	return &cli.StringFlag{Name: "ref", Usage: "the `REF` that is to move, such as main"}
}

func tokenFlag() cli.Flag {
	return &cli.GenericFlag{Name: "token", Value: &words{}, Usage: "a review `TOKEN`; may be given several times"}
}

// words are the values of a flag that may be given several times, byte for byte:
// the library's own list trims spaces, and a token with a space is no token.
type words []string

// Set implements cli.Generic.
func (w *words) Set(s string) error {
	*w = append(*w, s)
	return nil
}

// String implements cli.Generic. It is what help shows as the default.
func (*words) String() string { return "" }

func reasonFlag() cli.Flag {
	return &cli.StringFlag{Name: "reason", Usage: "why, in a line of `TEXT` for the record"}
}

func approveFlag() cli.Flag {
	return &cli.BoolFlag{Name: "approve", Usage: "approve without a question; for pipelines"}
}

func dryRunFlag() cli.Flag {
	return &cli.BoolFlag{Name: "dry-run", Usage: "judge the move, and move and record nothing"}
}

func updateWorktreeFlag() cli.Flag {
	return &cli.BoolFlag{Name: "update-worktree", Usage: "move a clean worktree that has REF checked out along"}
}

// common reads the flags that every command has.
func (p *program) common(c *cli.Context) error {
	p.quiet = c.Bool("quiet")
	p.format = c.String("format")
	switch p.format {
	case "text", "json":
		return nil
	case "": // the command has no result of its own
		p.format = "text"
		return nil
	}
	p.format = "text"
	return fault.New(fault.Usage, "--format takes text or json").WithHint("%s --help", c.Command.HelpName)
}

// operands checks the number of operands.
func operands(c *cli.Context, least, most int, names string) ([]string, error) {
	args := c.Args().Slice()
	switch {
	case len(args) < least:
		return nil, fault.New(fault.Usage, "%s is missing", names).WithHint("%s --help", c.Command.HelpName)
	case len(args) > most:
		return nil, fault.New(fault.Usage, "there are too many operands: %d, where at most %d may be", len(args), most).
			WithHint("%s --help", c.Command.HelpName)
	}
	for _, a := range args {
		if strings.TrimSpace(a) == "" {
			return nil, fault.New(fault.Usage, "an operand is empty").WithHint("%s --help", c.Command.HelpName)
		}
	}
	return args, nil
}

// tokensOf parses --token.
func tokensOf(c *cli.Context) ([]review.Token, error) {
	var tokens []review.Token
	given, _ := c.Generic("token").(*words)
	if given == nil {
		return nil, nil
	}
	for _, s := range *given {
		t, err := review.ParseToken(s)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, t)
	}
	return tokens, nil
}

// required reads a flag that must be given.
func required(c *cli.Context, flag string) (string, error) {
	if !c.IsSet(flag) || c.String(flag) == "" {
		return "", fault.New(fault.Usage, "--%s is missing", flag).WithHint("%s --help", c.Command.HelpName)
	}
	return c.String(flag), nil
}
