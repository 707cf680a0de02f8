# Functions of the clients.
set -u

# retry COMMAND...: runs it until it succeeds. It does not give up: a message that is
# delayed may come later than anybody's patience, and that is nobody's mistake.
retry() {
	until "$@"; do
		sleep 0.2
	done
}

# ok ANSWER COMMAND...: whether the command prints just that answer.
ok() {
	expected=$1
	shift
	[ "$("$@" 2>/dev/null)" = "$expected" ]
}
