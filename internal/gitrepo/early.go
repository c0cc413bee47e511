package gitrepo

import (
	"context"
	"sync"
)

// early is what is started beside the discovery of the repository. A nil early
// is one where nothing was.
type early struct {
	running sync.WaitGroup
	once    sync.Once
	read    chan struct{} // closed when the configuration was read
	result  *Config
	err     error
}

// startEarly reads the configuration from where discovery starts: Git finds the
// same repository there, and the same files.
func (r *Repo) startEarly(ctx context.Context) *early {
	e := &early{read: make(chan struct{})}
	before := &Repo{git: r.git, dir: r.dir, readEnv: r.readEnv[:len(r.readEnv):len(r.readEnv)]}
	e.running.Go(func() {
		e.result, e.err = before.readConfig(ctx)
		close(e.read)
	})
	return e
}

// warm starts the object reader's child.
func (e *early) warm(ctx context.Context, o *objectReader) {
	e.running.Go(func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		_ = o.ready(ctx) // the first read meets the error again
	})
}

// config is the configuration that was read early, once: whoever asks again
// wants it as it is then.
func (e *early) config() (c *Config, ready bool, err error) {
	if e == nil {
		return nil, false, nil
	}
	e.once.Do(func() {
		<-e.read
		c, ready, err = e.result, true, e.err
	})
	return c, ready, err
}

// wait waits for what was started.
func (e *early) wait() {
	if e != nil {
		e.running.Wait()
	}
}
