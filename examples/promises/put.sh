#!/bin/sh
# put.sh MODE: puts three rows into a database, one transaction each, and promises each once it is committed.
tell() { [ ! -c /dev/ariadne ] || echo "$1" >/dev/ariadne; }
sqlite3 db "create table t(a)"
for i in 1 2 3; do
	sqlite3 db "pragma synchronous=$1; insert into t values($i)" && tell "promise $i"
	sleep 1
done
