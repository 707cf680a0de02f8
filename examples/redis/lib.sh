# Functions of the clients.
set -u

# retry COMMAND...: runs it until it succeeds, for at most 30 seconds.
retry() {
	tries=150
	until "$@"; do
		tries=$((tries - 1))
		if [ $tries = 0 ]; then
			echo "gave up: $*" >&2
			exit 1
		fi
		sleep 0.2
	done
}

# ok ANSWER COMMAND...: whether the command prints just that answer.
ok() {
	expected=$1
	shift
	[ "$("$@" 2>/dev/null)" = "$expected" ]
}
