package promote

import "testing"

func TestBypassByNames(t *testing.T)      { runBypasses(t, nameBypasses) }
func TestBypassByAttributes(t *testing.T) { runBypasses(t, attributeBypasses) }
func TestBypassByCores(t *testing.T)      { runBypasses(t, coreBypasses) }
func TestBypassByFiles(t *testing.T)      { runBypasses(t, fileBypasses) }

const (
	folding   = "refused declaration_invalid folding_name"
	backslash = "refused declaration_invalid backslash_name"
	converts  = "refused declaration_invalid attribute_converts"
	invalid   = "refused declaration_invalid "
)

// nameBypasses add what some file system takes for a file that evolve reads.
var nameBypasses = []bypass{
	{"agent in other letter case", npx, nil, files{"Agent/mcp/x.yaml": "command: x\n"}, folding},
	{"mcp in other letter case", npx, nil, files{"agent/MCP/x.yaml": "command: x\n"}, folding},
	{"agent.yaml in other letter case", npx, nil, files{"AGENT.yaml": "runtime: {}\n"}, folding},
	{"an ignorable character (HFS)", npx, nil, files{"agent/m\u200dcp/x.yaml": "command: x\n"}, folding},
	{"an ignorable character at the end (HFS)", npx, nil, files{"agent.yaml\ufeff": "x: y\n"}, folding},
	{"a dot at the end (NTFS)", npx, nil, files{"agent./mcp/x.yaml": "command: x\n"}, folding},
	{"a space at the end (NTFS)", npx, nil, files{"agent/mcp /x.yaml": "command: x\n"}, folding},
	{"a stream (NTFS)", npx, nil, files{"agent.yaml::$DATA": "x: y\n"}, folding},
	{"a short name (NTFS)", npx, nil, files{"AGENT~1.YAM": "x: y\n"}, folding},
	{"a declaration with a dot at the end", npx, nil, files{"agent/mcp/x.yaml.": "command: x\n"}, folding},
	{"a declaration with an ignorable character", npx, nil, files{"agent/mcp/x.y\u200caml": "command: x\n"}, folding},
	{"a declaration by its short name", npx, nil, files{"agent/mcp/DOCS~1.YAM": "command: x\n"}, folding},
	{"a declaration's suffix in other letter case", npx, nil, files{"agent/mcp/x.YAML": "command: x\n"}, "token declaration:agent/mcp/x.YAML"},
	{"a backslash for a slash", npx, nil, files{`agent\mcp\x.yaml`: "command: x\n"}, backslash},
	{"a backslash below agent", npx, nil, files{`agent/mcp\x.yaml`: "command: x\n"}, backslash},
	{"a backslash in a declaration's name", npx, nil, files{`agent/mcp/a\x.yaml`: "command: x\n"}, backslash},
	{"agent.yml", npx, nil, files{"agent.yml": "runtime: {}\n"}, invalid + "agent_yml"},
	{"agent.yml in other letter case", npx, nil, files{"Agent.YML": "runtime: {}\n"}, invalid + "agent_yml"},
	{"a second core in other letter case", "", files{"one/agent/mcp/a.yaml": "command: x\n"}, files{"One/x": "1"}, folding},
	{"two files with one id", npx, nil, files{"agent/mcp/docs.yml": "command: x\n"}, invalid + "server_id_duplicate"},
	{"two files with one id to a Mac", npx, nil, files{"agent/mcp/DOCS.yaml": "command: x\n"}, invalid + "server_id_duplicate"},
	{".gitattributes in other letter case", npx, nil, files{".GitAttributes": "* text\n"}, folding},
	{"a symbolic link as agent", "", files{"agent.yaml": ""}, files{"@agent": "other", "other/mcp/x.yaml": "command: x\n"}, invalid + "mcp_root_not_directory"},
	{"a symbolic link as the MCP root", "", files{"agent.yaml": ""}, files{"@agent/mcp": "../other", "other/x.yaml": "command: x\n"}, invalid + "mcp_root_not_directory"},
	{"a submodule as the MCP root", "", files{"agent.yaml": ""}, files{"^agent/mcp": submodule}, invalid + "mcp_root_not_directory"},
	{"a symbolic link as a declaration", npx, nil, files{"@agent/mcp/x.yaml": "../../x"}, invalid + "entry_not_regular"},
	{"a submodule as a declaration", npx, nil, files{"^agent/mcp/x.yaml": submodule}, invalid + "entry_not_regular"},
	{"a symbolic link as agent.yaml", npx, nil, files{"@agent.yaml": "x"}, invalid + "entry_not_regular"},
}

