package runtime

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/evolve-mcp/evolve/internal/redact"
	"github.com/evolve-mcp/evolve/internal/safetext"
)

// Limits of the standard error log.
const (
	// logWindow is how much of one child's standard error is kept, in characters.
	logWindow = 12_000
	// logMargin is read before the window, in bytes, so that a secret which the
	// window's edge cuts is seen whole.
	logMargin = 64 << 10
	// maxLog is the size, in bytes, from which on the log is rotated.
	maxLog = 10 << 20
)

// windowScrubber is a redactor that knows where a text was cut.
type windowScrubber interface {
	RedactWindow(text string, cutFront, cutBack bool) (string, error)
}

// stderrLog appends what children wrote to standard error, redacted, to
// logs/mcp-stderr.log under the runtime home. The file before the last rotation
// is kept as mcp-stderr.log.1.
type stderrLog struct {
	home string
	now  func() time.Time
	mu   sync.Mutex
}

// tailSource is where a child's standard error waits.
type tailSource interface {
	Tail(n int64) (tail []byte, cut bool)
}

// append writes the window of one child's output. Nothing is written if there
// was no output. A log that cannot be written is lost: it is a help, not a
// record.
func (l *stderrLog) append(source tailSource, s windowScrubber, session, server string) {
	tail, cut := source.Tail(logWindow*utf8.UTFMax + logMargin)
	if len(tail) == 0 {
		return
	}
	text := redactedWindow(s, strings.ToValidUTF8(string(tail), "\uFFFD"), cut)
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := l.open()
	if err != nil {
		return
	}
	defer f.Close()
	head := fmt.Sprintf("--- %s server=%s session=%s\n", l.now().UTC().Format(time.RFC3339),
		safetext.Terminal(server), safetext.Terminal(session))
	_, _ = f.WriteString(head + strings.TrimRight(text, "\n") + "\n")
}

// redactedWindow redacts and then cuts, so that no part of a secret is left at
// the edge. The last bytes may be a beginning too: a child can die in the middle
// of one.
func redactedWindow(s windowScrubber, text string, cut bool) (out string) {
	defer func() {
		if recover() != nil {
			out = redact.FailedView
		}
	}()
	text, err := s.RedactWindow(text, cut, true)
	if err != nil {
		return redact.FailedView
	}
	runes := utf8.RuneCountInString(text)
	for ; runes > logWindow; runes-- {
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
	}
	return escapeLines(text)
}

// escapeLines makes each line harmless for who reads the log on a terminal.
func escapeLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = safetext.Terminal(strings.TrimSuffix(line, "\r"))
	}
	return strings.Join(lines, "\n")
}

// open returns the log for appending; a full one is rotated before.
func (l *stderrLog) open() (*os.File, error) {
	dir := filepath.Join(l.home, "logs")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, err
	}
	name := filepath.Join(dir, "mcp-stderr.log")
	if info, err := os.Lstat(name); err == nil && (info.Size() >= maxLog || !info.Mode().IsRegular()) {
		if err := os.Rename(name, name+".1"); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(0o600); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
