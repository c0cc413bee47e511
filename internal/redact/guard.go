package redact

// Guard remembers every value that was withheld while a report was built, to
// search the finished report for it (DESIGN section 3, "Last guard").
type Guard struct{}
