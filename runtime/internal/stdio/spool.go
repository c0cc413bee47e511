package stdio

import (
	"io"
	"os"
	"runtime"
	"sync"
	"time"
)

// Limits of what is kept of standard error, in bytes.
const (
	maxSpool = 64 << 20
	// keptTail is what survives a truncation, so that the end of the output is
	// always there.
	keptTail = 256 << 10
)

// Spool holds the end of a child's standard error in a file without a name. It
// is always drained, so a child never blocks on it.
type Spool struct {
	file *os.File
	pipe *os.File // our end
	done chan struct{}
	path string // to be removed on Close, where an open file cannot be unlinked

	size  int64
	cut   bool // something was dropped before what is kept
	limit int64

	closeOnce sync.Once
}

// newSpool returns a spool and the end of its pipe that the child gets.
func newSpool(dir string) (*Spool, *os.File, error) {
	file, err := os.CreateTemp(dir, "mcp-stderr-*")
	if err != nil {
		return nil, nil, err
	}
	s := &Spool{file: file, done: make(chan struct{}), limit: maxSpool}
	if runtime.GOOS == "windows" {
		s.path = file.Name()
	} else if err := os.Remove(file.Name()); err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	s.pipe = ours
	go s.drain()
	return s, theirs, nil
}

// drain copies until the last writer is gone or finish gives up.
func (s *Spool) drain() {
	defer close(s.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := s.pipe.Read(buf)
		s.add(buf[:n])
		if err != nil {
			return
		}
	}
}

func (s *Spool) add(b []byte) {
	if s.size+int64(len(b)) > s.limit {
		s.truncate()
	}
	n, _ := s.file.WriteAt(b, s.size) // a full disk loses the log, not the server
	s.size += int64(n)
}

// truncate drops all but the end.
func (s *Spool) truncate() {
	keep := min(s.size, keptTail, s.limit/2)
	tail := make([]byte, keep)
	n, _ := s.file.ReadAt(tail, s.size-keep)
	_ = s.file.Truncate(0)
	m, _ := s.file.WriteAt(tail[:n], 0)
	s.size, s.cut = int64(m), true
}

// finish waits until all was read, at most for limit.
func (s *Spool) finish(limit time.Duration) {
	_ = s.pipe.SetReadDeadline(time.Now().Add(limit))
	<-s.done
	_ = s.pipe.Close()
}

// Tail returns the last n bytes at most, and whether something came before
// them. Call it when the child is dead.
func (s *Spool) Tail(n int64) (tail []byte, cut bool) {
	select {
	case <-s.done:
	default:
		return nil, false // still being written: the child could not be killed
	}
	keep := min(s.size, n)
	tail = make([]byte, keep)
	m, err := s.file.ReadAt(tail, s.size-keep)
	if err != nil && err != io.EOF {
		return nil, s.size > 0
	}
	return tail[:m], s.cut || keep < s.size
}

// Close gives up the file.
func (s *Spool) Close() error {
	s.closeOnce.Do(func() {
		_ = s.pipe.Close()
		<-s.done
		_ = s.file.Close()
		if s.path != "" {
			_ = os.Remove(s.path)
		}
	})
	return nil
}
