#!/bin/sh
# agent.sh NUMBER [OPTION...]: a process with an agent that watches it.
i=$1
shift
/spec/bin/baton -id "$i" "$@" &
exec /spec/bin/ariadne agent /spec/baton.yaml --log nats://w1:4222 --node "n$i"
