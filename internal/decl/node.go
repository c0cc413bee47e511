package decl

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/evolve-mcp/evolve/internal/redact"
)

// maxAliases is how many uses of an anchor are still reported one by one; more
// are a bomb. None is ever followed.
const maxAliases = 10

// reader walks one YAML file and collects what is wrong with it.
type reader struct {
	path     string
	problems []Problem
	outline  Outline
	aliases  int
}

// maxProblems bounds what one file can make us say. What makes it unparseable is
// still added up to twice as many.
const maxProblems = 100

func (r *reader) problem(line int, field redact.Shown, code ProblemCode, message string) {
	if n := len(r.problems); n >= 2*maxProblems || n >= maxProblems && problemStates[code] != StateUnparseable {
		return
	}
	r.problems = append(r.problems, Problem{Path: r.path, Line: line, Field: field, Code: code, Message: message})
}

// document reads the bytes to the root node of their only document. It is nil
// if there is none to walk; the problems say why.
func (r *reader) document(data []byte) *yaml.Node {
	for _, p := range scan(data) {
		r.problem(p.line, "", p.code, p.message)
	}
	if s := stateOf(r.problems); s == StateUnparseable {
		return nil
	}
	doc, rest := decode(data)
	switch {
	case doc == nil && errors.Is(rest, io.EOF):
		r.problem(0, "", EmptyFile, "the file holds no declaration; write one or remove the file")
		return nil
	case rest != nil && !errors.Is(rest, io.EOF):
		r.problem(syntaxLine(rest), "", YAMLSyntax, "this is not YAML; check indentation (spaces only), quotes and colons here")
	case rest == nil:
		r.problem(0, "", MultiDocument, "the file has more than one YAML document; keep one declaration in a file")
	}
	if doc == nil {
		return nil
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		r.problem(0, "", EmptyFile, "the file holds no declaration; write one or remove the file")
		return nil
	}
	return root
}

// decode reads the first document, nil if there is none. The error is io.EOF if
// nothing follows it, nil if another document does. A panic of the library is a
// syntax error.
func decode(data []byte) (doc *yaml.Node, err error) {
	defer func() {
		if recover() != nil {
			doc, err = nil, errors.New("yaml: panic")
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	first := new(yaml.Node)
	if err := dec.Decode(first); err != nil {
		return nil, err
	}
	if len(first.Content) != 1 {
		return nil, io.EOF
	}
	return first, dec.Decode(new(yaml.Node))
}

// syntaxLine takes the line number, and nothing else, out of a yaml error.
func syntaxLine(err error) int {
	_, rest, found := strings.Cut(err.Error(), "line ")
	if !found {
		return 0
	}
	digits, _, _ := strings.Cut(rest, ":")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// structure checks a node and everything below it for constructs that readers
// treat differently, and notes every scalar for the last guard. It never
// follows an alias. Only the first problem of too much depth is reported.
func (r *reader) structure(n *yaml.Node, field redact.Shown, depth int) {
	if depth > MaxDepth {
		if !slices.ContainsFunc(r.problems, func(p Problem) bool { return p.Code == TooDeep }) {
			r.problem(n.Line, field, TooDeep, "values are nested more than 16 deep; flatten them")
		}
		return
	}
	r.construct(n, field)
	switch n.Kind {
	case yaml.MappingNode:
		r.mapping(n, field, depth)
	case yaml.SequenceNode:
		for i, item := range n.Content {
			r.structure(item, at(field, i), depth+1)
		}
	case yaml.ScalarNode:
		if n.Value != "" {
			r.outline.Values = append(r.outline.Values, redact.NewRaw(n.Value))
		}
	}
}

// construct reports anchors, aliases and tags on one node.
func (r *reader) construct(n *yaml.Node, field redact.Shown) {
	if n.Anchor != "" && n.Kind != yaml.AliasNode {
		r.problem(n.Line, field, YAMLAlias, "an anchor is not allowed; write the value out where it is used")
	}
	if n.Kind == yaml.AliasNode {
		r.aliases++
		switch {
		case r.aliases <= maxAliases:
			r.problem(n.Line, field, YAMLAlias, "an alias is not allowed; write the value out")
		case r.aliases == maxAliases+1:
			r.problem(n.Line, field, AliasBomb, "the file uses aliases more than 10 times; write the values out")
		}
	}
	if n.Style&yaml.TaggedStyle != 0 {
		if strings.HasPrefix(n.ShortTag(), "!!") && standardTags[n.ShortTag()] {
			r.problem(n.Line, field, YAMLTag, "a YAML tag is not allowed; write the value without it")
		} else {
			r.problem(n.Line, field, ForeignTag, "a YAML tag that makes a program's own object is not allowed; remove it")
		}
	}
}

// standardTags are the tags of the YAML 1.1 type repository and the 1.2 core
// schema; any other names a type of some program.
var standardTags = map[string]bool{
	"!!str": true, "!!int": true, "!!float": true, "!!bool": true, "!!null": true, "!!map": true, "!!seq": true,
	"!!binary": true, "!!timestamp": true, "!!merge": true, "!!set": true, "!!omap": true, "!!pairs": true,
	"!!value": true, "!!yaml": true,
}

func (r *reader) mapping(n *yaml.Node, field redact.Shown, depth int) {
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		name := child(field, key)
		r.construct(key, name)
		switch {
		case key.Kind == yaml.ScalarNode && key.Tag == "!!merge":
			r.problem(key.Line, name, MergeKey, "a merge key (<<) is not allowed; write the keys out")
		case key.Kind != yaml.ScalarNode:
			r.problem(key.Line, field, KeyNotString, "a key is not a plain string; write a name")
		case key.Style == 0 && ambiguousKey(key):
			r.problem(key.Line, name, KeyNotString, "this key is read as a number, date or boolean by some readers; quote it")
		case seen[key.Value]:
			r.problem(key.Line, name, DuplicateKey, "this key is given twice; keep one")
		}
		if key.Kind == yaml.ScalarNode {
			seen[key.Value] = true
			if key.Value != "" {
				r.outline.Values = append(r.outline.Values, redact.NewRaw(key.Value))
			}
		} else {
			r.structure(key, field, depth+1)
		}
		r.structure(value, name, depth+1)
	}
}

// ambiguousKey reports whether some reader takes a plain key for no string.
func ambiguousKey(key *yaml.Node) bool {
	return key.Tag != "!!str" || ambiguous(key.Value)
}

// plainKeys are the keys that declarations and agents have: nothing to screen.
var plainKeys = words(strings.Join(FieldNames(), " ") + " include exclude runtime slots mcp capabilities defaults scope approval metadata")

// child is the field of a mapping's entry.
func child(field redact.Shown, key *yaml.Node) redact.Shown {
	name := redact.Shown("<key>")
	switch {
	case key.Kind != yaml.ScalarNode:
	case plainKeys[key.Value]:
		name = redact.Shown(key.Value) // a word of ours
	default:
		name = shownName(key.Value)
	}
	if field == "" {
		return name
	}
	return field + "." + name
}

// at is the field of a list's entry, counted from 0.
func at(field redact.Shown, i int) redact.Shown {
	return field + redact.Shown("["+strconv.Itoa(i)+"]")
}
