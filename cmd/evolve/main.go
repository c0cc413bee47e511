// Command evolve reviews and promotes changes to MCP server declarations.
package main

func main() {}
