package gitrepo

import (
	"context"
	"strings"
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
	reader  chan *catFile // gets the object reader's child, nil if it could not be started

	mu     sync.Mutex
	listed chan struct{} // closed when the refs were listed; nil if none were asked for
	refs   map[string]listedRef
}

// listedRef is one line of a listing of refs. The zero listedRef is a name that
// no ref has.
type listedRef struct {
	value  ID
	symref string // what a symbolic ref names
}

// startEarly starts the object reader, and reads the configuration, from where
// discovery starts: Git finds the same repository there, and the same files.
func (r *Repo) startEarly(ctx context.Context, o Options) *early {
	e := &early{read: make(chan struct{}), reader: make(chan *catFile, 1)}
	before := &Repo{git: r.git, dir: r.dir, readEnv: r.readEnv[:len(r.readEnv):len(r.readEnv)]}
	e.running.Go(func() {
		if !o.EarlyObjects {
			e.reader <- nil
			return
		}
		child, err := before.startCatFile(ctx)
		if err != nil {
			child = nil // the first read meets the error again
		}
		e.reader <- child
	})
	e.running.Go(func() {
		e.result, e.err = before.readConfig(ctx)
		close(e.read)
	})
	if len(o.EarlyRefs) > 0 {
		e.listed = make(chan struct{})
		e.running.Go(func() {
			e.refs = before.listEarly(ctx, o.EarlyRefs)
			close(e.listed)
		})
	}
	return e
}

// listEarly lists refs by their full names. What is odd in any way, such as a
// broken ref, is left to whoever asks later. Whether the objects are there is not
// asked, which would open every pack: whoever gets a value reads its object.
func (r *Repo) listEarly(ctx context.Context, names []string) map[string]listedRef {
	for _, name := range names {
		if checkRefWord(name) != nil {
			return nil
		}
	}
	out, err := r.run(ctx, command{args: append([]string{"for-each-ref", "--format=%(objectname) %(refname) %(symref)"}, names...)})
	if err != nil || len(out.stderr) > 0 {
		return nil
	}
	refs := make(map[string]listedRef, len(names))
	for _, name := range names {
		refs[name] = listedRef{}
	}
	for line := range strings.Lines(string(out.stdout)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(f) != 3 {
			return nil
		}
		if _, asked := refs[f[1]]; asked {
			refs[f[1]] = listedRef{ID(f[0]), f[2]}
		}
	}
	return refs
}

// take gives out what was listed early, each name once: whoever asks again wants
// it as it is then. rest are the names that must be asked for.
func (e *early) take(names []string) (known map[string]listedRef, rest []string) {
	if e == nil || e.listed == nil {
		return nil, names
	}
	<-e.listed
	e.mu.Lock()
	defer e.mu.Unlock()
	known = map[string]listedRef{}
	for _, name := range names {
		if ref, ok := e.refs[name]; ok {
			known[name] = ref
			delete(e.refs, name)
		} else if _, twice := known[name]; !twice {
			rest = append(rest, name)
		}
	}
	return known, rest
}

// child is the object reader's child, once; nil if there is none.
func (e *early) child() *catFile {
	if e == nil {
		return nil
	}
	return <-e.reader
}

// drop ends what was started, where the repository cannot be opened.
func (e *early) drop() {
	if child := e.child(); child != nil {
		child.end()
	}
	e.wait()
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
