# What the systems that speak HTTP have in common.

# request CODES ARG...: curl; answer is what came, and the code must be one of CODES.
request() {
	local code
	code=$(curl -s -m 5 -o /tmp/answer.$$ -w '%{http_code}' "${@:2}")
	case $? in
	0) ;;
	6 | 7) return 1 ;; # no name, no connection
	*) return 2 ;;
	esac
	answer=$(cat /tmp/answer.$$)
	[[ " $1 " == *" $code "* ]] || return 2
}
