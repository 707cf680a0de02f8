#!/bin/sh
# Choices of a search, and the first of them where nobody searches.
choose() {
	[ -c /dev/ariadne ] || { echo 0; return; }
	{ echo "choose $1" >&3; read -r c <&3; echo "$c"; } 3<>/dev/ariadne
}
faults() { [ ! -c /dev/ariadne ] || echo "fault $1" >/dev/ariadne; }
faults off
echo "$(choose 3) $(choose 2)"
faults on
for i in 1 2 3; do choose 4; done | sort | uniq -c | tr -s ' '
