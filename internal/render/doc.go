// Package render turns a report into text and JSON. It decides layout, colour
// and width, and nothing about secrets: a report holds none.
package render
