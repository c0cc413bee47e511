package netguard

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"testing"
)

// TestWebPlatformHosts compares host parsing with the web platform tests
// (urltestdata, toascii, IdnaTestV2), which are not part of this repository:
// EVOLVE_WPT_HOSTS names the file. The policy may refuse what they accept, but
// never accept a host that they refuse and never read another one.
func TestWebPlatformHosts(t *testing.T) {
	t.Parallel()
	path := os.Getenv("EVOLVE_WPT_HOSTS")
	if path == "" {
		path = "../../../shared/cases/url/wpt_hosts.json"
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no web platform test data; set EVOLVE_WPT_HOSTS")
	}
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Input      string  `json:"input"`
			Hostname   *string `json:"hostname"`
			Failure    bool    `json:"failure"`
			DomainOnly bool    `json:"domain_only"`
			Port       string  `json:"port"`
		} `json:"cases"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) < 3000 {
		t.Fatalf("only %d cases", len(file.Cases))
	}
	accepted := 0
	for _, c := range file.Cases {
		var host string
		var ok bool
		if c.DomainOnly {
			host, _, ok = canonicalHost(c.Input)
		} else {
			target, reason := Read(c.Input)
			host, ok = target.Host, reason == Allowed
			if port := strconv.Itoa(int(target.Port)); ok && !c.Failure && c.Port != port && c.Port != "" {
				t.Errorf("%q: port %s, want %s", c.Input, port, c.Port)
			}
		}
		if !ok {
			continue
		}
		accepted++
		if c.Failure || c.Hostname == nil {
			t.Errorf("%q: read host %q, which they refuse", c.Input, host)
		} else if !sameHost(host, *c.Hostname) {
			t.Errorf("%q: read host %q, want %q", c.Input, host, *c.Hostname)
		}
	}
	t.Logf("accepted %d of %d", accepted, len(file.Cases))
}
