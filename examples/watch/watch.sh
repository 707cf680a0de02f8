#!/bin/sh
# watch.sh NUMBER [TIME]: the first process has the log, and the second one joins.
case $1 in
1) exec /spec/bin/ariadne watch /spec/baton.yaml --listen 0.0.0.0:4222 --time "${2:-5s}" ;;
*) exec /spec/bin/ariadne watch /spec/baton.yaml --log nats://w1:4222 ;;
esac
