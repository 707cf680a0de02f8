# ovsdb-server, clustered, by ovsdb-client. A read may be stale where a server does not lead.
servers=(n1 n2 n3)
transact() { ovsdb-client --timeout=5 transact "tcp:10.0.0.${1#n}:6641" "[\"greetings\", $2]" 2>/dev/null; }
prepare() {
	local got
	got=$(transact "$1" '{"op": "select", "table": "greeting", "where": []}') || return 1
	[[ $got == *rows* ]] || return 1
}
put() {
	local got
	got=$(transact "$1" '{"op": "delete", "table": "greeting", "where": []}, {"op": "insert", "table": "greeting", "row": {"text": "'"$2"'"}}') || return 2
	[[ $got == *uuid* ]] || return 2
}
get() {
	local got
	got=$(transact "$1" '{"op": "select", "table": "greeting", "where": [], "columns": ["text"]}') || return 1
	[[ $got == *rows* ]] || return 1
	[[ ! $got =~ \"text\":\"([^\"]*)\" ]] || echo "${BASH_REMATCH[1]}"
}
