package main

import (
	"fmt"
	goruntime "runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/render"
)

// buildVersion is set by the linker: -ldflags "-X main.buildVersion=v1.2.3".
var buildVersion string

// version says what this program is: the stamp, else the module's version as
// the Go command recorded it.
func version() render.Version {
	v := render.Version{
		Schema:       "evolve.version/v1",
		Version:      buildVersion,
		Go:           goruntime.Version(),
		Platform:     goruntime.GOOS + "/" + goruntime.GOARCH,
		SurfaceRules: decl.SurfaceRules,
	}
	if v.Version == "" {
		v.Version = "unknown"
		if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
			v.Version = info.Main.Version
		}
	}
	return v
}

func (p *program) versionCommand() *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the version", UsageText: "evolve version [--format FORMAT]",
		Flags: []cli.Flag{formatFlag(), quietFlag()},
		Action: func(c *cli.Context) error {
			if err := p.common(c); err != nil {
				return err
			}
			if _, err := operands(c, 0, 0, ""); err != nil {
				return err
			}
			v := version()
			if p.format == "json" {
				return p.document(v)
			}
			return p.print(fmt.Sprintf("evolve %s (%s, %s, surface rules %d)\n", v.Version, v.Go, v.Platform, v.SurfaceRules))
		},
	}
}
