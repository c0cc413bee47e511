package runtime

import (
	"regexp"
	"strings"
	"testing"
)

var provider = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

func TestExposedNames(t *testing.T) {
	for _, tt := range []struct{ server, tool, want string }{
		{"docs", "search", "docs__search"},
		{"docs", "get-page", "docs__get-page"},
		{"docs", strings.Repeat("x", 58), "docs__" + strings.Repeat("x", 58)},
		{"docs", strings.Repeat("x", 59), "docs__" + strings.Repeat("x", 49) + "-"},
		{"foo.2", "a", "foo_2__a-"},
		{"foo_2", "a", "foo_2__a"},
		{"docs", "search pages", "docs__search_pages-"},
		{"docs", "süche", "docs__s_che-"},
		{"9docs", "a", "s9docs__a-"},
		{"docs", "x-0123abcd", "docs__x-0123abcd-"},
		{"docs", "a__b", "docs__a__b"},
	} {
		got := exposedName(tt.server, tt.tool)
		whole := tt.want
		if strings.HasSuffix(tt.want, "-") {
			if !regexp.MustCompile(`^` + regexp.QuoteMeta(tt.want) + `[0-9a-f]{8}$`).MatchString(got) {
				t.Errorf("%s/%s is %s, want %s and 8 hex digits", tt.server, tt.tool, got, tt.want)
			}
			continue
		}
		if got != whole {
			t.Errorf("%s/%s is %s, want %s", tt.server, tt.tool, got, whole)
		}
	}
}

// The names that tools lost one another by, in public reports: cut at 64
// characters, or mapped to the same text.
func TestNamesThatCollidedElsewhereStayApart(t *testing.T) {
	long := strings.Repeat("very_long_", 7)
	seen := map[string]string{}
	for _, pair := range [][2]string{
		{"s", long + "createX"}, {"s", long + "deleteX"}, {"s", "foo.2"}, {"s", "foo_2"}, {"s", "foo 2"}, {"a.b", "c"}, {"a_b", "c"},
	} {
		name := exposedName(pair[0], pair[1])
		if other, taken := seen[name]; taken {
			t.Errorf("%v and %s share %s", pair, other, name)
		}
		seen[name] = pair[0] + "/" + pair[1]
	}
}

func FuzzExposedName(f *testing.F) {
	f.Add("docs", "search", "docs", "süche")
	f.Add("foo.2", "a", "foo_2", "a")
	f.Add("docs", strings.Repeat("x", 300), "docs", strings.Repeat("x", 301))
	f.Fuzz(func(t *testing.T, s1, t1, s2, t2 string) {
		id := regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
		if !id.MatchString(s1) || !id.MatchString(s2) || strings.Contains(s1+"\x00"+s2, "__") || t1 == "" || t2 == "" {
			t.Skip()
		}
		a, b := exposedName(s1, t1), exposedName(s2, t2)
		if !provider.MatchString(a) || !provider.MatchString(b) {
			t.Errorf("not valid: %q %q", a, b)
		}
		if (a == b) != (s1 == s2 && t1 == t2) {
			t.Errorf("(%q %q) is %q and (%q %q) is %q", s1, t1, a, s2, t2, b)
		}
		if a != exposedName(s1, t1) {
			t.Error("not stable")
		}
	})
}

func TestFilters(t *testing.T) {
	for _, tt := range []struct {
		filters string
		tool    string
		want    bool
	}{
		{"{}", "anything", true},
		{"{include: [read_*]}", "read_page", true},
		{"{include: [read_*]}", "READ_page", false},
		{"{include: [read_*]}", "xread_page", false},
		{"{include: [read]}", "read_page", false},
		{"{include: [\"*\"], exclude: [write]}", "write", false},
		{"{include: [\"*\"], exclude: [write]}", "write2", true},
		{"{exclude: [\"*_admin\"]}", "x_admin", false},
		{"{exclude: [\"a*b*c\"]}", "a1b2c", false},
		{"{exclude: [\"a*b*c\"]}", "a1c2b", true},
		{"{include: [\"a*a\"]}", "a", false},
		{"{include: [docs__read]}", "read", false}, // filters know no exposed names
	} {
		d := core(t, map[string]string{"docs.yaml": "command: x\ntools: " + tt.filters + "\n"}).Declarations[0]
		if got := d.exposes(tt.tool); got != tt.want {
			t.Errorf("%s on %s: %v", tt.filters, tt.tool, got)
		}
	}
}
