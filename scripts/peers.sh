#!/bin/sh
# peers.sh [servers|clients]: install the real MCP servers that the tests behind
# the build tag servers run, or the clients that docs/benchmarks.md measures, at
# the exact versions of testdata/SET/package-lock.json, and print their directory.
#
# They go into a cache: EVOLVE_PEERS_CACHE, else XDG_CACHE_HOME/evolve-peers, else
# ~/.cache/evolve-peers; one directory for each lock file, shared by everything
# that runs them and never changed once it is there. No package's own scripts are
# run. Needs node 20 or newer and npm.
set -eu
cd "$(dirname "$0")/.."
fail() { printf 'peers: %s\n' "$1" >&2; exit 1; }

set=${1:-servers}
lock=testdata/$set/package-lock.json
[ -f "$lock" ] || fail "there is no set of peers called $set (servers, clients)"
missing=
for program in node npm; do
	command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
done
[ -z "$missing" ] || fail "missing:$missing; install node 20 or newer, which has both"
major=$(node -p 'process.versions.node.split(".")[0]')
[ "$major" -ge 20 ] || fail "node $(node --version) is too old: the servers need node 20 or newer"

cache=${EVOLVE_PEERS_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/evolve-peers}
key=$(cksum <"$lock" | tr ' ' '-')
dir=$cache/$set-$key
if [ ! -f "$dir/.complete" ]; then
	mkdir -p "$cache"
	new=$(mktemp -d "$cache/new-XXXXXX")
	trap 'rm -rf "$new"' EXIT
	trap 'exit 130' INT TERM
	cp "testdata/$set/package.json" "$lock" "$new/"
	(cd "$new" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2) ||
		fail "the registry that npm is configured with does not give the packages of testdata/$set/package-lock.json"
	: >"$new/.complete"
	# Whoever comes second keeps what is there.
	[ -d "$dir" ] || mv "$new" "$dir"
fi
printf '%s\n' "$dir"
