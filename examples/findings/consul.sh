# consul, by HTTP; reads are consistent.
. /spec/http.sh
servers=(n1 n2 n3)
prepare() { get "$1" >/dev/null; }
put() { request 200 -X PUT -d "$2" "http://$1:8500/v1/kv/x" && [ "$answer" = true ] || return 2; }
get() {
	request "200 404" "http://$1:8500/v1/kv/x?raw&consistent" || return 1
	echo "$answer"
}
