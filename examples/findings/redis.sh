# Redis, a primary: the protocol by hand, since redis-cli sends a command again when its connection ends.
servers=(n1)
# say NODE WORDS: answer is the first line that comes.
say() {
	{ exec 3<>"/dev/tcp/$1/6379"; } 2>/dev/null || return 1
	printf '%s\r\n' "${*:2}" >&3
	if ! read -r -t 5 answer <&3; then
		exec 3>&-
		return 2
	fi
	answer=${answer%$'\r'}
	[[ $answer != '$'[0-9]* ]] || { read -r -t 5 answer <&3 || answer=-; answer=${answer%$'\r'}; }
	exec 3>&-
	[[ $answer != -* ]] || return 1
}
prepare() { say "$1" PING; }
put() { say "$1" SET x "$2"; }
get() {
	say "$1" GET x || return 1
	[ "$answer" = '$-1' ] && answer=
	echo "$answer"
}
