#!/bin/sh
# make check: everything that must hold besides the tests' plain run.
# Prints one line per check, and stops at the first that fails.
set -eu
cd "$(dirname "$0")/.."

step() { printf '== %s\n' "$1"; }
fail() { printf 'check failed: %s\n' "$1" >&2; exit 1; }

tool() { # tool NAME MODULE VERSION: the path of a pinned tool, built once
	path="$TOOLS/$1-$3"
	if [ ! -x "$path" ]; then
		mkdir -p "$TOOLS"
		GOFLAGS='' GOBIN="$TOOLS" go install "$2@$3" >&2 || return 1
		mv "$TOOLS/$1" "$path"
	fi
	printf '%s\n' "$path"
}

step format
unformatted=$(gofmt -l $(git ls-files '*.go'))
[ -z "$unformatted" ] || fail "gofmt: $unformatted"

step modules
go mod tidy -diff >/dev/null || fail "go.mod or go.sum is not tidy: go mod tidy"

step vet
go vet ./...
go vet -tags "servers soak bench" ./...
GOOS=windows go vet ./cmd/... || fail "vet for windows"

step lint
lint=$(tool golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint "$GOLANGCI_VERSION") || fail "golangci-lint cannot be built"
# A cache of this checkout's own: results that name files of another one, which may
# be gone, cannot be held against their nolint comments.
GOLANGCI_LINT_CACHE="$TOOLS/lint-cache" "$lint" run ./...

step 'race, import law, docs drift, fuzz seeds'
# The import law (internal/law), the documentation's drift tests (cmd/evolve)
# and the seeds of every fuzz target run as ordinary tests, here under the race
# detector. The stories start a process for every line; make test runs them.
CGO_ENABLED=1 go test -race -skip "^TestStories$" ./...

step 'cross builds'
make -s cross

step vulnerabilities
vuln=$(tool govulncheck golang.org/x/vuln/cmd/govulncheck "$GOVULNCHECK_VERSION") || fail "govulncheck cannot be built"
if out=$("$vuln" ./... 2>&1); then
	printf '%s\n' "$out" | tail -1
elif printf '%s' "$out" | grep -q 'Vulnerability #'; then
	printf '%s\n' "$out"
	fail "known vulnerabilities"
else
	echo 'known vulnerabilities: not checked (the database cannot be reached)'
fi
echo 'check: all good'
