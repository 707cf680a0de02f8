#!/bin/bash
# Background jobs, wait, kill, traps, process substitution.
# guest: needs bash
sleep 0.05 & a=$!
(sleep 0.01; exit 3) & b=$!
wait $b; echo "b $?"
wait $a; echo "a $?"
sleep 100 & c=$!
kill $c
wait $c; echo "killed $?"
trap 'echo trapped' USR1
kill -USR1 $$
trap 'echo leaving' EXIT
diff <(printf 'a\nb\n') <(printf 'a\nc\n')
cat < <(echo substituted)
for i in 3 1 2; do (sleep 0.$((i * 2)); echo "job $i") & done
wait
coproc tr a-z A-Z
echo shout >&${COPROC[1]}
eval "exec ${COPROC[1]}>&-"
cat <&${COPROC[0]}
timeout 0.05 sleep 100; echo "timeout $?"
wait 999999 2>/dev/null; echo "wait $?"
exit 6
