#!/bin/sh
# look.sh: whether the database is whole and has all that was promised.
[ "$(sqlite3 db "pragma integrity_check")" = ok ] || exit 1
for i in $ARIADNE_PROMISES; do
	[ "$(sqlite3 db "select a from t where a = $i")" = "$i" ] || exit 1
done
