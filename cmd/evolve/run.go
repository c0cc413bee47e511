package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/evolve-mcp/evolve/internal/fault"
	"github.com/evolve-mcp/evolve/internal/render"
	"github.com/evolve-mcp/evolve/promote"
)

// streams is all that a command may touch of the process around it.
type streams struct {
	in  *os.File
	out *os.File
	err *os.File
	env []string
}

func (s streams) getenv(key string) string {
	for _, kv := range slices.Backward(s.env) {
		if value, found := strings.CutPrefix(kv, key+"="); found {
			return value
		}
	}
	return ""
}

// program is one run of the command line.
type program struct {
	streams
	ctx context.Context
	now func() time.Time
	// format is what the failing command was asked for, so that an error comes
	// in the same format.
	format string
	quiet  bool
}

// run is the whole program; it returns the exit status and never exits.
func run(ctx context.Context, args []string, s streams) int { return runAt(ctx, args, s, time.Now) }

// runAt is run with a clock.
func runAt(ctx context.Context, args []string, s streams, now func() time.Time) (status int) {
	p := &program{streams: s, ctx: ctx, now: now, format: wantedFormat(args)}
	defer func() {
		if r := recover(); r != nil {
			// A panic's value may quote anything; it is never shown.
			status = p.fail(fault.New(fault.Internal, "evolve stopped on a bug of its own; nothing was moved after it").
				WithHint("please report it with the command that you ran; set EVOLVE_TRACE=1 to print where it stopped"))
			if p.getenv("EVOLVE_TRACE") == "1" {
				printStack(s.err)
			}
		}
	}()
	err := p.execute(args)
	if ctx.Err() != nil && err != nil && !promote.AfterMove(err) && fault.CodeOf(err) != fault.Interrupted {
		err = fault.New(fault.Interrupted, "interrupted; no ref was changed after the interrupt").WithCause(err)
	}
	return p.fail(err)
}

func (p *program) execute(args []string) error {
	app := p.app()
	arranged, err := arrange(app, args)
	if err != nil {
		return err
	}
	err = app.RunContext(p.ctx, append([]string{app.Name}, arranged...))
	var f *fault.Fault
	if err == nil || errors.Is(err, errAnswerNo) || errors.As(err, &f) || p.ctx.Err() != nil {
		return err
	}
	// What is left is urfave/cli's own complaint about a value. Its text
	// quotes the value, so it is replaced.
	return fault.New(fault.Usage, "a flag's value is not of the kind that the flag takes").
		WithHint("evolve COMMAND --help").WithCause(err)
}

// fail prints an error in the wanted format and returns its exit status.
func (p *program) fail(err error) int {
	status := statusOf(err)
	var f *fault.Fault
	switch {
	case err == nil || errors.Is(err, errAnswerNo):
		return status
	case !errors.As(err, &f):
		f = fault.New(fault.Internal, "an error without a code reached the top").
			WithHint("please report it with the command that you ran")
	}
	if p.format == "json" {
		_ = render.ErrorJSON(p.err, f)
	} else {
		_ = render.ErrorText(p.err, f, p.width(p.err))
	}
	return status
}

// wantedFormat finds --format before the arguments are known to be right, so
// that a usage error too is JSON where JSON was asked for.
func wantedFormat(args []string) string {
	for i, a := range args {
		switch {
		case a == "--":
			return ""
		case a == "--format" && i+1 < len(args):
			return args[i+1]
		case strings.HasPrefix(a, "--format="):
			return strings.TrimPrefix(a, "--format=")
		}
	}
	return ""
}

// width is how wide a stream's lines may be: a terminal's width, else 80.
func (p *program) width(f *os.File) int {
	const (
		standard = 80
		least    = 40
	)
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w >= least {
		return w
	}
	return standard
}

// colour is used on a terminal only, and never where NO_COLOR is set
// (no-color.org) or TERM is dumb.
func (p *program) colour(f *os.File) bool {
	return term.IsTerminal(int(f.Fd())) && p.getenv("NO_COLOR") == "" && p.getenv("TERM") != "dumb"
}

// note tells the person something beside the result; -q silences it.
func (p *program) note(format string, args ...any) {
	if !p.quiet {
		_, _ = fmt.Fprintf(p.err, format+"\n", args...)
	}
}

// print writes a result in one write, and says so when that fails: a closed
// standard output must not look like success.
func (p *program) print(text string) error {
	if _, err := io.WriteString(p.out, text); err != nil {
		return fault.New(fault.IOFailed, "standard output could not be written").
			WithHint("check what the output is piped into").WithCause(err)
	}
	return nil
}

// document prints a JSON result.
func (p *program) document(v any) error { return render.JSON(p.out, v) }

func (p *program) app() *cli.App {
	app := &cli.App{
		Name:                      "evolve",
		Usage:                     "review and promote changes to MCP server declarations",
		UsageText:                 "evolve [-C DIR] COMMAND [ARGUMENTS]",
		Version:                   version().Version,
		HideVersion:               true,
		Writer:                    p.out,
		ErrWriter:                 p.err,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              usageError,
		DisableSliceFlagSeparator: true,
		CustomAppHelpTemplate:     appHelp,
		HideHelpCommand:           true,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "C", Usage: "run as if started in `DIR`"},
		},
		Commands: []*cli.Command{
			p.diffCommand(), p.lintCommand(), p.reviewCommand(), p.verifyCommand(),
			p.promoteCommand(), p.validateCommand(), p.toolsCommand(), p.callCommand(), p.rollbackCommand(),
			p.reviewsCommand(), p.pushCommand(), p.hookCommand(), p.doctorCommand(), p.versionCommand(),
		},
		Action: func(c *cli.Context) error {
			_ = cli.ShowAppHelp(c)
			return fault.New(fault.Usage, "a command is missing").WithHint("evolve --help")
		},
	}
	prepare(app.Commands)
	return app
}

// prepare gives every command the same error handling and help.
func prepare(commands []*cli.Command) {
	for _, c := range commands {
		c.OnUsageError = usageError
		c.HideHelpCommand = true
		c.CustomHelpTemplate = helpOf(c)
		prepare(c.Subcommands)
	}
}

func usageError(_ *cli.Context, err error, _ bool) error { return err }