// attributeBypasses make a checkout hold other bytes than were reviewed, or try
// to hide that they do.
var attributeBypasses = []bypass{
	{"a line that converts nothing", npx, nil, files{".gitattributes": "*.yaml text\n"}, "token attributes:.gitattributes"},
	{"attributes on the way", npx, nil, files{"agent/.gitattributes": "*.x text\n"}, "token attributes:agent/.gitattributes"},
	{"attributes of what is launched", "command: ./a/b/x", files{"*a/b/x": "1"}, files{"a/.gitattributes": "*.x text\n"}, "token attributes:a/.gitattributes"},
	{"attributes of what is launched outside the core", "", files{"one/agent/mcp/a.yaml": "command: ../lib/x\n", "*lib/x": "1"}, files{"lib/.gitattributes": "x text\n"}, "token attributes:lib/.gitattributes launched:lib"},
	{"attributes of another directory", npx, nil, files{"doc/.gitattributes": "* filter=x\n"}, "free"},
	{"a filter", npx, nil, files{".gitattributes": "*.yaml filter=evil\n"}, converts},
	{"an encoding", npx, nil, files{".gitattributes": "*.yaml working-tree-encoding=UTF-16\n"}, converts},
	{"ident", npx, nil, files{".gitattributes": "agent/** ident\n"}, converts},
	{"export-subst", npx, nil, files{".gitattributes": "/agent/mcp/*.yaml export-subst\n"}, converts},
	{"export-ignore", npx, nil, files{"agent/mcp/.gitattributes": "docs.* export-ignore\n"}, converts},
	{"a filter in other letter case", npx, nil, files{".gitattributes": "*.YAML filter=evil\n"}, converts},
	{"a filter behind a byte order mark", npx, nil, files{".gitattributes": "\ufeff*.yaml filter=evil\n"}, converts},
	{"a filter behind a macro", npx, nil, files{".gitattributes": "[attr]m filter=evil\n* m\n"}, converts},
	{"a filter behind ten macros", npx, nil, files{".gitattributes": "[attr]a b\n[attr]b c\n[attr]c d\n[attr]d e\n[attr]e f\n[attr]f g\n[attr]g h\n[attr]h i\n[attr]i j\n[attr]j filter=evil\n* a\n"}, converts},
	{"a filter behind a quoted pattern", npx, nil, files{".gitattributes": "\"*.yaml\" filter=evil text=\"\n"}, converts},
	{"a filter joined to a quoted pattern", npx, nil, files{".gitattributes": "\"*.yaml\"filter=evil\n"}, converts},
	{"a filter for bytes that are one character", `command: "./\u00e9/a"`, files{"*\u00e9/a": "1"}, files{".gitattributes": "??/a filter=evil\n"}, converts},
	{"a filter taken back by a pattern that does not match", npx, nil, files{".gitattributes": "* filter=evil\n\"nothing\" -filter\n"}, converts},
	{"a filter taken back in other letter case", npx, nil, files{".gitattributes": "* filter=evil\n*.YAML -filter\n"}, converts},
	{"a filter taken back on a line that Git drops", npx, nil, files{".gitattributes": "* filter=evil\n* -filter # why\n"}, converts},
	{"a filter taken back behind an odd space", npx, nil, files{".gitattributes": "* filter=evil\n* -filter\u00a0\n"}, converts},
	{"a filter taken back behind a NUL byte", npx, nil, files{".gitattributes": "* filter=evil\x00 -filter\n"}, converts},
	{"a filter taken back on a long line", npx, nil, files{".gitattributes": "* filter=evil\n* -filter " + long + "\n"}, converts},
	{"a filter taken back by a macro that is unset", npx, nil, files{".gitattributes": "[attr]safe -filter\n* filter=evil\n* safe\n* -safe\n"}, converts},
	{"a filter taken back by a negative pattern", npx, nil, files{".gitattributes": "* filter=evil\n!docs.yaml -filter\n"}, converts},
	{"a filter hidden by another on a line that Git drops", npx, nil, files{".gitattributes": "* filter=evil\n* filter=lfs # why\n"}, converts},
	{"a filter that is taken back", npx, nil, files{".gitattributes": "* filter=x\nagent/** -filter\n"}, "token attributes:.gitattributes"},
	{"Git LFS", npx, nil, files{".gitattributes": "*.yaml filter=lfs\n"}, "token attributes:.gitattributes"},
	{"attributes as a symbolic link", npx, nil, files{"@.gitattributes": "x"}, invalid + "bound_not_regular"},
}

