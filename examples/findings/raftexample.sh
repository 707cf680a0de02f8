# raftexample of etcd, by HTTP: a write is acknowledged when it is proposed, and a read is the member's own.
. /spec/http.sh
servers=(n1 n2 n3)
prepare() { get "$1" >/dev/null; }
put() { request "200 204" -X PUT -d "$2" "http://$1:12380/x"; }
get() {
	request "200 404" "http://$1:12380/x" || return 1
	[[ $answer == Failed* ]] || echo "$answer"
}
