package redact

import "testing"

// join keeps scanners of this repository from taking invented values for real.
func join(parts ...string) string {
	s := ""
	for _, p := range parts {
		s += p
	}
	return s
}

func TestLooksLikeCredential(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		join("gh", "p_2H0O5JD8iLOa786Tx7T21c86hgCKmkR4eRFp"),
		join("sk", "-ant-9ARhc0yZ10LZ2rcr4zYZwrMHJUCdeK0yP38MbSnc"),
		join("sk", "-GrSxyJPUBEVz1UkV5LmAxMh3nLQVMTz1v5xvZAff9UEH"),
		join("AK", "IAIOSFODNN7EXAMPLE"),
		join("xo", "xb-1234567890-abcdef"),
		join("ey", "JhbGciOiJIUzI1NiJ9.e30.c2ln"),
		"bzUNGWG9WrC5RhDkPSSRAWqwaqLgnwjQ",
		"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",
		"0baaaab2-c3b4-4d1e-a5c6-a04b35def3c4",
		"0baaaab2-c3b4-4d1e-a5c6-a04b35def3c4.mcp.acme.test",
		"d41d8cd98f00b204",
		"d41d8cd98f00b204.mcp.acme.test",
		"postgresql://app:hunter2@db.internal:5432/orders",
		"Authorization: Bearer abcdefgh1",
		"-----BEGIN PRIVATE KEY-----",
		"x-9yl7uI9cKttT3vZMVxuz60ewsrxI1F",
		"c3ZjLXJlYWRlcjpTcHJpbmcyMDI2LXB3",
		"n2a55khoznoopqkamm5tkbr2sbybco76",
		"sk-\u200bGrSxyJPUBEVz1UkV5LmAxMh3nLQ",
		"sk-\x7fGrSxyJPUB\x7fEVz1UkV5L\x7fmAxMh3nLQ",
		"sk-\x01GrSxyJPUB\x01EVz1UkV5L\x01mAxMh3nLQ",
	} {
		if !LooksLikeCredential(s) {
			t.Errorf("%q does not look like a credential", s)
		}
	}
}

func TestOrdinaryNamesDoNotLookLikeCredentials(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "npx", "@modelcontextprotocol/server-everything", "awslabs.amazon-keyspaces-mcp-server@1.0.3",
		"@acme/docs-mcp@1.4.2", "ghcr.io/acme/gh-mcp:1.2.0", "NODE_TLS_REJECT_UNAUTHORIZED", "X-Amz-Security-Token",
		"AWS_BEDROCK_AGENTCORE_RUNTIME_ENDPOINT_URL", "supports_parallel_tool_calls", "mcp.call:payments",
		"--dangerously-skip-permissions", "agent/mcp/secret_moved_env_to_args.yaml", "src/servers/index.mjs",
		"mcp.acme-cdn.test", "169.254.169.254", "2001:db8::1", "xn--cme-7cd.test", "search_*", "/usr/local/bin/node",
		"task-list-manager", "ask-something-long-here", "sk-learn-documentation-server", "getUserAuthenticationTokenFromServer",
		"services/docs", "../../..", "C:\\nodejs\\npx.cmd", "python3.12", "github.com/acme/tools/cmd/server@v0.3.1",
		"0.0.0-20240102030405", "key-value-store-browser", "re_export_everything_here", "secret_scanner_for_repositories",
	} {
		if LooksLikeCredential(s) {
			t.Errorf("%q looks like a credential", s)
		}
	}
}

func TestSecretName(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"--token", "--api-key", "--auth-token", "API_TOKEN", "apiKey", "searchApiKey", "searchapikey", "access_token",
		"GITHUB_PAT", "DB_PWD", "AZURE_CONNECTION_STRING", "AZURE_MANAGEMENT_KEY", "DB_PASSWORD", "SSH_KEY", "A_KEY", "--key",
		"Authorization", "X-Api-Key", "AUTH_HEADER_TOKEN", "Cookie", "--password", "MYSQL_PASS", "DSN", "clientSecret", "APIKEY",
	} {
		if !SecretName(s) {
			t.Errorf("SecretName(%q) = false", s)
		}
	}
	for _, s := range []string{
		"", "--max-tokens", "max_tokens", "LOG_LEVEL", "--port", "TOKEN_URL", "KEYBOARD", "--key-file", "AUTHOR", "monkey",
		"PATH", "PYTHONPATH", "--tokenizer", "--compass", "AWS_ACCESS_KEY_ID", "AUTH_TYPE", "--public-key", "COMPATIBILITY", "--spin",
	} {
		if SecretName(s) {
			t.Errorf("SecretName(%q) = true", s)
		}
	}
}

func TestLook(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want Looks
	}{
		{"plain\ttext\r\n", Looks{}},
		{"b\u00fccher", Looks{}},
		{"sh\x1b[2K", Looks{Control: true}},
		{"a\u202eb", Looks{Bidi: true}},
		{"a\u200bb", Looks{Invisible: true}},
		{"\u0410PI_TOKEN", Looks{LookAlike: true}},
		{"\uff41", Looks{LookAlike: true}},
	} {
		if got := Look(c.in); got != c.want {
			t.Errorf("Look(%q) = %+v, want %+v", c.in, got, c.want)
		}
	}
}
