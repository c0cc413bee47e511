#!/bin/sh
# Run every fuzz target for the given time each. Findings stay in the package's
# testdata/fuzz as seeds.
set -eu
cd "$(dirname "$0")/.."
time=${1:?usage: scripts/fuzz.sh TIME}
grep -rlE '^func Fuzz' --include='*_test.go' . | while read -r file; do
	package=$(dirname "$file")
	sed -nE 's/^func (Fuzz[A-Za-z0-9_]+)\(.*/\1/p' "$file" | while read -r target; do
		printf '== %s %s\n' "$package" "$target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package" </dev/null
	done
done
