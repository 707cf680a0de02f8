# Functions of the fetch scripts. A fetch script brings what its example needs
# from Debian packages and Go modules, by name; what it builds goes to bin/
# beside it. Run it again at any time: what is there already stays.
set -eu
cd "$(dirname "$0")"
mkdir -p bin

# as_root runs a command as root.
as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# install_packages installs the Debian packages that are missing. Their daemons
# must not start: the programs run under Ariadne, not on this machine.
install_packages() {
	missing=
	for p in "$@"; do
		dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
	done
	[ -n "$missing" ] || return 0
	policy=/usr/sbin/policy-rc.d
	ours=
	if [ ! -e $policy ]; then
		ours=yes
		printf '#!/bin/sh\nexit 101\n' | as_root tee $policy >/dev/null
		as_root chmod +x $policy
	fi
	status=0
	as_root apt-get update -q && as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get install -q -y --no-install-recommends $missing || status=$?
	[ -z "$ours" ] || as_root rm -f $policy
	return $status
}

# other_release RELEASE COMMAND ARG...: runs apt-get for another Debian release,
# with lists and caches of its own, from the mirror that this machine uses.
other_release() {
	release=$1
	shift
	apt=$PWD/.fetch/$release
	if [ ! -e "$apt/ready" ]; then
		mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' | grep -v -- -security | head -n 1)
		[ -n "$mirror" ] || { echo "fetch: apt knows no mirror; run apt-get update first" >&2; return 1; }
		mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial"
		for type in deb deb-src; do
			echo "$type [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $release main"
		done >"$apt/sources.list"
		other_apt "$apt" update -q -o Acquire::Languages=none -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false
		touch "$apt/ready"
	fi
	other_apt "$apt" "$@"
}

# other_apt takes nothing for installed: of what is here in a later version apt would not find the other release's.
other_apt() {
	apt=$1
	shift
	: >"$apt/installed"
	apt-get -o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=- \
		-o "Dir::State=$apt/state" -o "Dir::State::status=$apt/installed" \
		-o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root "$@"
}

# build PROGRAM ARG...: builds a Go program, with the arguments of go build. Where the program is up
# to date its file and its directory stay as they are: a check may be running it.
build() {
	out=$1
	shift
	new=$(mktemp)
	if CGO_ENABLED=0 go build -trimpath -buildvcs=false -o "$new" "$@"; then
		cmp -s "$new" "$out" || { cp "$new" "$out.$$" && chmod 755 "$out.$$" && mv -f "$out.$$" "$out"; }
		rm -f "$new"
	else
		rm -f "$new"
		return 1
	fi
}

# build_module MODULE@VERSION PACKAGE PROGRAM: builds a Go program from its
# module, inside a module of ours, so that the module's own replacements and
# newer versions of what it needs do not matter.
build_module() {
	[ -x "bin/$3" ] && [ "$(cat ".fetch/$3.version" 2>/dev/null)" = "$1" ] && return 0
	work=.fetch/$3
	rm -rf "$work"
	mkdir -p "$work"
	printf 'package tools\n\nimport _ "%s"\n' "$2" >"$work/tools.go"
	(
		cd "$work"
		go mod init fetch 2>/dev/null
		go get "$1"
		CGO_ENABLED=0 go build -trimpath -mod=mod -o "../../bin/$3" "$2"
	)
	echo "$1" >".fetch/$3.version"
}

# build_copy MODULE@VERSION PACKAGE PROGRAM: builds ./PACKAGE in a copy of the module, with the
# versions and replacements that its own go.mod names.
build_copy() {
	[ -x "bin/$3" ] && [ "$(cat ".fetch/$3.version" 2>/dev/null)" = "$1" ] && return 0
	work=.fetch/${1%@*}
	if [ ! -e "$work/$1" ]; then
		rm -rf "$work"
		mkdir -p "$work/$1"
		dir=$(cd "$work" && go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
		cp -r "$dir/." "$work/$1"
		chmod -R u+w "$work"
	fi
	out=$PWD/bin/$3
	(cd "$work/$1" && go build -trimpath -buildvcs=false -mod=mod -o "$out" "./$2")
	echo "$1" >".fetch/$3.version"
}
