# The server on libraft, by its own protocol: a number that only grows, so there is one client.
servers=(n1 n2 n3)
say() {
	{ exec 3<>"/dev/tcp/$1/8000"; } 2>/dev/null || return 1
	echo "${*:2}" >&3
	if ! read -r -t 5 answer <&3; then
		exec 3>&-
		return 2
	fi
	exec 3>&-
	case $answer in
	ok*) answer=${answer#ok} answer=${answer# } ;;
	moved*) return 1 ;;
	*) return 2 ;;
	esac
}
prepare() { say "$1" get; }
put() { say "$1" set "${2#c1.}"; }
get() {
	say "$1" get || return 1
	if [ "$answer" = 0 ]; then echo; else echo "c1.$answer"; fi
}
