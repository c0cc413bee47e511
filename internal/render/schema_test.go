package render

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/evolve-mcp/evolve/securitydiff"
)

const schemaDir = "../../docs/schema"

// documents has the type of each document, and values that reach every corner
// of its schema.
func documents() map[string][]any {
	token := tokenA
	return map[string][]any{
		"report": {fullReport(), brokenReport(), emptyReport()},
		"lint":   {lintReport(), cleanLint()},
		"review": {
			Review{Schema: SchemaReview, Token: &token, Ref: "refs/heads/live", Base: "absent", Head: commitB, Reviewer: "alice@example.test", ExpiresAt: issued, Report: fullReport()},
			Review{Schema: SchemaReview, Ref: "refs/heads/live", Base: commitA, Head: commitB},
		},
		"verification": {verification(true, true, ""), verification(false, true, "token_expired")},
		"promotion": {
			Promotion{Schema: SchemaPromotion, Ref: "refs/heads/live", Old: "absent", New: commitB, Outcome: OutcomeMoved},
			Promotion{Schema: SchemaPromotion, Ref: "refs/heads/live", Old: commitA, New: commitB, Outcome: OutcomeUndone, UndoneBy: "absent"},
			Promotion{Schema: SchemaPromotion, Ref: "refs/heads/live", Old: commitA, New: commitB, Tokens: List[string]{tokenA}, DryRun: true, Outcome: OutcomeWouldMove, Validation: map[string]any{"schema": "evolve.catalog/v1", "servers": []any{}}},
		},
		"version":    {Version{Schema: SchemaVersion, Version: "v1.2.3", Go: "go1.26", Platform: "linux/amd64", SurfaceRules: 1}},
		"reviews":    {reviews(), Reviews{Schema: SchemaReviews}},
		"revocation": {Revocation{Schema: SchemaRevocation, Token: tokenA}},
		"pruned":     {Pruned{Schema: SchemaPruned}, Pruned{Schema: SchemaPruned, Tokens: List[string]{tokenA}, DryRun: true}},
		"doctor":     {doctor(), Doctor{Schema: SchemaDoctor}},
		"catalog": {
			Catalog{Schema: SchemaCatalog, Revision: "worktree", Core: ".", Valid: true},
			catalog(),
		},
		"call":  {Call{Schema: SchemaCall, Tool: "docs__search", Status: "succeeded", Started: true, View: "model", Result: "x"}},
		"error": {Error{ErrorBody{Code: "token_missing", Message: "m", Hint: "h"}}},
	}
}

func readSchema(t *testing.T, file string) map[string]any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(schemaDir, file))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return doc.(map[string]any)
}

// compiler knows every schema of docs/schema, by its $id; it loads nothing else.
func compiler(t *testing.T) *jsonschema.Compiler {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(schemaDir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no schemas: %v", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	c.AssertFormat()
	for _, f := range files {
		doc := readSchema(t, filepath.Base(f))
		if err := c.AddResource(doc["$id"].(string), doc); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	id := readSchema(t, name+".v1.json")["$id"].(string)
	if !strings.HasSuffix(id, "/docs/schema/"+name+".v1.json") {
		t.Errorf("%s has the id %s", name, id)
	}
	s, err := compiler(t).Compile(id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDocumentsFitTheirSchemas(t *testing.T) {
	t.Parallel()
	for name, values := range documents() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			schema := compile(t, name)
			for _, v := range values {
				var b bytes.Buffer
				if err := JSON(&b, v); err != nil {
					t.Fatal(err)
				}
				doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b.Bytes()))
				if err != nil {
					t.Fatal(err)
				}
				if err := schema.Validate(doc); err != nil {
					t.Errorf("%v\n%s", err, b.Bytes())
				}
				doc.(map[string]any)["surprise"] = true
				if schema.Validate(doc) == nil {
					t.Error("an unknown member is allowed")
				}
			}
		})
	}
}

