// Package render turns results into text and JSON. It decides layout, colour
// and width, and nothing about secrets: a report holds none, and a renderer
// could not leak what it was never given.
//
// Every function first asks the value to search itself for what it withheld
// (the last guard), where the value can, and writes nothing if that fails; then
// it builds the whole output in memory and hands it over in one Write. Nothing
// here looks at a terminal or at the environment: width, colour and character
// set come from the caller.
//
// All text from outside becomes printable ASCII on its way into a line, so that
// it can neither move the cursor nor look like a part of the layout in another
// script. Of our own characters only the arrow is not ASCII.
//
// The documents of documents.go have JSON Schemas in docs/schema; the tests hold
// the two together, member by member.
package render
