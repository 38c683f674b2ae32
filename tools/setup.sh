# setup.sh - what the tools need, installed where that is possible
# shellcheck shell=sh
#
# Sourced by tools/demo and tools/check. On Debian and Ubuntu the missing
# packages are installed by apt-get; elsewhere they are named, and the tools
# go on where the compiler and the libraries are there already. With
# everything in place nothing is fetched.

SETUP_BUILD="make gcc libc6-dev pkg-config libsqlite3-dev libseccomp-dev
libcjson-dev libssl-dev"
SETUP_TEST="libcmocka-dev sqlite3 python3 strace util-linux mandoc git
libdbd-sqlite3-perl php-cli php-sqlite3 btrfs-progs xfsprogs"

setup_say() {
	printf '%s\n' "$*" >&2
}

setup_missing_packages() {
	for p in "$@"; do
		case $(dpkg-query -W -f '${Status}' "$p" 2>/dev/null) in
		*" installed") ;;
		*) printf '%s ' "$p" ;;
		esac
	done
}

setup_as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

setup_debian() {
	missing=$(setup_missing_packages "$@")
	[ -n "$missing" ] || return 0
	if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null 2>&1; then
		setup_say "setup: installing needs root and there is no sudo;" \
			"run as root: apt-get install $missing"
		return 1
	fi
	setup_say "setup: installing $missing"
	# A list of packages that was never fetched is the usual reason for
	# a first failure.
	# shellcheck disable=SC2086
	DEBIAN_FRONTEND=noninteractive setup_as_root \
		apt-get install -y -qq --no-install-recommends $missing \
		>/dev/null 2>&1 && return 0
	setup_as_root apt-get update -qq >&2 || return 1
	# shellcheck disable=SC2086
	DEBIAN_FRONTEND=noninteractive setup_as_root \
		apt-get install -y -qq --no-install-recommends $missing >&2
}

# Names the packages of another system, once, where something is missing.
setup_name_packages() {
	like=$(. /etc/os-release 2>/dev/null; echo "${ID-} ${ID_LIKE-}")
	case $like in
	*fedora* | *rhel* | *suse*)
		setup_say "setup: on Fedora:" \
			"dnf install make gcc pkgconf-pkg-config sqlite-devel" \
			"libseccomp-devel cjson-devel openssl-devel" \
			"libcmocka-devel sqlite python3 strace mandoc git" ;;
	*arch*)
		setup_say "setup: on Arch:" \
			"pacman -S make gcc pkgconf sqlite libseccomp cjson" \
			"openssl cmocka python strace mandoc git" ;;
	*alpine*)
		setup_say "setup: on Alpine:" \
			"apk add make gcc musl-dev linux-headers pkgconf" \
			"sqlite-dev libseccomp-dev cjson-dev openssl-dev" \
			"cmocka-dev sqlite python3 strace mandoc git" ;;
	*)
		setup_say "setup: needed: make, a C compiler, pkg-config and" \
			"the development files of SQLite, libseccomp, cJSON," \
			"OpenSSL and cmocka; python3, the sqlite3 command" \
			"and strace for the tests" ;;
	esac
}

setup_need_command() {
	command -v "$1" >/dev/null 2>&1 || lacking="$lacking $1"
}

setup_need_library() {
	"${PKG_CONFIG:-pkg-config}" --exists "$1" 2>/dev/null ||
		lacking="$lacking $1"
}

# setup_tools build|test: 0, or 1 with a sentence that says what is lacking.
setup_tools() {
	case $1 in
	test) wanted="$SETUP_BUILD $SETUP_TEST" ;;
	*) wanted="$SETUP_BUILD python3" ;;
	esac
	if command -v dpkg-query >/dev/null 2>&1 &&
	   command -v apt-get >/dev/null 2>&1; then
		# shellcheck disable=SC2086
		setup_debian $wanted ||
			setup_say "setup: not installed; going on with what" \
				"is there"
	fi
	lacking=
	for c in make "${CC:-cc}" "${PKG_CONFIG:-pkg-config}" python3; do
		setup_need_command "$c"
	done
	for l in sqlite3 libseccomp libcjson libcrypto; do
		setup_need_library "$l"
	done
	if [ "$1" = test ]; then
		setup_need_library cmocka
		setup_need_command sqlite3
	fi
	[ -z "$lacking" ] && return 0
	setup_name_packages
	setup_say "setup: still missing:$lacking"
	return 1
}
