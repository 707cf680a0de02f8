#!/bin/sh
# Pipelines of several programs, and their statuses.
seq 1 100 | grep 7 | sort -rn | head -3
printf 'b\na\nc\n' | sort | tr a-z A-Z | paste -sd,
echo one two three | wc -w | tr -d ' '
seq 1 100000 | tail -1
yes | head -2
false | true; echo "status $?"
true | false; echo "status $?"
! true; echo "status $?"
(echo sub; exit 4); echo "status $?"
{ echo out; echo err >&2; } 2>&1 | sort
cat <<END | sed 's/line/LINE/'
first line
second line
END
echo "sum $(seq 1 10 | awk '{s += $1} END {print s}')"
find . -type f | wc -l | tr -d ' '
