package runtime

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/evolve-mcp/evolve/runtime/internal/servertest"
)

// TestMain is also the fake server's program: tests run themselves with a mode
// in the environment.
func TestMain(m *testing.M) {
	if os.Getenv("EVOLVE_TEST_SERVER") != "" {
		servertest.Main()
		return
	}
	if os.Getenv("MCP_CONFORMANCE_SCENARIO") != "" {
		if err := conformanceClient(conformanceURL()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}
