#!/bin/sh
# newer-git.sh: build the Git of a newer Debian than this one, from its source, and
# print the directory of its programs, for tests that need what this system's Git
# does not have (refs in tables, hooks of symbolic updates).
#
# EVOLVE_GIT_SUITE is that Debian's code name (trixie). Its source comes by apt,
# from where this system's own packages come, and with the same signatures; it is
# kept in EVOLVE_GIT_CACHE, else XDG_CACHE_HOME/evolve-git, else ~/.cache/evolve-git,
# for root /var/cache/evolve-git (tests also run it as other users), one directory
# for each version. Needs apt-get, make, a C compiler, xz, and the
# headers of zlib and libcurl; nothing is installed.
set -eu
fail() { printf 'newer-git: %s\n' "$1" >&2; exit 1; }

suite=${EVOLVE_GIT_SUITE:-trixie}
missing=
for program in apt-get make cc tar xz; do
	command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
done
for header in zlib.h curl/curl.h; do
	printf '#include <%s>\n' "$header" | cc -E - >/dev/null 2>&1 || missing="$missing $header"
done
[ -z "$missing" ] || fail "missing:$missing; on Debian: apt-get install gcc make xz-utils zlib1g-dev libcurl4-openssl-dev"

# Where this system's own packages come from.
mirror=
for file in /etc/apt/sources.list.d/*.sources /etc/apt/sources.list; do
	[ -f "$file" ] || continue
	mirror=$(sed -n 's/^URIs: *\(.*\/debian\)\/*$/\1/p; s/^deb \(\[[^]]*\] \)*\([^ ]*\/debian\)\/* .*/\2/p' "$file" | head -n 1)
	[ -z "$mirror" ] || break
done
[ -n "$mirror" ] || fail "this system's apt has no Debian to get a source from"

cache=${EVOLVE_GIT_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/evolve-git}
[ -n "${EVOLVE_GIT_CACHE:-}" ] || [ "$(id -u)" -ne 0 ] || cache=/var/cache/evolve-git
mkdir -p "$cache"
new=$(mktemp -d "$cache/new-XXXXXX")
trap 'rm -rf "$new"' EXIT
trap 'exit 130' INT TERM
mkdir -p "$new/lists/partial" "$new/archives/partial"
printf 'deb-src %s %s main\n' "$mirror" "$suite" >"$new/sources.list"
apt() {
	apt-get -q -o "Dir::Etc::sourcelist=$new/sources.list" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::Lists=$new/lists" \
		-o "Dir::Cache=$new" -o APT::Sandbox::User=root "$@" >&2
}
apt update || fail "the list of $suite's sources cannot be had from where this system's packages come"
(cd "$new" && apt source --download-only git) || fail "git's source cannot be had from where this system's packages come"
source=$(cd "$new" && ls git_*.orig.tar.xz)
version=${source#git_}
version=${version%.orig.tar.xz}
dir=$cache/$version
if [ ! -f "$dir/.complete" ]; then
	tar -C "$new" -xf "$new/$source"
	# Without what no test needs: translations, Tcl, Perl, Python, Rust, WebDAV.
	make -s -C "$new/git-$version" -j"$(nproc)" prefix="$dir" CFLAGS=-O1 NO_GETTEXT=1 NO_TCLTK=1 NO_PERL=1 NO_PYTHON=1 NO_RUST=1 \
		NO_EXPAT=1 NO_OPENSSL=1 NO_INSTALL_HARDLINKS=1 all install >"$new/log" 2>&1 ||
		fail "git $version does not build: $(tail -n 1 "$new/log")"
	: >"$dir/.complete"
fi
printf '%s\n' "$dir/bin"
