package securitydiff

import (
	"strings"

	"github.com/evolve-mcp/evolve/internal/pattern"
	"github.com/evolve-mcp/evolve/internal/redact"
)

// injectionEnv are variables with which a loader, interpreter or package manager
// runs other code (ld.so(8), node(1), python(1), perlrun(1), ruby(1), bash(1),
// git(1), npm-config(7), pip configuration, uv environment, dotnet, java).
var injectionEnv = upper(`LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH DYLD_FRAMEWORK_PATH
	NODE_PATH PYTHONPATH PYTHONSTARTUP PYTHONHOME PYTHONINSPECT PYTHONUSERBASE PERL5LIB PERL5OPT RUBYLIB RUBYOPT BASH_ENV ENV PATH
	NPM_CONFIG_REGISTRY NPM_CONFIG_USERCONFIG NPM_CONFIG_GLOBALCONFIG NPM_CONFIG_PREFIX NPM_CONFIG_SCRIPT_SHELL YARN_REGISTRY
	PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_CONFIG_FILE UV_INDEX_URL UV_DEFAULT_INDEX UV_INDEX UV_EXTRA_INDEX_URL UV_CONFIG_FILE UV_PYTHON
	JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH DOTNET_STARTUP_HOOKS CORECLR_PROFILER CORECLR_ENABLE_PROFILING
	GIT_SSH_COMMAND GIT_SSH GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_EXEC_PATH GIT_CONFIG_GLOBAL GIT_CONFIG_COUNT GOFLAGS GOPROXY
	GONOSUMDB GOINSECURE CARGO_HOME RUSTC_WRAPPER RUSTC EDITOR PAGER BROWSER COMSPEC SHELL IFS PROMPT_COMMAND HOME USERPROFILE
	ELECTRON_RUN_AS_NODE BUN_INSTALL DENO_DIR DOCKER_HOST DOCKER_CONFIG KUBECONFIG`)

// interceptEnv send traffic through another host, or make another authority
// trusted (curl(1), OpenSSL, Node, Python requests).
var interceptEnv = upper(`HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY NPM_CONFIG_PROXY NPM_CONFIG_HTTPS_PROXY NPM_CONFIG_CAFILE
	NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE PIP_CERT PIP_PROXY AWS_CA_BUNDLE GIT_SSL_CAINFO
	SSLKEYLOGFILE RES_OPTIONS HOSTALIASES`)

// nodeLoads are the options in NODE_OPTIONS that load code or open a debugger
// (node(1)); others, such as a memory limit, do neither.
var nodeLoads = pattern.New(`(^|\s)(-r|--require|--import|--loader|--experimental-loader|--inspect|--env-file|--openssl-config)`)

// baseURLs move a well-known client to another host, with its credentials.
var baseURLs = pattern.New(`^(OPENAI|ANTHROPIC|GITHUB|GITLAB|AWS|AZURE|GOOGLE|GEMINI|MISTRAL|COHERE|HF|SLACK|JIRA|SENTRY|NOTION)(_[A-Z]+)*_(BASE_URL|API_BASE|API_URL|ENDPOINT_URL|ENDPOINT|HOST)$`)

// verifies and verifiesNot are how programs call their own switch for checking
// certificates.
var (
	verifies    = pattern.New(`(^|_)(SSL_VERIFY|VERIFY_SSL|TLS_VERIFY|VERIFY_TLS|VERIFY_CERTS?|STRICT_SSL)$`)
	verifiesNot = pattern.New(`(^|_)(INSECURE|SKIP_VERIFY|INSECURE_SKIP_VERIFY|TLS_INSECURE|IGNORE_SSL|SKIP_TLS_VERIFY|DISABLE_SSL|NO_VERIFY)$`)
	falseWords  = set("0 false no off none")
	trueWords   = set("1 true yes on")
)

// tlsOff switch verification off, by these values.
var tlsOff = map[string]map[string]bool{
	"NODE_TLS_REJECT_UNAUTHORIZED": set("0"),
	"PYTHONHTTPSVERIFY":            set("0"),
	"GIT_SSL_NO_VERIFY":            set("1 true yes on"),
	"NPM_CONFIG_STRICT_SSL":        set("false 0"),
	"SSL_VERIFY":                   set("false 0 no"),
	"VERIFY_SSL":                   set("false 0 no"),
	"CURL_INSECURE":                set("1 true"),
	"PIP_TRUSTED_HOST":             nil,
	"UV_INSECURE_HOST":             nil,
	"DENO_TLS_CA_STORE":            nil,
}

func upper(list string) map[string]bool { return set(strings.ToUpper(list)) }

// judgeEnv: variables by what their names do to the process.
func judgeEnv(v *verdicts, before, after *view, args []argPair) {
	for _, p := range pairEntries(entriesOf(before, false), after.env) {
		if p.after == nil || !p.changed() {
			continue
		}
		field := redact.Shown("env.") + p.after.shown
		if p.before == nil && before != nil {
			v.add("new-env", Medium, field)
		}
		judgeEnvName(v, field, p.after.name, p.after.value)
	}
	for _, p := range args {
		if p.after != nil && p.after.kind == argEnvPair && (p.before == nil || p.before.raw != p.after.raw) {
			judgeEnvName(v, argField(p.j, p.after), p.after.name, p.after.value)
		}
	}
}

func judgeEnvName(v *verdicts, field redact.Shown, name, value string) {
	name = strings.ToUpper(name)
	if injectionEnv[name] || name == "NODE_OPTIONS" && nodeLoads.MatchString(value) {
		v.add("code-injection-env", Critical, field)
	}
	if interceptEnv[name] || baseURLs.MatchString(name) {
		v.add("traffic-interception-env", High, field)
	}
	lower := strings.ToLower(value)
	values, known := tlsOff[name]
	switch {
	case known && (values == nil && value != "" || values[lower]),
		!known && verifies.MatchString(name) && falseWords[lower],
		!known && verifiesNot.MatchString(name) && trueWords[lower]:
		v.add("tls-verification-off", High, field)
	}
}
