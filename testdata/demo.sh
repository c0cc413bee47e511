#!/bin/sh
# make demo: the main job of evolve on a repository made from
# testdata/repos/agents.txtar. Every step's exit status is checked; the demo
# fails if evolve does not do what is said.
set -eu
evolve=${1:?usage: testdata/demo.sh PATH-TO-EVOLVE}
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
export HOME="$work/home" GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE 2>/dev/null || true
mkdir "$HOME"

say() { printf '\n# %s\n' "$*"; }

# run WANTED-STATUS COMMAND...: shows the command, runs it, checks its status.
run() {
	want=$1
	shift
	shift # the program's path, shown as its name
	printf '$ evolve'
	printf ' %s' "$@" | sed 's/mcp-review:\([0-9a-f]\{8\}\)[0-9a-f]*/mcp-review:\1.../'
	printf '\n'
	status=0
	"$evolve" "$@" || status=$?
	if [ "$status" -ne "$want" ]; then
		printf 'demo failed: exit status %s, wanted %s\n' "$status" "$want" >&2
		exit 1
	fi
	printf '(exit status %s)\n' "$status"
}

go run "$source/internal/gitrepo/gittest/mkrepo" "$source/testdata/repos/agents.txtar" "$work/repo"
cd "$work/repo"
git config user.name 'Ada Example'
git config user.email ada@example.com

say 'live is what the agent runs; main wants to change it. What does that mean?'
run 0 evolve diff live main~1

say 'Without a review token, live does not move.'
run 4 evolve promote main~1 --ref live --approve

say 'After a fix-up the rest looks right. A reviewer accepts it and gets a token.'
run 0 evolve review main --ref live --approve --reason 'tickets moved' >"$work/review.out"
cat "$work/review.out"
token=$(tail -n 2 "$work/review.out" | head -n 1)

say 'The token is bound to that content: one more byte, and it is stale.'
sed -i.bak 's/tickets-cdn/tickets-edge/' agent/mcp/tickets.yaml && rm -f agent/mcp/tickets.yaml.bak
git commit -q -a -m 'One more change'
run 4 evolve promote main --ref live --token "$token" --approve

say 'For what was reviewed, live moves.'
run 0 evolve promote main~1 --ref live --token "$token" --approve
before=$(git rev-parse live)
test "$before" = "$(git rev-parse main~1)"

say 'A token works once. Undo the change with a reviewed move, and it is spent.'
git switch -q --detach live
git revert --no-edit HEAD~1 HEAD >/dev/null 2>&1
undo=$(git rev-parse HEAD)
run 0 evolve review "$undo" --ref live --approve --reason 'back again' >"$work/undo.out"
run 0 evolve promote "$undo" --ref live --approve --token "$(tail -n 2 "$work/undo.out" | head -n 1)"
git revert --no-edit HEAD HEAD~1 >/dev/null 2>&1
run 4 evolve promote HEAD --ref live --token "$token" --approve
test "$(git rev-parse live)" = "$undo"
say 'Done: live moved twice, each time reviewed.'
