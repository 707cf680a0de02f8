#!/bin/sh
# count.sh N: increments a counter N times, reads it, and says what was asked and answered.
ask() {
	echo "$1 x"
	# Without a whole answer nobody knows what came of it.
	if got=$(redis-cli -h server "$1" x 2>&1); then
		case ${got:-0} in *[!0-9]*) ;; *) echo "ok ${got:-0}" && return ;; esac
	fi
	sleep 1
}

for i in $(seq "$1"); do
	ask incr
done
ask get
