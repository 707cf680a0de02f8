#!/bin/sh
# etcd.sh put: a server of one member stores three keys, each of which is then named in the file said.
# etcd.sh check: a server that starts with the files has all keys that are named there.
bin=$(dirname "$0")/bin
client=127.0.0.1:23790 peer=127.0.0.1:23800
"$bin/etcd" --data-dir data --listen-client-urls http://$client --advertise-client-urls http://$client \
	--listen-peer-urls http://$peer --initial-advertise-peer-urls http://$peer --initial-cluster default=http://$peer \
	--heartbeat-interval 10 --election-timeout 100 --log-level error &
trap 'kill -9 $!; wait' EXIT
ctl() { "$bin/etcdctl" --endpoints $client --command-timeout 20s "$@"; }
until ctl --command-timeout 300ms get up >/dev/null 2>&1; do
	kill -0 $! || exit 1
done
case $1 in
put)
	for i in 1 2 3; do
		ctl put k$i v$i && echo $i >>said || exit 1
	done ;;
check)
	for i in $(cat said); do
		ctl get --print-value-only k$i | grep -qx v$i || exit 2
	done ;;
esac
