package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/fault"
)

// TestEveryCodeHasAnExitStatus reads the codes out of the source, so that a new
// one cannot be forgotten.
func TestEveryCodeHasAnExitStatus(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "internal", "fault", "fault.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); !ok || typ.Name != "Code" {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if _, known := exitStatus[fault.Code(value)]; !known {
			t.Errorf("%s has no exit status", value)
		}
		n++
		return true
	})
	if n != len(exitStatus) {
		t.Errorf("%d codes in the source, %d in the table", n, len(exitStatus))
	}
}

func TestExitStatuses(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errAnswerNo, 1},
		{fault.New(fault.Usage, "x"), 2},
		{fmt.Errorf("wrapped: %w", fault.New(fault.TokenStale, "x")), 4},
		{fault.New(fault.RefMoved, "x"), 5},
		{fault.New(fault.ValidationFailed, "x"), 6},
		{errors.New("no code"), 70},
		{fault.New("no_such_code", "x"), 70},
		{fault.New(fault.Interrupted, "x"), 130},
	} {
		if got := statusOf(tt.err); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.err, got, tt.want)
		}
	}
}

func TestHelpPrintsEveryExitStatus(t *testing.T) {
	seen := map[int]bool{0: true}
	for _, status := range exitStatus {
		seen[status] = true
	}
	for status := range seen {
		if !strings.Contains(exitHelp, " "+strconv.Itoa(status)+" ") {
			t.Errorf("help does not explain exit status %d", status)
		}
	}
}
