package hooks_test

import (
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// serveHTTP serves the directory of a repository by git http-backend behind a web
// server that names its users in REMOTE_USER, as RFC 3875 has it.
func (s *site) serveHTTP() *httptest.Server {
	s.t.Helper()
	s.server.Git("config", "http.receivepack", "true")
	backend := filepath.Join(s.server.Git("--exec-path"), "git-http-backend")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, _, ok := r.BasicAuth()
		if !ok {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		h := cgi.Handler{Path: backend, Dir: s.server.Dir(), Env: append(s.server.Env(),
			"GIT_PROJECT_ROOT="+filepath.Dir(s.server.Dir()), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER="+user)}
		h.ServeHTTP(w, r)
	}))
	s.t.Cleanup(server.Close)
	return server
}

// The whole story over HTTP: refused, pushed with its record, who pushed, and
// nobody pushes what they reviewed.
func TestPushOverHTTP(t *testing.T) {
	s := newSite(t)
	web := s.serveHTTP()
	as := func(user string) string {
		return strings.Replace(web.URL, "http://", "http://"+user+":x@", 1) + "/repo"
	}
	s.server.Git("config", "evolve.pusherVariable", "REMOTE_USER")
	s.server.Git("config", "evolve.forbidSelfReview", "true")
	head := s.change("1.1.0")
	out, err := pushFrom(s.clone, as("alice"), "HEAD:main")
	if err == nil || !strings.Contains(out, "evolve: token_missing: ") {
		t.Errorf("%v\n%s", err, out)
	}
	token := s.review(mainRef, s.base, head)
	out, err = pushFrom(s.clone, as("grace%40example.com"), "--atomic", "HEAD:main", record(token))
	if err == nil || !strings.Contains(out, "evolve: self_review: ") {
		t.Errorf("the reviewer's own push: %v\n%s", err, out)
	}
	if out, err = pushFrom(s.clone, as("alice"), "--atomic", "HEAD:main", record(token)); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	s.at(mainRef, head)
	s.reaped()
	entries := audit(t, s.server)
	var who []string
	for _, e := range entries {
		who = append(who, e.Who+" "+e.Verdict)
	}
	if want := []string{"alice refused", "grace@example.com refused", "alice moved"}; !slices.Equal(who, want) {
		t.Errorf("audited %v, want %v", who, want)
	}
	if out, err = pushFrom(s.clone, as("alice"), ":main"); err == nil || !strings.Contains(out, "ref_protected") {
		t.Errorf("%v\n%s", err, out)
	}
}