var long = func() string {
	b := make([]byte, 2100)
	for i := range b {
		b[i] = 'a'
	}
	return string(b)
}()

// coreBypasses move declarations to where they are not looked for, or change
// what decides authority.
var coreBypasses = []bypass{
	{"a core at depth two", npx, nil, files{"deep/one/agent/mcp/x.yaml": "command: x\n"}, "refused core_unknown"},
	{"a core at depth two by its agent.yaml", npx, nil, files{"deep/one/agent.yaml": ""}, "refused core_unknown"},
	{"a core at depth two in other letter case", npx, nil, files{"deep/one/Agent/MCP/x.YML": "command: x\n"}, "refused core_unknown"},
	{"a core at depth two by agent.yml", npx, nil, files{"deep/one/agent.yml": ""}, "refused core_unknown"},
	{"a core at depth two by a short name", npx, nil, files{"deep/one/AGENT~1.YAM": ""}, "refused core_unknown"},
	{"a core within a core", "", files{"one/agent/mcp/a.yaml": "command: x\n"}, files{"one/two/agent/mcp/x.yaml": "command: x\n"}, "refused core_unknown"},
	{"a symbolic link to a core at depth two", npx, nil, files{"@deep/one/agent.yaml": "../../x"}, "refused core_unknown"},
	{"a new core", npx, nil, files{"one/agent/mcp/x.yaml": "command: x\n"}, "token agent:one/agent.yaml declaration:one/agent/mcp/x.yaml"},
	{"slots.mcp to another directory", npx, files{"other/x.yaml": "command: x\n"}, files{"agent.yaml": "slots: {mcp: other}\n"}, "token agent:agent.yaml declaration:agent/mcp/docs.yaml declaration:other/x.yaml"},
	{"slots.mcp above the core", npx, nil, files{"agent.yaml": "slots: {mcp: ../x}\n"}, invalid + "mcp_root_invalid"},
	{"slots.mcp with a backslash", npx, nil, files{"agent.yaml": "slots: {mcp: 'a\\b'}\n"}, invalid + "mcp_root_invalid"},
	{"slots.mcp with a dot", npx, nil, files{"agent.yaml": "slots: {mcp: ./a}\n"}, invalid + "mcp_root_invalid"},
	{"slots.mcp in the Git directory", npx, nil, files{"agent.yaml": "slots: {mcp: .git/mcp}\n"}, invalid + "mcp_root_invalid"},
	{"slots.mcp that is no text", npx, nil, files{"agent.yaml": "slots: {mcp: [a]}\n"}, invalid + "wrong_type"},
	{"slots.mcp given twice", npx, nil, files{"agent.yaml": "slots: {mcp: a, mcp: b}\n"}, invalid + "duplicate_key"},
	{"slots.mcp behind an alias", npx, nil, files{"agent.yaml": "x: &a {mcp: b}\nslots: *a\n"}, invalid + "yaml_alias"},
	{"slots.mcp behind a merge key", npx, nil, files{"agent.yaml": "x: &a {slots: {mcp: b}}\n<<: *a\n"}, invalid + "merge_key"},
	{"runtime.surface_root", npx, files{"other/mcp/x.yaml": "command: x\n"}, files{"agent.yaml": "runtime: {surface_root: other}\n"}, "token agent:agent.yaml declaration:agent/mcp/docs.yaml declaration:other/mcp/x.yaml"},
	{"a grant", npx, files{"agent.yaml": "name: a\n"}, files{"agent.yaml": "name: a\ncapabilities: {defaults: {\"mcp.connect:*\": {scope: core}}}\n"}, "token agent:agent.yaml"},
	{"an approval rule", npx, files{"agent.yaml": "approval: {default: prompt}\n"}, files{"agent.yaml": "approval: {default: auto}\n"}, "token agent:agent.yaml"},
	{"tools.metadata that lowers an approval", npx, files{"agent.yaml": "name: a\n"}, files{"agent.yaml": "name: a\ntools: {metadata: {delete: {approval_policy: auto, risk: low}}}\n"}, "token agent:agent.yaml"},
	{"another node of agent.yaml", npx, files{"agent.yaml": "name: a\n"}, files{"agent.yaml": "name: b\n"}, "free"},
	{"a declaration of a core at depth two that was there before", npx, files{"deep/one/agent/mcp/x.yaml": "command: x\n"}, files{"README": "1"}, "free"},
}

