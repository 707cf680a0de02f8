# The key-value store on dragonboat, by HTTP; reads are linearizable.
. /spec/http.sh
servers=(n1 n2 n3)
prepare() { get "$1" >/dev/null; }
put() { request "200 204" -X PUT -d "$2" "http://$1:8000/x"; }
get() {
	request "200 404" "http://$1:8000/x" || return 1
	echo "$answer"
}