// A schema that allows anything would fit every document too.
func TestSchemasRefuse(t *testing.T) {
	t.Parallel()
	withNil := emptyReport()
	withNil.Changes = nil
	wrongKind := fullReport()
	wrongKind.Changes[1].Fields[0].Change = "renamed"
	notASCII := fullReport()
	notASCII.Changes[0].Path = "d\u043ecs.yaml"
	token := "mcp-review:abc"
	for name, v := range map[string]any{
		"report":       withNil,
		"review":       Review{Schema: SchemaReview, Ref: "refs/heads/live", Base: "absent", Head: commitB, Report: wrongKind},
		"lint":         securitydiff.LintReport{Schema: securitydiff.LintSchema, Revision: "HEAD"},
		"promotion":    Promotion{Schema: SchemaPromotion, Ref: "live", Old: commitA, New: commitB, Outcome: OutcomeMoved},
		"verification": Verification{Schema: "evolve.verification/v2", Ref: "refs/heads/live", Base: commitA, Head: commitB},
		"reviews":      Reviews{Schema: SchemaReviews, Reviews: List[ReviewEntry]{{Token: token, State: ReviewValid}}},
		"doctor":       Doctor{Schema: SchemaDoctor, Checks: List[Check]{{ID: "x", Status: "warning"}}},
	} {
		if fits(t, name, v) {
			t.Errorf("%s allows %+v", name, v)
		}
	}
	if fits(t, "report", notASCII) {
		t.Error("a report may show text that is not ASCII")
	}
}

func fits(t *testing.T, name string, v any) bool {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return compile(t, name).Validate(doc) == nil
}

// Each object of a schema has exactly the members of its Go type, and requires
// those that are always written.
func TestSchemasHaveTheFieldsOfTheirTypes(t *testing.T) {
	t.Parallel()
	for name, values := range documents() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := walker{t: t, file: name + ".v1.json"}
			w.walk(w.file, readSchema(t, w.file), reflect.TypeOf(values[0]))
		})
	}
}

// walker follows a type and a schema side by side.
type walker struct {
	t    *testing.T
	file string
}

func (w walker) walk(at string, schema map[string]any, typ reflect.Type) {
	schema = w.resolve(schema)
	switch typ.Kind() {
	case reflect.Pointer:
		w.walk(at, schema, typ.Elem())
	case reflect.Slice:
		items, ok := schema["items"].(map[string]any)
		if schema["type"] != "array" || !ok {
			w.t.Errorf("%s is no array with items", at)
			return
		}
		w.walk(at+"[]", items, typ.Elem())
	case reflect.Struct:
		if typ.PkgPath() == "time" {
			return
		}
		w.object(at, schema, typ)
	}
}

func (w walker) object(at string, schema map[string]any, typ reflect.Type) {
	if schema["additionalProperties"] != false {
		w.t.Errorf("%s allows additional properties", at)
	}
	properties, _ := schema["properties"].(map[string]any)
	var names, always []string
	for f := range members(typ) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
		if options == "" {
			always = append(always, name)
		}
		if p, ok := properties[name].(map[string]any); ok {
			w.walk(at+"."+name, p, f.Type)
		}
	}
	var have, required []string
	for name := range properties {
		have = append(have, name)
	}
	list, _ := schema["required"].([]any)
	for _, name := range list {
		required = append(required, name.(string))
	}
	for _, s := range [][]string{names, always, have, required} {
		slices.Sort(s)
	}
	if diff := cmp.Diff(names, have); diff != "" {
		w.t.Errorf("the properties of %s: %s", at, diff)
	}
	if diff := cmp.Diff(always, required); diff != "" {
		w.t.Errorf("required in %s: %s", at, diff)
	}
}

// members are the exported fields, those of embedded structs among them.
func members(typ reflect.Type) func(yield func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for _, f := range reflect.VisibleFields(typ) {
			if f.IsExported() && !f.Anonymous && !yield(f) {
				return
			}
		}
	}
}

// resolve follows $ref, and the alternative to null.
func (w *walker) resolve(schema map[string]any) map[string]any {
	for {
		if list, ok := schema["anyOf"].([]any); ok {
			schema = list[0].(map[string]any)
			continue
		}
		ref, ok := schema["$ref"].(string)
		if !ok {
			return schema
		}
		file, pointer, _ := strings.Cut(ref, "#")
		if file != "" {
			w.file = file
		}
		schema = readSchema(w.t, w.file)
		if name, ok := strings.CutPrefix(pointer, "/$defs/"); ok {
			schema = schema["$defs"].(map[string]any)[name].(map[string]any)
		}
	}
}
