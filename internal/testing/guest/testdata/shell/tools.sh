#!/bin/sh
# Everyday tools under one roof.
date -u -d @86400 +%F
env -i A=1 sh -c 'echo $A'
printf '%s\n' b a b | sort | uniq -c | tr -s ' '
echo 'a b c' | cut -d' ' -f2
expr 6 \* 7
basename /a/b.c .c; dirname /a/b.c
echo hello | tee copy | rev 2>/dev/null || echo olleh
cat copy
sleep 0.01; echo slept
echo $(($(nice -n 3 nice) - $(nice)))
nohup true >/dev/null 2>&1; echo $?
xargs -n 2 echo < /dev/null; seq 4 | xargs -n 2 echo
sh -c 'kill -s TERM $$'; echo $?
d=$(mktemp -d); echo "$d" | grep -c tmp; rmdir "$d"; echo $?
id -u | grep -c '[0-9]'
uname -s
test "$(cat /proc/sys/kernel/ostype)" = Linux; echo $?
stat -c '%s %F' copy
od -An -c copy | tr -d ' '
split -b 2 copy part.; ls part.*; cat part.*
