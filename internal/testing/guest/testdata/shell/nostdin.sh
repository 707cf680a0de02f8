#!/bin/sh
# Standard input that nobody has given is /dev/null, as services and containers have it.
readlink /proc/self/fd/0
stat -L -c '%F %t:%T' /proc/self/fd/0
cat; echo "read $?"
(echo x >&0) 2>/dev/null; echo "written $?"
cat </proc/self/fd/0; echo "opened again $?"
