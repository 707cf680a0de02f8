# rqlite, by HTTP; reads go through the log.
. /spec/http.sh
servers=(n1 n2 n3)
sql() {
	request 200 -H 'Content-Type: application/json' -d "[\"$3\"]" "http://$1:4001/db/$2" || return
	[[ $answer != *'"error"'* ]] || return 2
}
prepare() { sql "$1" execute 'CREATE TABLE IF NOT EXISTS r (id INTEGER PRIMARY KEY, v TEXT)' || return 1; }
put() { sql "$1" execute "INSERT OR REPLACE INTO r VALUES (1, '$2')"; }
get() {
	sql "$1" 'query?level=strong' 'SELECT v FROM r' || return 1
	[[ $answer =~ \"values\":\[\[\"([^\"]*)\"\]\] ]] && echo "${BASH_REMATCH[1]}"
	return 0
}