// fileBypasses change a declaration in ways that readers may take differently.
var fileBypasses = []bypass{
	{"one byte of a declaration", npx, nil, files{"agent/mcp/docs.yaml": "command: npx\nargs: [-y, \"docs@1.0.1\"]\n"}, "token declaration:agent/mcp/docs.yaml"},
	{"a comment in a declaration", npx, nil, files{"agent/mcp/docs.yaml": "command: npx\nargs: [-y, \"docs@1.0.0\"] # x\n"}, "token declaration:agent/mcp/docs.yaml"},
	{"the mode of a declaration", "", files{"agent/mcp/a.yaml": "command: x\n"}, files{"*agent/mcp/a.yaml": "command: x\n"}, "token declaration:agent/mcp/a.yaml"},
	{"a declaration under another name", "", files{"agent/mcp/a.yaml": "command: x\n"}, files{"-agent/mcp/a.yaml": "", "agent/mcp/b.yaml": "command: x\n"}, "token declaration:agent/mcp/a.yaml declaration:agent/mcp/b.yaml"},
	{"a disabled declaration", npx, nil, files{"agent/mcp/x.yaml": "enabled: false\ncommand: x\n"}, "token declaration:agent/mcp/x.yaml"},
	{"a byte order mark", "", files{"agent/mcp/a.yaml": "command: x\n"}, files{"agent/mcp/a.yaml": "\ufeffcommand: x\n"}, "token declaration:agent/mcp/a.yaml"},
	{"two byte order marks", npx, nil, files{"agent/mcp/x.yaml": "\ufeff\ufeffcommand: x\n"}, invalid + "control_character"},
	{"a byte order mark in front of a later line", npx, nil, files{"agent/mcp/x.yaml": "command: x\n\ufeffargs: [y]\n"}, invalid + "control_character"},
	{"UTF-16", npx, nil, files{"agent/mcp/x.yaml": "\xff\xfec\x00:\x00 \x00x\x00\n\x00"}, invalid + "encoding_invalid"},
	{"a next line character in a comment", npx, nil, files{"agent/mcp/x.yaml": "command: x # \u0085args: [y]\n"}, invalid + "control_character"},
	{"a line separator in a comment", npx, nil, files{"agent/mcp/x.yaml": "command: x # \u2028args: [y]\n"}, invalid + "control_character"},
	{"a lone carriage return", npx, nil, files{"agent/mcp/x.yaml": "command: x # \rargs: [y]\n"}, invalid + "control_character"},
	{"a duplicate key", npx, nil, files{"agent/mcp/x.yaml": "command: x\ncommand: y\n"}, invalid + "duplicate_key"},
	{"a second document", npx, nil, files{"agent/mcp/x.yaml": "command: x\n---\ncommand: y\n"}, invalid + "multi_document"},
	{"an alias in a declaration", npx, nil, files{"agent/mcp/x.yaml": "command: &a x\ncwd: *a\n"}, invalid + "yaml_alias"},
	{"a tag", npx, nil, files{"agent/mcp/x.yaml": "command: !!str x\n"}, invalid + "yaml_tag"},
	{"a scalar that readers take differently", npx, nil, files{"agent/mcp/x.yaml": "command: x\nargs: [0123]\n"}, invalid + "ambiguous_scalar"},
	{"an unknown field", npx, nil, files{"agent/mcp/x.yaml": "command: x\ncomand: y\n"}, invalid + "unknown_key"},
	{"a huge declaration", npx, nil, files{"agent/mcp/x.yaml": "command: x\n#" + huge}, invalid + "file_too_large"},
	{"a broken base does not block its repair", "", files{"agent/mcp/a.yaml": "command: [\n"}, files{"agent/mcp/a.yaml": "command: x\n"}, "token declaration:agent/mcp/a.yaml"},
	{"a file that is no declaration", npx, nil, files{"agent/mcp/README.md": "x"}, "free"},
	{"a declaration in a directory of the MCP root", npx, nil, files{"agent/mcp/sub/x.yaml": "command: x\n"}, "free"},
	{"a remote server that the repository also holds", "transport: streamable_http; url: \"http://localhost:8000/srv\"", files{"srv/x": "1"}, files{"srv/x": "2"}, "free"},
	{"the README", npx, files{"README": "1"}, files{"README": "2"}, "free"},
}

var huge = func() string {
	b := make([]byte, 300<<10)
	for i := range b {
		b[i] = 'a'
	}
	return string(b)
}()
