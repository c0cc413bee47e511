package gitrepo

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evolve-mcp/evolve/internal/decl"
	"github.com/evolve-mcp/evolve/internal/gitrepo/gittest"
)

// TestABatchIsWhatSingleReadsAre, and leaves out what a single read refuses.
func TestABatchIsWhatSingleReadsAre(t *testing.T) {
	for _, options := range [][]gittest.Option{nil, {gittest.SHA256}} {
		g := gittest.New(t, options...)
		files := map[string]string{}
		for i := range 300 {
			files[fmt.Sprintf("f%03d", i)] = strings.Repeat("x\n", i)
		}
		files["f100-large"] = strings.Repeat("y\n", 300)
		commit := g.Commit(files, "one")
		repo, err := Open(t.Context(), Options{Dir: g.Dir(), Env: g.Env()})
		if err != nil {
			t.Fatal(err)
		}
		defer repo.Close()
		tree, err := repo.Tree(t.Context(), ID(commit))
		if err != nil {
			t.Fatal(err)
		}
		entries, err := tree.List(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		const limit = 500
		missing := decl.Entry{Name: "missing", Mode: decl.ModeRegular, ID: strings.Repeat("1", len(commit))}
		directory := decl.Entry{Name: "dir", Mode: decl.ModeRegular, ID: g.Git("rev-parse", commit+"^{tree}")}
		entries = append(entries, missing, directory)
		swap(t, g, entries[7].ID, entries[8].ID)
		batch := tree.(decl.Batch)
		first := batch.ReadBatch(t.Context(), entries, limit) // ends at the first that is too large
		out := batch.ReadBatch(t.Context(), entries, limit)
		for i, e := range entries {
			data, err := tree.Read(t.Context(), "", e, limit)
			if (err == nil) != (out[i] != nil) || err == nil && !bytes.Equal(data, out[i]) {
				t.Errorf("%s: %d bytes in the batch, %d and %v alone", e.Name, len(out[i]), len(data), err)
			}
			if first[i] != nil && !bytes.Equal(first[i], data) || first[i] == nil && i < 100 && i != 7 {
				t.Errorf("%s: %d bytes in the first batch, %d and %v alone", e.Name, len(first[i]), len(data), err)
			}
		}
		if out[7] != nil || out[len(out)-1] != nil {
			t.Error("forged bytes, or a tree, were read")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, data := range batch.ReadBatch(ctx, entries, limit) {
			if data != nil {
				t.Fatal("read behind the end of the context")
			}
		}
		if got := batch.ReadBatch(t.Context(), []decl.Entry{{ID: "x\ninfo HEAD"}, entries[0]}, limit); got[0] != nil || got[1] != nil {
			t.Error("an id that is none was asked for")
		}
	}
}

// swap puts the bytes of one loose object in the place of another.
func swap(t *testing.T, g *gittest.Repo, id, other string) {
	t.Helper()
	place := func(id string) string { return filepath.Join(g.Path(".git/objects"), id[:2], id[2:]) }
	data, err := os.ReadFile(place(other))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(place(id)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(place(id), data, 0o444); err != nil {
		t.Fatal(err)
	}
}
