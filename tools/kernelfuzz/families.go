package main

// A callFamily is calls that belong together.
type callFamily struct {
	name  string
	begin []string // made first
	// templates; several calls are parted by "; ", and may begin with who makes them
	calls   []string
	with    []string // families that are mixed in
	forks   bool     // there may be several processes
	threads bool     // or several threads
	two     bool     // on two machines
}

// choices are the values of the templates' names. Descriptor variables are divided: 0 to 2 files,
// 3 to 5 pipes, 6 to 8 events, 9 to 13 sockets, 14 and 15 ids of System V.
var choices = map[string][]string{
	"file": {"$0", "$1", "$2"},
	"pipe": {"$3", "$4", "$5"},
	"ev":   {"$6", "$7", "$8"},
	"sock": {"$9", "$10", "$11", "$12", "$13"},
	"fd":   {"$0", "$1", "$3", "$4", "$6", "$7", "$9", "$10", "$11", "99", "-1"},

	"n":    {"0", "1", "2", "3", "5", "8", "10", "64", "100", "1000", "4096", "5000", "65536", "100000"},
	"few":  {"0", "1", "2", "3", "5", "8", "10", "64", "100", "1000"},
	"n1":   {"1", "5", "100", "4096", "100000"},
	"some": {"1", "2", "3", "5", "8", "10", "64", "100", "1000"},
	"off":  {"0", "0", "1", "5", "100", "4095", "4096", "8192", "-1", "-5"},
	"path": {"a", "a", "b", "b", "d", "d/a", "d/b", "l", "a/x", "d/..", ".", "", "no/a", "d/d", "a/"},
	"mode": {"0644", "0600", "0777", "0", "0400", "04755", "02755", "01777"},
	"open": {"O_RDONLY", "O_WRONLY", "O_RDWR", "O_RDWR|O_CREAT", "O_RDWR|O_CREAT", "O_WRONLY|O_CREAT|O_EXCL", "O_RDWR|O_TRUNC", "O_RDWR|O_APPEND|O_CREAT", "O_PATH", "O_RDONLY|O_DIRECTORY", "O_RDONLY|O_NOFOLLOW", "O_RDWR|O_CREAT|O_CLOEXEC", "O_RDWR|O_CREAT|O_TRUNC|O_APPEND", "O_PATH|O_NOFOLLOW", "O_RDWR|O_DIRECTORY", "O_WRONLY|O_TRUNC|O_CREAT"},
	"from": {"SEEK_SET", "SEEK_SET", "SEEK_CUR", "SEEK_END", "SEEK_DATA", "SEEK_HOLE", "9"},
	"falloc": {"0", "0", "FALLOC_FL_KEEP_SIZE", "FALLOC_FL_PUNCH_HOLE|FALLOC_FL_KEEP_SIZE", "FALLOC_FL_ZERO_RANGE", "FALLOC_FL_COLLAPSE_RANGE",
		"FALLOC_FL_INSERT_RANGE", "FALLOC_FL_ZERO_RANGE|FALLOC_FL_KEEP_SIZE", "FALLOC_FL_PUNCH_HOLE", "0x1000"},
	"access":  {"F_OK", "R_OK", "W_OK", "X_OK", "8"},
	"utime":   {"0", "5", "1000", "UTIME_NOW", "UTIME_OMIT"},
	"fcntl":   {"F_GETFD 0", "F_SETFD FD_CLOEXEC", "F_SETFD 0", "F_GETFL 0", "F_SETFL O_NONBLOCK", "F_SETFL 0", "F_SETFL O_APPEND", "F_GETOWN 0", "F_GETSIG 0", "F_GETPIPE_SZ 0", "F_SETPIPE_SZ 4096", "F_SETPIPE_SZ 8192", "F_SETPIPE_SZ 0", "F_SETPIPE_SZ 1", "F_GET_SEALS 0", "F_ADD_SEALS F_SEAL_WRITE", "F_ADD_SEALS F_SEAL_SHRINK", "F_ADD_SEALS F_SEAL_GROW|F_SEAL_SEAL", "F_SETFL O_NONBLOCK|O_APPEND", "F_SETFL O_DIRECT"},
	"nonblk":  {"0", "O_NONBLOCK", "O_NONBLOCK", "O_CLOEXEC", "O_NONBLOCK|O_CLOEXEC"},
	"pflags":  {"0", "O_NONBLOCK", "O_NONBLOCK", "O_CLOEXEC", "O_NONBLOCK|O_CLOEXEC", "O_DIRECT", "O_DIRECT|O_NONBLOCK"},
	"splice":  {"0", "SPLICE_F_NONBLOCK", "SPLICE_F_MOVE", "SPLICE_F_MORE|SPLICE_F_NONBLOCK", "64"},
	"clock":   {"CLOCK_REALTIME", "CLOCK_MONOTONIC", "CLOCK_BOOTTIME", "99"},
	"events":  {"EPOLLIN", "EPOLLOUT", "EPOLLIN|EPOLLOUT", "EPOLLIN|EPOLLET", "EPOLLIN|EPOLLOUT|EPOLLET", "EPOLLIN|EPOLLONESHOT", "EPOLLIN|EPOLLRDHUP", "0", "EPOLLIN|EPOLLEXCLUSIVE", "EPOLLOUT|EPOLLONESHOT|EPOLLET"},
	"poll":    {"POLLIN", "POLLOUT", "POLLIN|POLLOUT", "POLLIN|POLLRDHUP", "0", "POLLIN|POLLOUT|POLLPRI|POLLRDHUP"},
	"ctl":     {"EPOLL_CTL_ADD", "EPOLL_CTL_ADD", "EPOLL_CTL_MOD", "EPOLL_CTL_DEL", "9"},
	"utype":   {"SOCK_STREAM", "SOCK_STREAM", "SOCK_DGRAM", "SOCK_SEQPACKET", "SOCK_STREAM|SOCK_NONBLOCK", "SOCK_DGRAM|SOCK_NONBLOCK", "SOCK_SEQPACKET|SOCK_NONBLOCK", "SOCK_RAW"},
	"uaddr":   {"u:s", "u:s", "u:t", "@x", "@x", "@y", "u:", "none", "u:no/s", "u:a"},
	"iaddr":   {"i:1", "i:1", "i:2", "i:0", "a:1", "a:0", "a:2", "none"},
	"6addr":   {"6:1", "6:1", "6:3", "6:0", "6:2", "i:1", "none"},
	"idom":    {"AF_INET", "AF_INET", "AF_INET6"},
	"errsee":  {"getsockopt $10 SOL_SOCKET SO_ERROR", "send $10 5 0", "recv $10 5 MSG_DONTWAIT", "recv $10 5 MSG_ERRQUEUE|MSG_DONTWAIT", "sendto $10 5 0 B:1", "write $10 0"},
	"send":    {"MSG_NOSIGNAL", "MSG_NOSIGNAL", "MSG_NOSIGNAL|MSG_DONTWAIT", "MSG_NOSIGNAL|MSG_MORE", "MSG_NOSIGNAL|MSG_EOR", "0"},
	"usend":   {"MSG_NOSIGNAL", "MSG_NOSIGNAL", "MSG_NOSIGNAL|MSG_DONTWAIT", "MSG_NOSIGNAL|MSG_EOR", "0"},
	"recv":    {"0", "MSG_DONTWAIT", "MSG_DONTWAIT", "MSG_PEEK", "MSG_PEEK|MSG_DONTWAIT", "MSG_TRUNC", "MSG_WAITALL", "MSG_TRUNC|MSG_PEEK", "MSG_WAITALL|MSG_PEEK|MSG_DONTWAIT", "MSG_ERRQUEUE|MSG_DONTWAIT"},
	"how":     {"SHUT_RD", "SHUT_WR", "SHUT_RDWR", "3"},
	"backlog": {"0", "1", "5", "-1"},
	"opt":     {"SOL_SOCKET SO_TYPE", "SOL_SOCKET SO_ERROR", "SOL_SOCKET SO_ERROR", "SOL_SOCKET SO_ACCEPTCONN", "SOL_SOCKET SO_REUSEADDR", "SOL_SOCKET SO_RCVLOWAT", "SOL_SOCKET SO_DOMAIN", "SOL_SOCKET SO_PROTOCOL", "SOL_SOCKET SO_LINGER", "IPPROTO_TCP TCP_NODELAY", "IPPROTO_IPV6 IPV6_V6ONLY", "IPPROTO_IP IP_TTL"},
	"setopt":  {"SOL_SOCKET SO_REUSEADDR 1", "SOL_SOCKET SO_REUSEADDR 0", "SOL_SOCKET SO_RCVLOWAT 5", "SOL_SOCKET SO_RCVLOWAT 0", "SOL_SOCKET SO_LINGER 1 0", "SOL_SOCKET SO_TYPE 1", "IPPROTO_TCP TCP_NODELAY 1", "IPPROTO_IPV6 IPV6_V6ONLY 1", "SOL_SOCKET SO_KEEPALIVE 1", "IPPROTO_UDP UDP_CORK 1", "IPPROTO_UDP UDP_CORK 0"},

	"sig":    {"SIGUSR1", "SIGUSR2", "SIGTERM", "SIGCHLD", "SIGCONT", "SIGURG", "SIGWINCH", "SIGRT0", "SIGRT1", "SIGHUP", "SIGPIPE", "SIGIO", "0", "65", "SIGINT"},
	"stop":   {"SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGCONT", "SIGCONT", "SIGKILL"},
	"action": {"DFL", "IGN", "HANDLER", "HANDLER", "HANDLER"},
	"sa":     {"0", "SA_RESTART", "SA_NODEFER", "SA_RESETHAND", "SA_NOCLDSTOP", "SA_NOCLDWAIT", "SA_RESTART|SA_NODEFER"},
	"mask":   {"SIG_BLOCK", "SIG_BLOCK", "SIG_UNBLOCK", "SIG_SETMASK", "9"},
	"wait":   {"WNOHANG", "WNOHANG", "WNOHANG|WUNTRACED", "WNOHANG|WCONTINUED", "WNOHANG|WUNTRACED|WCONTINUED", "0", "WUNTRACED"},
	"waitid": {"WNOHANG|WEXITED", "WNOHANG|WSTOPPED", "WNOHANG|WCONTINUED", "WNOHANG|WEXITED|WNOWAIT", "WNOHANG|WEXITED|WSTOPPED|WCONTINUED", "WEXITED", "WNOHANG", "WSTOPPED|WNOWAIT|WNOHANG"},
	"who":    {"%0", "%1", "%2", "0", "-1", "99999"},
	"itimer": {"ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF", "9"},

	"flock": {"LOCK_SH|LOCK_NB", "LOCK_EX|LOCK_NB", "LOCK_UN", "LOCK_SH", "LOCK_EX", "LOCK_NB", "LOCK_SH|LOCK_EX"},
	"lkcmd": {"F_SETLK", "F_SETLK", "F_GETLK", "F_OFD_SETLK", "F_SETLKW"},
	"lktyp": {"F_RDLCK", "F_WRLCK", "F_UNLCK", "F_WRLCK", "9"},
	"small": {"0", "0", "1", "2", "5", "10", "-1", "-3"},

	"futex":  {"FUTEX_WAIT", "FUTEX_WAKE", "FUTEX_WAIT|FUTEX_PRIVATE_FLAG", "FUTEX_WAKE|FUTEX_PRIVATE_FLAG", "FUTEX_LOCK_PI", "FUTEX_UNLOCK_PI", "FUTEX_TRYLOCK_PI", "FUTEX_CMP_REQUEUE", "FUTEX_REQUEUE", "FUTEX_WAKE_OP", "99"},
	"region": {"0", "1", "2"},
	"len":    {"0", "1", "4096", "8192", "12288", "5000"},
	"at":     {"0", "0", "4096", "8192", "1", "-4096"},
	"spot":   {"0", "1", "4095", "4096", "8191", "8192", "12288"},
	"prot":   {"PROT_NONE", "PROT_READ", "PROT_READ|PROT_WRITE", "PROT_READ|PROT_WRITE", "PROT_READ|PROT_EXEC"},
	"map":    {"MAP_PRIVATE|MAP_ANONYMOUS", "MAP_SHARED|MAP_ANONYMOUS", "MAP_PRIVATE", "MAP_SHARED", "MAP_SHARED_VALIDATE", "0"},
	"madv":   {"MADV_DONTNEED", "MADV_WILLNEED", "MADV_NORMAL", "MADV_FREE", "99"},

	"prctl": {"PR_SET_NAME abc", "PR_GET_NAME 0", "PR_GET_PDEATHSIG 0", "PR_SET_PDEATHSIG 10", "PR_SET_PDEATHSIG 99", "PR_GET_DUMPABLE 0", "PR_SET_DUMPABLE 0", "PR_SET_DUMPABLE 1", "PR_SET_DUMPABLE 2", "PR_GET_NO_NEW_PRIVS 0", "PR_SET_NO_NEW_PRIVS 1", "PR_SET_NO_NEW_PRIVS 0", "PR_GET_KEEPCAPS 0", "PR_SET_KEEPCAPS 1", "PR_SET_KEEPCAPS 2", "PR_SET_CHILD_SUBREAPER 1", "PR_SET_CHILD_SUBREAPER 0", "PR_GET_CHILD_SUBREAPER 0"},
	"prio":  {"PRIO_PROCESS", "PRIO_PGRP", "9"},
	"nice":  {"0", "5", "19", "30", "1"},
	"sched": {"SCHED_OTHER 0", "SCHED_BATCH 0", "SCHED_IDLE 0", "SCHED_OTHER 1", "SCHED_FIFO 0", "99 0", "SCHED_BATCH -1"},
	"limit": {"RLIMIT_NOFILE", "RLIMIT_CORE", "RLIMIT_CPU", "RLIMIT_FSIZE", "99"},

	"remote":  {"A:1", "B:1", "B:1", "B:2", "C:1", "D:1", "D:2"},
	"listens": {"3 socket $9 AF_INET SOCK_STREAM 0; 3 bind $9 a:1; 3 listen $9 {backlog}", "3 socket $9 AF_INET6 SOCK_STREAM 0; 3 bind $9 6:0; 3 listen $9 5", "3 socket $9 AF_INET SOCK_STREAM 0; 3 bind $9 B:1; 3 listen $9 5", "3 socket $9 AF_INET6 SOCK_STREAM 0; 3 bind $9 D:1; 3 listen $9 5"},
	"begun":   {"0 connect $10 B:1; 3 accept $12 $9 0", "0 connect $10 B:1; 3 accept $12 $9 0", "0 connect $10 B:1; 3 accept $12 $9 SOCK_NONBLOCK; 0 fcntl $10 F_SETFL O_NONBLOCK", "0 socket $10 AF_INET6 SOCK_STREAM 0; 0 connect $10 D:1; 3 accept $12 $9 0", "0 getpeername $10"},
	"begunu":  {"3 socket $9 AF_INET SOCK_DGRAM 0; 3 bind $9 B:1; 0 socket $10 AF_INET SOCK_DGRAM 0; 0 connect $10 B:1", "3 socket $9 AF_INET SOCK_DGRAM 0; 3 bind $9 a:1; 0 socket $10 AF_INET SOCK_DGRAM 0", "3 socket $9 AF_INET6 SOCK_DGRAM 0; 3 bind $9 6:0; 0 socket $10 {idom} SOCK_DGRAM 0", "3 socket $9 AF_INET6 SOCK_DGRAM 0; 3 bind $9 D:1; 0 socket $10 AF_INET6 SOCK_DGRAM 0; 0 connect $10 D:1"},
	"fromA":   {"0 connect $10 B:1", "0 connect $10 B:1", "0 connect $10 D:1", "0 &connect $10 B:1", "0 connect $10 B:2"},
	"own":     {"A:1", "B:1", "a:1", "a:1", "a:2", "6:2", "C:1", "D:1", "a:0", "6:0"},
	"tsend":   {"MSG_NOSIGNAL", "MSG_NOSIGNAL", "MSG_NOSIGNAL|MSG_DONTWAIT", "MSG_NOSIGNAL|MSG_EOR", "0"},
	"inq":     {"FIONREAD", "SIOCINQ", "SIOCATMARK", "FIONREAD"},
	"topt":    {"SOL_SOCKET SO_ERROR", "SOL_SOCKET SO_ERROR", "SOL_SOCKET SO_ERROR", "SOL_SOCKET SO_ACCEPTCONN", "SOL_SOCKET SO_LINGER", "SOL_SOCKET SO_RCVLOWAT", "IPPROTO_TCP TCP_NODELAY", "SOL_SOCKET SO_KEEPALIVE"},
	"tset":    {"SOL_SOCKET SO_LINGER 1 0", "SOL_SOCKET SO_LINGER 1 0", "SOL_SOCKET SO_REUSEADDR 1", "SOL_SOCKET SO_RCVLOWAT 5", "SOL_SOCKET SO_RCVLOWAT 1", "IPPROTO_TCP TCP_NODELAY 1", "SOL_SOCKET SO_LINGER 0 0", "SOL_SOCKET SO_RCVTIMEO 0 1000 0", "SOL_SOCKET SO_KEEPALIVE 1"},
	"uset":    {"IPPROTO_IP IP_RECVERR 0", "SOL_SOCKET SO_BROADCAST 1", "SOL_SOCKET SO_REUSEADDR 1", "IPPROTO_IPV6 IPV6_V6ONLY 1", "IPPROTO_IPV6 IPV6_V6ONLY 0", "IPPROTO_UDP UDP_CORK 1", "IPPROTO_UDP UDP_CORK 0"},

	"word":   {"0", "1", "2"},
	"fwait":  {"FUTEX_WAIT", "FUTEX_WAIT|FUTEX_PRIVATE_FLAG", "FUTEX_WAIT_BITSET", "FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME"},
	"fwake":  {"FUTEX_WAKE", "FUTEX_WAKE|FUTEX_PRIVATE_FLAG", "FUTEX_WAKE_BITSET"},
	"bits":   {"-1", "1", "2", "3", "0"},
	"mtype":  {"PTHREAD_MUTEX_NORMAL", "PTHREAD_MUTEX_RECURSIVE", "PTHREAD_MUTEX_ERRORCHECK", "PTHREAD_MUTEX_ERRORCHECK"},
	"bool":   {"0", "1"},
	"mutex":  {"0", "0", "1"},
	"when":   {"past", "far"},
	"sclock": {"CLOCK_REALTIME", "CLOCK_MONOTONIC", "CLOCK_BOOTTIME", "CLOCK_TAI", "CLOCK_THREAD_CPUTIME_ID", "99"},
	"tclock": {"CLOCK_REALTIME", "CLOCK_MONOTONIC", "CLOCK_MONOTONIC", "CLOCK_BOOTTIME", "CLOCK_TAI", "CLOCK_PROCESS_CPUTIME_ID", "CLOCK_THREAD_CPUTIME_ID", "99"},
	"wclock": {"CLOCK_REALTIME", "CLOCK_MONOTONIC", "CLOCK_MONOTONIC", "CLOCK_BOOTTIME", "CLOCK_TAI"},
	"span":   {"0", "1", "5", "5", "100", "-2", "-2", "2000000000"},
	// those of processor time stand still natively
	"whole":   {"0", "1", "5", "5", "100", "2000000000"},
	"every":   {"0", "0", "0", "5", "1000000000"},
	"abs":     {"0", "0", "TIMER_ABSTIME", "2"},
	"sigev":   {"SIGEV_SIGNAL", "SIGEV_SIGNAL", "SIGEV_NONE", "SIGEV_THREAD_ID", "-", "7"},
	"tsig":    {"SIGUSR1", "SIGUSR2", "SIGRT0", "SIGRT0", "SIGCHLD", "SIGTERM", "0", "65"},
	"tk":      {"0", "1", "2"},
	"objects": {"pipe $3 $4 O_CLOEXEC", "pipe $3 $4 0", "eventfd $6 3 0", "eventfd $6 3 EFD_CLOEXEC", "epoll $8 0", "epoll $8 EPOLL_CLOEXEC", "timerfd $7 CLOCK_MONOTONIC 0", "socket $9 AF_INET SOCK_STREAM|SOCK_CLOEXEC 0", "socket $9 AF_UNIX SOCK_DGRAM 0", "open $0 a O_RDWR|O_CREAT 0644", "open $0 a O_RDWR|O_CLOEXEC|O_CREAT 0644", "memfd $1 m MFD_CLOEXEC", "signalfd $7 new {set} SFD_CLOEXEC", "dup3 $1 {fd} 30 O_CLOEXEC"},
	"any":     {"$0", "$1", "$2", "$3", "$4", "$5", "$9", "$10", "$6", "$0", "$0", "$3"},
	"ofdcmd":  {"F_OFD_SETLK", "F_OFD_SETLK", "F_OFD_GETLK", "F_OFD_SETLKW", "F_SETLK", "F_GETLK"},

	"key":    {"1", "2", "IPC_PRIVATE"},
	"iflag":  {"IPC_CREAT|0600", "IPC_CREAT|0644", "IPC_CREAT|IPC_EXCL|0600", "0", "0600"},
	"nsems":  {"1", "3", "0", "-1"},
	"semn":   {"0", "1", "2", "5"},
	"semd":   {"1", "-1", "0", "2", "-2"},
	"ipcf":   {"IPC_NOWAIT", "IPC_NOWAIT", "0", "IPC_NOWAIT|SEM_UNDO", "SEM_UNDO"},
	"msgt":   {"0", "1", "2", "-1", "-2", "5"},
	"msgf":   {"IPC_NOWAIT", "IPC_NOWAIT", "IPC_NOWAIT|MSG_NOERROR", "0", "IPC_NOWAIT|MSG_EXCEPT"},
	"queue":  {"q", "q", "r", "a/b"},
	"qflags": {"O_RDWR|O_CREAT", "O_RDWR|O_CREAT|O_NONBLOCK", "O_RDONLY", "O_WRONLY|O_NONBLOCK", "O_RDWR|O_CREAT|O_EXCL", "O_RDWR", "O_RDWR|O_WRONLY|O_CREAT"},
	"qattr":  {"1 1", "2 10", "3 64", "10 100", "0 10", "3 0", "-1 5"},
	"qprio":  {"0", "0", "1", "2", "5", "32767", "32768"},
	"qlen":   {"0", "1", "5", "10", "11", "64", "100", "101", "8192"},
	"qnone":  {"", "", " past"},
	"notify": {"SIGEV_SIGNAL SIGUSR1 7", "SIGEV_SIGNAL SIGRT0 8", "SIGEV_NONE 0 0", "-", "SIGEV_SIGNAL 0 0", "SIGEV_SIGNAL 65 0", "7 SIGUSR1 0"},
	"pidfl":  {"0", "0", "0", "O_NONBLOCK", "O_CLOEXEC", "1"},
	"inmask": {"IN_ALL_EVENTS", "IN_ALL_EVENTS", "IN_CREATE|IN_DELETE|IN_MOVE", "IN_MODIFY|IN_ATTRIB", "IN_OPEN|IN_CLOSE_WRITE|IN_CLOSE_NOWRITE|IN_ACCESS", "IN_DELETE_SELF|IN_MOVE_SELF", "IN_ALL_EVENTS|IN_ONESHOT", "IN_CREATE|IN_ONLYDIR", "IN_ATTRIB|IN_MASK_ADD", "IN_OPEN|IN_MASK_CREATE", "IN_ALL_EVENTS|IN_DONT_FOLLOW", "IN_ALL_EVENTS|IN_EXCL_UNLINK", "0", "IN_MODIFY|IN_MASK_ADD|IN_MASK_CREATE"},
	"movers": {"$0", "$1", "$3", "$4", "$3", "$4", "$6", "$7", "$8", "$9", "$10", "$11", "$12", "99"},
	"optval": {"0", "1", "1", "2", "5", "64", "255", "256", "1000", "100000", "-1", "-2"},
	"option": {"SOL_SOCKET SO_SNDBUF", "SOL_SOCKET SO_RCVBUF", "SOL_SOCKET SO_SNDLOWAT", "SOL_SOCKET SO_RCVLOWAT", "SOL_SOCKET SO_PRIORITY", "SOL_SOCKET SO_MARK", "SOL_SOCKET SO_DONTROUTE", "SOL_SOCKET SO_NO_CHECK", "SOL_SOCKET SO_REUSEPORT", "SOL_SOCKET SO_REUSEADDR", "SOL_SOCKET SO_OOBINLINE", "SOL_SOCKET SO_PASSCRED",
		"SOL_SOCKET SO_BROADCAST", "SOL_SOCKET SO_KEEPALIVE", "SOL_SOCKET SO_BINDTOIFINDEX", "IPPROTO_TCP TCP_KEEPIDLE", "IPPROTO_TCP TCP_KEEPINTVL", "IPPROTO_TCP TCP_KEEPCNT", "IPPROTO_TCP TCP_SYNCNT", "IPPROTO_TCP TCP_LINGER2", "IPPROTO_TCP TCP_DEFER_ACCEPT",
		"IPPROTO_TCP TCP_USER_TIMEOUT", "IPPROTO_TCP TCP_QUICKACK", "IPPROTO_TCP TCP_MAXSEG", "IPPROTO_TCP TCP_CORK", "IPPROTO_TCP TCP_NODELAY", "IPPROTO_TCP TCP_NOTSENT_LOWAT", "IPPROTO_TCP TCP_FASTOPEN", "IPPROTO_IP IP_TOS", "IPPROTO_IP IP_TTL", "IPPROTO_IP IP_MULTICAST_TTL", "IPPROTO_IP IP_MULTICAST_LOOP",
		"IPPROTO_IP IP_MULTICAST_ALL", "IPPROTO_IP IP_FREEBIND", "IPPROTO_IP IP_BIND_ADDRESS_NO_PORT", "IPPROTO_IP IP_RECVTOS", "IPPROTO_IP IP_RECVERR", "IPPROTO_IP IP_PKTINFO", "IPPROTO_IP IP_MTU_DISCOVER", "IPPROTO_IPV6 IPV6_UNICAST_HOPS", "IPPROTO_IPV6 IPV6_MULTICAST_HOPS", "IPPROTO_IPV6 IPV6_MULTICAST_LOOP",
		"IPPROTO_IPV6 IPV6_TCLASS", "IPPROTO_IPV6 IPV6_V6ONLY", "IPPROTO_IPV6 IPV6_RECVPKTINFO", "IPPROTO_IPV6 IPV6_RECVHOPLIMIT", "IPPROTO_IPV6 IPV6_RECVTCLASS", "IPPROTO_IPV6 IPV6_RECVERR", "IPPROTO_UDP UDP_CORK", "99 1"},
	"cpath": {"a", "d", "d/a", "d/b", "e/b", "e/c", "e", "d/e", "d/e/f", "l", ".", "d/../a", "e/"},
	"dmode": {"0755", "0700", "01777", "02775", "0711", "0770", "0744", "03777"},
	"uid":   {"0", "1", "1000", "1001", "-1", "65534"},
}

// polling is what other families use of events.
var polling = []string{
	"epoll $8 0", "epoll_ctl $8 {ctl} {fd} {events} 1", "epoll_ctl $8 EPOLL_CTL_ADD {fd} {events} 2", "epoll_wait $8 2 0", "epoll_wait $8 4 0",
	"poll {fd} {poll}", "poll {fd} {poll} {fd} {poll}", "select {fd}",
}

var families = []*callFamily{
	{name: "file", begin: []string{"0 open $0 a O_RDWR|O_CREAT 0644", "0 write $0 {n}"}, with: []string{"descriptor", "dir"}, forks: true, calls: []string{
		"open {file} {path} {open} {mode}", "open {file} {path} {open} {mode}", "close {file}", "read {file} {n}", "write {file} {n}", "write {file} {n}", "pread {file} {n} {off}",
		"pwrite {file} {n} {off}", "readv {file} {few} {few}", "writev {file} {few} {few}", "lseek {file} {off} {from}", "ftruncate {file} {off}",
		"truncate {path} {off}", "fallocate {file} {falloc} {off} {n}", "fstat {file}", "stat {path}", "chmod {path} {mode}", "fchmod {file} {mode}",
		"sendfile {file} {file} {off} {few}", "sendfile {file} {file} -2 {few}", "copyrange {file} {file} {few} 0", "memfd {file} m MFD_ALLOW_SEALING", "memfd {file} m 0",
		"fsync {file}", "fdatasync {file}", "fadvise {file} 0 0 POSIX_FADV_DONTNEED", "reopen {file} {file} O_RDWR", "reopen {file} {file} O_RDONLY", "unlink {path}", "ioctl {file} FIONREAD 0", "open {file} . O_TMPFILE|O_RDWR 0600",
		"lseek {file} 0 SEEK_CUR",
	}},
	{name: "dir", begin: []string{"0 mkdir d 0755", "0 open $0 a O_RDWR|O_CREAT 0644", "0 symlink a l"}, with: []string{"file"}, forks: true, calls: []string{
		"mkdir {path} {mode}", "rmdir {path}", "unlink {path}", "rename {path} {path}", "rename {path} {path}", "renameat2 {path} {path} RENAME_NOREPLACE", "renameat2 {path} {path} RENAME_EXCHANGE",
		"link {path} {path}", "linkat {path} {path} AT_SYMLINK_FOLLOW", "symlink {path} {path}", "readlink {path} {few}", "chmod {path} {mode}", "access {path} {access}", "mknod {path} S_IFIFO|0644", "mknod {path} S_IFREG|0644",
		"stat {path}", "lstat {path}", "list {path}", "list .", "utimens {path} {utime} {utime} 0", "utimens {path} {utime} {utime} AT_SYMLINK_NOFOLLOW", "chdir {path}", "getcwd", "umask {mode}",
		"open {file} {path} {open} {mode}", "openat {file} {file} {path} {open} {mode}", "unlinkat {file} {path} 0", "unlinkat AT_FDCWD {path} AT_REMOVEDIR", "fchdir {file}", "fstat {file}", "close {file}", "write {file} {few}",
	}},
	{name: "descriptor", begin: []string{"0 open $0 a O_RDWR|O_CREAT 0644", "0 pipe $3 $4 {pflags}"}, with: []string{"file", "pipe"}, forks: true, calls: []string{
		"dup {file} {fd}", "dup2 {pipe} {fd} 10", "dup2 {file} {fd} 11", "dup3 {file} {fd} 12 O_CLOEXEC", "dup3 {file} {fd} 12 0", "dup2 {file} {fd} -1", "fcntldup {file} {fd} F_DUPFD 20", "fcntldup {file} {fd} F_DUPFD_CLOEXEC 7",
		"fcntldup {file} {fd} F_DUPFD -1", "fcntl {fd} {fcntl}", "fcntl {fd} {fcntl}", "close {fd}", "lseek {fd} {off} {from}", "fstat {fd}", "ioctl {pipe} FIONREAD 0", "ioctl {fd} FIONBIO 1", "ioctl {fd} FIONBIO 0", "ioctl {fd} FIOCLEX 0",
		"read {fd} {few}", "write {fd} {few}", "pread {fd} {few} {off}", "pwrite {fd} {few} {off}", "ftruncate {fd} {few}", "fsync {fd}", "fallocate {fd} 0 0 10", "fadvise {fd} 0 0 0", "flock {fd} LOCK_EX|LOCK_NB", "lock {fd} F_SETLK F_RDLCK SEEK_SET 0 0",
		"eventfd $6 0 0", "epoll $7 0", "timerfd $8 CLOCK_MONOTONIC 0", "socketpair $9 $10 AF_UNIX {utype} 0", "sendfile {fd} {fd} -2 5", "splice {fd} -1 {fd} -1 5 SPLICE_F_NONBLOCK", "copyrange {fd} {fd} 5 0", "shutdown {fd} SHUT_WR", "recv {fd} 5 MSG_DONTWAIT", "getsockname {fd}",
		"reopen {file} {fd} O_RDONLY", "readv {fd} 0 0", "writev {fd} 0 0", "fchdir {fd}", "poll {fd} {poll}", "epoll_ctl $7 EPOLL_CTL_ADD {fd} EPOLLIN 1", "mmap {region} 4096 PROT_READ MAP_SHARED {fd} 0",
	}},
	{name: "pipe", begin: []string{"0 pipe $3 $4 {pflags}"}, with: []string{"poll"}, forks: true, calls: []string{
		"pipe $3 $4 {pflags}", "pipe $4 $5 {pflags}", "read {pipe} {n}", "read {pipe} {n}", "write {pipe} {n}", "write {pipe} {n}", "write {pipe} {n}", "close {pipe}", "dup {pipe} {pipe}", "fcntl {pipe} {fcntl}", "readv {pipe} {few} {few}",
		"writev {pipe} {few} {few}", "splice {pipe} -1 {pipe} -1 {n} {splice}", "tee {pipe} {pipe} {n} {splice}", "ioctl {pipe} FIONREAD 0", "poll {pipe} {poll}", "open $0 a O_RDWR|O_CREAT 0600; write $0 {n}; sendfile {pipe} $0 0 {n}",
		"splice $0 {off} {pipe} -1 {n} {splice}", "splice {pipe} -1 $0 {off} {n} {splice}", "mknod f S_IFIFO|0600; open $5 f O_RDWR|O_NONBLOCK 0; open $4 f O_RDONLY|O_NONBLOCK 0", "open $3 f O_WRONLY|O_NONBLOCK 0", "sigaction SIGPIPE IGN 0 0", "reopen {pipe} {pipe} O_RDWR",
		"fcntl {pipe} F_GETPIPE_SZ 0", "select {pipe}",
	}},
	{name: "poll", begin: []string{"0 pipe $3 $4 O_NONBLOCK", "0 eventfd $6 0 EFD_NONBLOCK", "0 socketpair $9 $10 AF_UNIX {utype} 0", "0 epoll $8 0"}, with: []string{"unix", "pipe"}, calls: append([]string{
		"eventfd {ev} {few} {nonblk}", "eventfd $6 3 EFD_SEMAPHORE|EFD_NONBLOCK", "signal_eventfd {ev} {few}", "signal_eventfd {ev} -1", "signal_eventfd {ev} -2", "read_eventfd {ev} 1000", "read_eventfd {ev} 4", "write {ev} 3",
		"timerfd $7 {clock} TFD_NONBLOCK", "timerfd_settime {ev} 0 {few} {few} 0", "timerfd_settime {ev} TFD_TIMER_ABSTIME 1 0 0", "timerfd_gettime {ev}", "read {ev} {few}", "signalfd $7 new {set} SFD_NONBLOCK", "signalfd $7 $7 {set} 0", "read_signalfd {ev}", "sigprocmask SIG_BLOCK {set}", "raise {sig}",
		"epoll $7 0", "epoll_ctl $7 {ctl} {ev} {events} 3", "epoll_ctl $8 {ctl} {ev} {events} 4", "epoll_wait {ev} 3 0", "close {fd}", "dup $5 {fd}", "write {pipe} {few}", "read {pipe} {few}", "send {sock} {few} MSG_NOSIGNAL|MSG_DONTWAIT", "recv {sock} {few} MSG_DONTWAIT", "shutdown {sock} {how}", "fcntl {ev} {fcntl}", "sigaction {sig} HANDLER 0 0", "lseek {ev} 0 SEEK_SET",
	}, polling...)},
	{name: "unix", begin: []string{"0 socketpair $9 $10 AF_UNIX {utype} 0"}, with: []string{"poll", "descriptor"}, forks: true, calls: []string{
		"socketpair $9 $10 AF_UNIX {utype} 0", "socketpair $12 $13 AF_UNIX {utype} 0", "socket {sock} AF_UNIX {utype} 0", "socket {sock} AF_UNIX {utype} 0", "bind {sock} {uaddr}", "bind {sock} {uaddr}", "connect {sock} {uaddr}", "connect {sock} {uaddr}", "listen {sock} {backlog}", "listen {sock} 5",
		"accept {sock} {sock} SOCK_NONBLOCK", "accept {sock} {sock} 0", "getsockname {sock}", "getpeername {sock}", "shutdown {sock} {how}", "send {sock} {few} {usend}", "send {sock} {n} {usend}", "sendto {sock} {few} {usend} {uaddr}", "sendmsg {sock} {few} {usend} {fd}", "sendmsg {sock} {few} {usend} -", "recv {sock} {n} {recv}", "recv {sock} {n} {recv}", "recvfrom {sock} {n} {recv}",
		"recvmsg {sock} {n} {recv} 1", "recvmsg {sock} {n} {recv} 1", "recvmsg {sock} {few} {recv} 0", "read {sock} {few}", "write {sock} {few}", "close {sock}", "dup {sock} {sock}", "fcntl {sock} F_SETFL O_NONBLOCK", "fcntl {sock} F_SETFL 0", "setsockopt {sock} SOL_SOCKET SO_PASSCRED 1", "getsockopt {sock} {opt}", "setsockopt {sock} {setopt}",
		"poll {sock} {poll}", "ioctl {sock} FIONREAD 0", "peercred {sock}", "unlink s", "sigaction SIGPIPE IGN 0 0", "socket {sock} AF_UNIX SOCK_STREAM 0; bind {sock} u:s; listen {sock} 3", "socket $11 AF_UNIX SOCK_STREAM 0; connect $11 u:s", "readv {sock} {few} {few}", "writev {sock} {few} {few}", "select {sock}", "pipe $3 $4 O_NONBLOCK; splice {sock} -1 $4 -1 {few} SPLICE_F_NONBLOCK", "sendfile $4 {sock} -2 {few}",
	}},
	{name: "tcp", begin: []string{"0 socket $9 AF_INET SOCK_STREAM 0", "0 bind $9 {iaddr}", "0 listen $9 3"}, with: []string{"poll"}, forks: true, calls: []string{
		"socket {sock} {idom} SOCK_STREAM 0", "socket {sock} {idom} SOCK_STREAM|SOCK_NONBLOCK 0", "bind {sock} {iaddr}", "bind {sock} {6addr}", "connect {sock} {iaddr}", "connect {sock} {6addr}", "socket $11 AF_INET SOCK_STREAM 0; connect $11 i:1; accept $12 $9 0", "socket $10 AF_INET SOCK_STREAM 0; setsockopt $10 SOL_SOCKET SO_REUSEADDR 1; bind $10 i:1; listen $10 {backlog}",
		"listen {sock} {backlog}", "accept {sock} {sock} SOCK_NONBLOCK", "accept {sock} {sock} 0", "getsockname {sock}", "getpeername {sock}", "shutdown {sock} {how}", "send {sock} {few} {usend}", "send {sock} {few} {usend}", "sendto {sock} {few} {usend} {iaddr}", "recv {sock} {n1} {recv}", "recv {sock} {some} {recv}", "recvfrom {sock} {some} {recv}", "recvmsg {sock} {some} {recv} 1",
		"read {sock} {few}", "write {sock} {few}", "close {sock}", "close {sock}", "fcntl {sock} F_SETFL O_NONBLOCK", "fcntl {sock} F_SETFL 0", "getsockopt {sock} {opt}", "setsockopt {sock} {setopt}", "poll {sock} {poll}", "ioctl {sock} FIONREAD 0", "sigaction SIGPIPE IGN 0 0", "select {sock}", "dup {sock} {sock}",
	}},
	{name: "udp", begin: []string{"0 socket $9 AF_INET SOCK_DGRAM 0", "0 bind $9 {iaddr}", "0 socket $10 AF_INET SOCK_DGRAM 0"}, with: []string{"poll"}, forks: true, calls: []string{
		"socket {sock} {idom} SOCK_DGRAM 0", "socket {sock} {idom} SOCK_DGRAM|SOCK_NONBLOCK 0", "bind {sock} {iaddr}", "bind {sock} {6addr}", "connect {sock} {iaddr}", "connect {sock} {6addr}", "listen {sock} 1", "accept {sock} {sock} 0", "getsockname {sock}", "getpeername {sock}", "shutdown {sock} {how}",
		"send {sock} {few} {send}", "sendto {sock} {few} {send} {iaddr}", "sendto {sock} {few} {send} i:1", "sendto {sock} {few} {send} {6addr}", "sendmsg {sock} {few} {send} - {iaddr}", "recv {sock} {few} {recv}", "recv {sock} {n} {recv}", "recvfrom {sock} {few} {recv}", "recvmsg {sock} {few} {recv} 1", "read {sock} {few}", "write {sock} {few}", "close {sock}", "fcntl {sock} F_SETFL O_NONBLOCK", "getsockopt {sock} {opt}", "setsockopt {sock} {setopt}", "poll {sock} {poll}", "ioctl {sock} FIONREAD 0", "select {sock}",
	}},
	{name: "signal", forks: true, with: []string{"process", "pipe"}, calls: []string{
		"sigaction {sig} {action} {sa} {set}", "sigaction {sig} {action} {sa} 0", "sigaction SIGCHLD {action} {sa} 0", "sigaction SIGUSR1 HANDLER {sa} 0", "sigprocmask {mask} {set}", "sigprocmask SIG_SETMASK 0", "sigprocmask SIG_BLOCK 0x400000a00", "sigpending", "kill {proc} {sig}", "kill {proc} {sig}", "kill %0 {sig}", "tgkill {proc} {sig}", "sigqueue {proc} {sig} {few}", "sigqueue {proc} SIGRT0 {few}", "raise {sig}", "raise {sig}",
		"kill {proc} {stop}", "kill -{proc} {sig}", "kill 99999 0", "sigtimedwait {set}", "sigtimedwait 0xffffffffff", "sigsuspend {set}", "sigsuspend 0", "pause", "alarm {few}", "alarm 0", "setitimer {itimer} {few} {few}", "getitimer {itimer}", "signalfd $7 new {set} SFD_NONBLOCK; read_signalfd $7", "wait4 -1 {wait}", "pipe $3 $4 0; read $3 5", "exit 3",
	}},
	{name: "process", forks: true, with: []string{"signal"}, calls: []string{
		"wait4 {who} {wait}", "wait4 -1 {wait}", "wait4 {proc} {wait}", "waitid P_ALL 0 {waitid}", "waitid P_PID {proc} {waitid}", "waitid P_PGID {who} {waitid}", "waitid 9 0 {waitid}", "getpgid {who}", "getsid {who}", "setpgid {proc} {proc}", "setpgid 0 0", "setpgid {who} {who}", "setsid", "getppid", "getpriority {prio} {who}", "setpriority {prio} {proc} {nice}", "sched_get {who}", "sched_get {proc}", "sched_set {proc} {sched}", "sched_getparam {who}",
		"getrlimit {proc} {limit}", "setrlimit {proc} RLIMIT_NOFILE 50", "setrlimit {proc} RLIMIT_NOFILE 8", "setrlimit {proc} RLIMIT_CORE 0", "getrlimit {who} RLIMIT_CPU 1", "prctl {prctl}", "prctl {prctl}", "exit {few}", "kill {proc} {sig}", "kill {proc} SIGKILL", "kill {proc} {stop}", "kill {proc} 0", "tgkill {proc} 0", "sigaction SIGCHLD {action} {sa} 0",
	}},
	{name: "lock", begin: []string{"0 open $0 a O_RDWR|O_CREAT 0600", "0 open $1 a O_RDWR 0", "0 write $0 100"}, forks: true, with: []string{"process"}, calls: []string{
		"lock {file} {lkcmd} {lktyp} SEEK_SET {small} {small}", "lock {file} {lkcmd} {lktyp} SEEK_SET {small} {small}", "lock {file} {lkcmd} {lktyp} {from} {small} {small}", "lock {file} F_OFD_GETLK F_WRLCK SEEK_SET {small} {small}", "flock {file} {flock}", "flock {file} {flock}", "close {file}", "open {file} a O_RDWR 0", "open {file} a O_RDONLY 0", "open {file} b O_WRONLY|O_CREAT 0600", "dup {file} {file}", "lseek {file} {few} SEEK_SET", "exit 0",
	}},
	{name: "futex", forks: true, calls: []string{
		"futex {semn} {futex} {few} {semn} {semn} {few}", "futex {semn} {futex} 0 0 1 0", "futex 0 FUTEX_LOCK_PI 0 0 0 0", "futex 0 FUTEX_UNLOCK_PI 0 0 0 0", "futex 0 FUTEX_TRYLOCK_PI 0 0 0 0", "set_word {semn} 0x3ffffff0", "set_word {semn} 0", "exit 0",
	}},
	{name: "memory", begin: []string{"0 open $0 a O_RDWR|O_CREAT 0600", "0 write $0 {n}", "0 mmap 0 8192 PROT_READ|PROT_WRITE {map} $0 0"}, forks: true, with: []string{"file"}, calls: []string{
		"mmap {region} {len} {prot} {map} {file} 0", "mmap {region} {len} {prot} {map} - 0", "mmap {region} 12288 PROT_READ|PROT_WRITE MAP_SHARED $0 0", "mmap {region} {len} {prot} {map} {file} 4096", "munmap {region} {at} {len}", "mprotect {region} {at} {len} {prot}", "msync {region} {at} {len} MS_SYNC", "msync {region} {at} {len} MS_SYNC|MS_ASYNC", "madvise {region} {at} {len} {madv}", "mremap {region} {len} 0",
		"peek {region} {spot}", "peek {region} {spot}", "poke {region} {spot}", "poke {region} {spot}", "ftruncate $0 {n}", "pread $0 100 {off}", "pwrite $0 {few} {off}", "write_from $0 {region} {spot} 100", "read_into $0 {region} {spot} 100", "lseek $0 0 SEEK_SET",
	}},
	{name: "sysv", forks: true, with: []string{"process"}, begin: []string{"0 msgget $14 1 IPC_CREAT|0600", "0 semget $15 1 3 IPC_CREAT|0600"}, calls: []string{
		"msgget $14 {key} {iflag}", "msgsnd $14 {msgt} {few} {ipcf}", "msgsnd $14 {msgt} {few} IPC_NOWAIT", "msgrcv $14 {msgt} {few} {msgf}", "msgrcv $14 {msgt} 64 {msgf}", "msgstat $14", "msgrm $14", "semget $15 {key} {nsems} {iflag}", "semop $15 {semn} {semd} {ipcf}", "semop $15 {semn} {semd} {ipcf} {semn} {semd}", "semctl $15 {semn} GETVAL 0", "semctl $15 {semn} SETVAL {few}", "semctl $15 0 GETALL 0",
		"semctl $15 {semn} GETPID 0", "semctl $15 {semn} GETNCNT 0", "semrm $15", "shmget $13 {key} {n} {iflag}", "shmget $13 3 4096 IPC_CREAT|0600; shmat 1 $13 0", "shmat {region} $13 SHM_RDONLY", "shmdt {region}", "shmstat $13", "shmrm $13", "peek 1 0", "poke 1 0", "exit 0",
	}},
	{name: "twotcp", two: true, forks: true, with: []string{"poll2"}, begin: []string{
		"{listens}", "0 sigaction SIGPIPE IGN 0 0; 3 sigaction SIGPIPE IGN 0 0; 0 socket $10 AF_INET SOCK_STREAM 0; {begun}",
	}, calls: []string{
		"0 socket $10 {idom} SOCK_STREAM 0; {fromA}; 3 accept $12 $9 SOCK_NONBLOCK", "0 socket $10 AF_INET SOCK_STREAM 0; 0 connect $10 B:1; 3 accept $12 $9 0", "0 socket $11 {idom} SOCK_STREAM|SOCK_NONBLOCK 0; 0 connect $11 {remote}; 0 getsockopt $11 SOL_SOCKET SO_ERROR; 0 connect $11 {remote}",
		"3 &accept $12 $9 0", "3 accept $13 $9 SOCK_NONBLOCK", "0 &recv $10 {n1} {recv}", "3 &recv $12 {n1} {recv}", "0 recv $10 {n1} {recv}", "3 recv $12 {n1} {recv}", "0 send $10 {n} {tsend}", "3 send $12 {n} {tsend}", "0 send $10 {few} {tsend}", "3 send $12 {few} {tsend}",
		"0 shutdown $10 {how}", "3 shutdown $12 {how}", "0 close $10", "3 close $12", "3 close $9", "0 setsockopt $10 {tset}", "3 setsockopt $12 {tset}", "0 getsockopt $10 {topt}", "3 getsockopt $12 {topt}", "0 poll $10 POLLIN|POLLOUT|POLLPRI|POLLRDHUP", "3 poll $12 POLLIN|POLLOUT|POLLPRI|POLLRDHUP", "3 poll $9 POLLIN",
		"0 setsockopt $10 SOL_SOCKET SO_LINGER 1 0; 0 close $10; 3 poll $12 POLLIN|POLLOUT|POLLRDHUP; 3 recv $12 100 MSG_DONTWAIT", "3 setsockopt $12 SOL_SOCKET SO_LINGER 1 0; 3 close $12; 0 poll $10 POLLIN|POLLOUT|POLLRDHUP; 0 send $10 5 MSG_NOSIGNAL",
		"socket {sock} {idom} SOCK_STREAM 0", "socket {sock} {idom} SOCK_STREAM|SOCK_NONBLOCK 0", "bind {sock} {own}", "bind {sock} {own}", "connect {sock} {remote}", "connect {sock} {remote}", "&connect {sock} {remote}", "listen {sock} {backlog}", "accept {sock} {sock} SOCK_NONBLOCK", "&accept {sock} {sock} 0", "getsockname {sock}", "getpeername {sock}",
		"shutdown {sock} {how}", "send {sock} {few} {tsend}", "recv {sock} {n1} {recv}", "recvmsg {sock} {some} {recv} 1", "recvfrom {sock} {some} {recv}", "read {sock} {few}", "write {sock} {few}", "&read {sock} {few}", "close {sock}", "dup {sock} {sock}", "fcntl {sock} F_SETFL O_NONBLOCK", "fcntl {sock} F_SETFL 0",
		"getsockopt {sock} {topt}", "setsockopt {sock} {tset}", "poll {sock} {poll}", "select {sock}", "ioctl {sock} {inq} 0", "sigaction SIGPIPE IGN 0 0", "connect {sock} none", "pipe $3 $4 O_NONBLOCK; splice {sock} -1 $4 -1 {few} SPLICE_F_NONBLOCK",
	}},
	{name: "twoudp", two: true, forks: true, with: []string{"poll2"}, begin: []string{
		"{begunu}",
	}, calls: []string{
		"socket {sock} {idom} SOCK_DGRAM 0", "socket {sock} {idom} SOCK_DGRAM|SOCK_NONBLOCK 0", "bind {sock} {own}", "bind {sock} {own}", "connect {sock} {remote}", "connect {sock} {remote}", "connect {sock} none", "0 connect $10 B:1; 0 send $10 {few} {send}; 3 recvfrom $9 100 MSG_DONTWAIT", "0 connect $10 B:2; 0 send $10 5 0; 0 poll $10 POLLIN|POLLOUT; 0 {errsee}",
		"0 sendto $10 {few} {send} {remote}", "0 sendto $10 {few} {send} B:1", "3 recvfrom $9 {few} {recv}", "3 &recvfrom $9 {few} {recv}", "getsockname {sock}", "getpeername {sock}", "shutdown {sock} {how}", "send {sock} {few} {send}", "sendto {sock} {few} {send} {remote}", "sendmsg {sock} {few} {send} - {remote}", "recv {sock} {n} {recv}", "&recv {sock} {n} {recv}", "recvfrom {sock} {few} {recv}", "recvmsg {sock} {few} {recv} 1",
		"read {sock} {few}", "write {sock} {few}", "close {sock}", "fcntl {sock} F_SETFL O_NONBLOCK", "getsockopt {sock} {topt}", "setsockopt {sock} {uset}", "poll {sock} {poll}", "ioctl {sock} {inq} 0", "select {sock}",
	}},
	{name: "poll2", two: true, with: []string{"twotcp"}, begin: []string{
		"3 socket $9 AF_INET SOCK_STREAM 0; 3 bind $9 a:1; 3 listen $9 5; 0 socket $10 AF_INET SOCK_STREAM 0; 0 connect $10 B:1; 3 accept $12 $9 0", "0 epoll $8 0; 3 epoll $8 0; 0 epoll_ctl $8 EPOLL_CTL_ADD $10 {events} 1; 3 epoll_ctl $8 EPOLL_CTL_ADD $12 {events} 1",
	}, calls: []string{
		"0 epoll_wait $8 4 0", "3 epoll_wait $8 4 0", "0 &epoll_wait $8 4 -1", "3 &epoll_wait $8 4 -1", "epoll_ctl $8 {ctl} {sock} {events} 1", "3 epoll_ctl $8 EPOLL_CTL_ADD $9 {events} 2", "0 epoll_ctl $8 EPOLL_CTL_MOD $10 {events} 3", "3 epoll_ctl $8 EPOLL_CTL_MOD $12 {events} 4", "0 send $10 {few} {tsend}; 3 epoll_wait $8 4 0", "3 send $12 {few} {tsend}; 0 epoll_wait $8 4 0", "0 recv $10 {n} MSG_DONTWAIT; 0 epoll_wait $8 4 0", "3 recv $12 {n} MSG_DONTWAIT; 3 epoll_wait $8 4 0",
		"0 shutdown $10 {how}; 3 epoll_wait $8 4 0; 0 epoll_wait $8 4 0", "3 shutdown $12 {how}; 0 epoll_wait $8 4 0; 3 epoll_wait $8 4 0", "0 close $10; 3 epoll_wait $8 4 0", "3 close $12; 0 epoll_wait $8 4 0", "0 socket $11 AF_INET SOCK_STREAM|SOCK_NONBLOCK 0; 0 epoll_ctl $8 EPOLL_CTL_ADD $11 {events} 5; 0 epoll_wait $8 4 0; 0 connect $11 {remote}; 0 epoll_wait $8 4 0", "3 accept $13 $9 SOCK_NONBLOCK; 3 epoll_wait $8 4 0",
		"0 setsockopt $10 SOL_SOCKET SO_LINGER 1 0; 0 close $10; 3 epoll_wait $8 4 0", "getsockopt {sock} SOL_SOCKET SO_ERROR", "setsockopt {sock} SOL_SOCKET SO_RCVLOWAT 5", "poll {sock} {poll}",
	}},
	{name: "thread", threads: true, forks: true, with: []string{"signal", "futex"}, begin: []string{"0 thread %1"}, calls: []string{
		"&futex_wait {fwait} {word} 0 {bits}", "&futex_wait {fwait} {word} 0 {bits}", "futex_wait {fwait} {word} {word} {bits} now", "futex_wake {fwake} {word} {few} {bits}", "futex_wake {fwake} {word} 1 {bits}", "futex_requeue FUTEX_CMP_REQUEUE {word} {word} {word} {word} 0", "futex_requeue FUTEX_REQUEUE {word} {word} {word} {word} 0", "futex_requeue FUTEX_WAKE_OP {word} {word} {word} {word} {few}", "set_word {word} 0", "futex {word} {futex} {few} {semn} {semn} {few}",
		"thread_id", "getpgid 0", "kill {proc} {sig}", "tgkill {proc} {sig}", "tgkill {proc} {sig}", "tgkill {proc} 0", "pthread_sigqueue {proc} {tsig} {few}", "sigaction {sig} {action} {sa} {set}", "sigprocmask {mask} {set}", "sigpending", "&sigsuspend {set}", "&pause", "&sigtimedwait {set}", "raise {sig}", "thread_exit", "thread_exit", "exit_thread {few}", "exit {few}", "wait4 -1 {wait}", "wait4 {proc} {wait}", "waitid P_PID {proc} {waitid}",
		"pipe $3 $4 0", "&read $3 {few}", "write $4 {few}", "close {pipe}", "sched_get {proc}", "setpriority PRIO_PROCESS {proc} {nice}", "getpriority PRIO_PROCESS {proc}", "prctl {prctl}", "chdir {path}", "umask {mode}", "getcwd", "setresuid {uid} {uid} {uid}; ids", "&sleep CLOCK_MONOTONIC 0 5", "sigaltstack {bool} 0 10000", "sigaltstack", "exec",
	}},
	{name: "mutex", threads: true, forks: true, begin: []string{"0 mutex_init 0 {mtype} {bool} {bool} {bool}", "0 mutex_init 1 {mtype} {bool} {bool} {bool}", "0 cond_init 0 {bool}", "0 thread %1"}, calls: []string{
		"mutex_init {mutex} {mtype} {bool} {bool} {bool}", "&mutex_lock {mutex}", "&mutex_lock {mutex}", "mutex_trylock {mutex}", "mutex_timedlock {mutex} past", "&mutex_timedlock {mutex} far", "mutex_unlock {mutex}", "mutex_unlock {mutex}", "mutex_unlock {mutex}", "mutex_consistent {mutex}", "mutex_consistent {mutex}", "&cond_wait 0 {mutex}", "&cond_wait 0 {mutex}", "cond_timedwait 0 {mutex} past", "cond_signal 0", "cond_broadcast 0", "mutex_trylock 0; &cond_wait 0 0",
		"&rwlock_rdlock", "&rwlock_wrlock", "rwlock_tryrdlock", "rwlock_trywrlock", "rwlock_unlock", "&sem_wait", "sem_trywait", "sem_post", "sem_init {word}", "thread_exit", "thread_exit", "exit 0", "kill {proc} SIGKILL",
	}},
	{name: "timer", threads: true, forks: true, with: []string{"signal"}, calls: []string{
		"timer_create {tk} {tclock} {sigev} {tsig}", "timer_create {tk} {wclock} {sigev} {tsig}", "timer_create {tk} {wclock} SIGEV_SIGNAL SIGRT0", "timer_create {tk} {wclock} SIGEV_THREAD_ID {tsig} {proc}", "timer_settime {tk} {abs} {span} {every}", "timer_settime {tk} 0 -2 {every}; nap; timer_gettime {tk}; timer_getoverrun {tk}", "timer_settime {tk} TIMER_ABSTIME 1 {every}; timer_getoverrun {tk}", "timer_gettime {tk}", "timer_getoverrun {tk}", "timer_delete {tk}",
		"sigaction {tsig} {action} {sa} 0", "sigaction SIGRT0 HANDLER {sa} 0", "sigprocmask {mask} {set}", "sigprocmask SIG_BLOCK 0x200000a00", "sigprocmask SIG_SETMASK 0", "sigpending", "sigtimedwait 0xffffffffff", "nap", "sleep {sclock} {abs} {span}", "sleep CLOCK_MONOTONIC 0 5", "&sleep {wclock} 0 5", "&sleep CLOCK_REALTIME TIMER_ABSTIME 2000000000",
		"timerfd $7 {tclock} {nonblk}", "timerfd $7 {clock} TFD_NONBLOCK", "fdtimer_set {ev} {abs} {span} {every}", "fdtimer_set $7 0 -2 {every}; nap; fdtimer_get $7; read_eventfd $7 1000", "fdtimer_set $7 TIMER_ABSTIME 1 {every}; read_eventfd $7 1000", "fdtimer_get {ev}", "read_eventfd $7 1000", "&read_eventfd $7 1000", "poll $7 POLLIN", "fcntl $7 {fcntl}", "itimer_set {itimer} {whole} {every}", "itimer_set ITIMER_REAL {span} {every}", "itimer_set ITIMER_REAL 0 0", "alarm {few}", "alarm 0", "signalfd $6 new 0x200000a00 SFD_NONBLOCK; read_signalfd $6", "getres {tclock}", "exec", "epoll $8 0; epoll_ctl $8 EPOLL_CTL_ADD $7 {events} 1; epoll_wait $8 2 0",
	}},
	{name: "exec", forks: true, threads: true, with: []string{"timer", "process", "descriptor", "lock"}, calls: []string{
		"exec", "exec", "exec", "{objects}", "{objects}", "{objects}", "fcntl {fd} {fcntl}", "fcntl {fd} F_SETFD {bool}", "fcntl {fd} F_GETFD 0", "fcntl {fd} F_GETFD 0", "read {fd} {few}", "write {fd} {few}", "poll {fd} {poll}", "epoll_ctl $8 EPOLL_CTL_ADD {fd} {events} 1", "epoll_wait $8 4 0", "ioctl {fd} FIOCLEX 0",
		"sigaction {sig} {action} {sa} {set}", "sigactions", "sigactions", "sigprocmask {mask} {set}", "sigpending", "raise {sig}", "kill {proc} {sig}", "tgkill {proc} {sig}", "sigqueue {proc} SIGRT0 {few}", "sigtimedwait 0xffffffffff", "sigaltstack 0 0 10000", "sigaltstack",
		"timer_create 0 {wclock} SIGEV_SIGNAL SIGUSR1; timer_settime 0 0 5 0", "timer_gettime 0", "itimer_set {itimer} {whole} {every}", "getitimer {itimer}", "alarm {few}", "umask {mode}", "getcwd", "chdir {path}", "mkdir d 0755", "setrlimit {proc} RLIMIT_NOFILE 50", "getrlimit {proc} {limit} 1", "setrlimit 0 RLIMIT_CORE 0", "prctl {prctl}", "prctl {prctl}", "getpriority PRIO_PROCESS 0", "setpriority PRIO_PROCESS 0 {nice}", "sched_set 0 {sched}", "sched_get 0", "setpgid 0 0", "getpgid 0", "setsid", "getsid %0", "getppid",
		"lock $0 {lkcmd} {lktyp} SEEK_SET {small} {small}", "flock $0 {flock}", "ids", "thread_id", "wait4 -1 {wait}", "exit {few}", "signalfd $7 new {set} SFD_NONBLOCK", "read_signalfd $7", "shmget $13 1 4096 IPC_CREAT|0600; shmat 1 $13 0", "shmstat $13", "mmap 0 8192 PROT_READ|PROT_WRITE MAP_SHARED $0 0", "peek 0 0", "semget $15 1 3 IPC_CREAT|0600; semop $15 0 1 SEM_UNDO", "semctl $15 0 GETVAL 0", "set_word 0 0; futex 0 FUTEX_LOCK_PI 0 0 0 0", "futex 0 FUTEX_TRYLOCK_PI 0 0 0 0",
	}},
	{name: "ofd", forks: true, threads: true, with: []string{"lock"}, begin: []string{"0 open $0 a O_RDWR|O_CREAT 0600; 0 open $1 a O_RDWR 0; 0 pipe $3 $4 0; 0 socketpair $9 $10 AF_UNIX {utype} 0; 0 epoll $6 0"}, calls: []string{
		"lock {any} {ofdcmd} {lktyp} SEEK_SET {small} {small}", "lock {any} {ofdcmd} {lktyp} SEEK_SET {small} {small}", "lock {any} {ofdcmd} {lktyp} {from} {small} {small}", "lock {any} F_OFD_GETLK F_UNLCK SEEK_SET {small} {small}", "lock {any} F_GETLK F_UNLCK SEEK_SET {small} {small}", "&lock {any} F_OFD_SETLKW {lktyp} SEEK_SET {small} {small}", "&lock {any} F_SETLKW {lktyp} SEEK_SET {small} {small}", "&flock {any} {flock}", "flock {any} {flock}",
		"close {any}", "dup $2 {any}", "dup $5 {pipe}", "open {file} a O_RDWR 0", "open {file} a O_RDONLY 0", "open {file} a O_PATH 0", "open {file} . O_RDONLY 0", "reopen {file} {any} O_RDWR", "memfd $2 m 0", "mknod f S_IFIFO|0600; open $5 f O_RDWR|O_NONBLOCK 0; open $4 f O_RDONLY|O_NONBLOCK 0", "socket $9 AF_INET SOCK_STREAM 0", "lseek {file} {few} SEEK_SET", "fcntl {any} F_GETFL 0", "exec", "exit 0", "kill {proc} SIGKILL", "unlink a",
	}},
	{name: "ids", calls: []string{
		"setresuid {uid} {uid} {uid}", "setresgid {uid} {uid} {uid}", "setreuid {uid} {uid}", "setregid {uid} {uid}", "setuid {uid}", "setgid {uid}", "setfsuid {uid}", "setfsgid {uid}", "setgroups 3 {uid} {uid} {uid}", "setgroups 0 0", "ids", "ids", "prctl PR_SET_KEEPCAPS 1", "prctl PR_GET_DUMPABLE 0", "prctl PR_GET_KEEPCAPS 0",
	}},
	{name: "mqueue", forks: true, with: []string{"signal"}, begin: []string{"0 mq_open $6 q O_RDWR|O_CREAT 0600 {qattr}", "0 sigaction SIGUSR1 HANDLER 0 0", "0 sigaction SIGRT0 HANDLER 0 0"}, calls: []string{
		"mq_open {ev} {queue} {qflags} {mode} {qattr}", "mq_open {ev} {queue} {qflags} 0600", "mq_unlink {queue}", "mq_send {ev} {qlen} {qprio}{qnone}", "mq_send {ev} {qlen} {qprio}", "&mq_send {ev} {qlen} {qprio}", "mq_receive {ev} {qlen}{qnone}", "mq_receive {ev} 8192", "&mq_receive {ev} 8192", "mq_attr {ev}", "mq_attr {ev} {nonblk}",
		"mq_notify {ev} {notify}", "mq_notify {ev} {notify}", "poll {ev} {poll}", "read {ev} 5", "write {ev} 5", "lseek {ev} 0 SEEK_SET", "fcntl {ev} F_GETFL 0", "fcntl {ev} F_SETFL {nonblk}", "dup {ev} {ev}", "close {ev}", "exit 0", "exec", "sigpending",
	}},
	{name: "pidfd", forks: true, with: []string{"process"}, begin: []string{"0 fork %1", "0 pidfd_open $6 %1 0", "0 pipe $3 $4 0"}, calls: []string{
		"pidfd_open {ev} {proc} {pidfl}", "pidfd_open {ev} {who} 0", "pidfd_send {ev} {sig} 0", "pidfd_send {ev} {stop} 0", "pidfd_send {ev} 0 {bool}", "pidfd_send {pipe} 0 0", "pidfd_getfd {file} {ev} {fd} 0", "pidfd_getfd {file} {ev} {small} {bool}", "poll {ev} {poll}", "waitid 3 {ev} {waitid}", "waitid 3 {ev} {waitid}", "&waitid 3 {ev} WEXITED", "waitid 3 {pipe} WEXITED|WNOHANG",
		"wait4 -1 {wait}", "read {ev} 5", "write {ev} 5", "lseek {ev} 0 SEEK_SET", "fcntl {ev} F_GETFL 0", "fcntl {ev} F_GETFD 0", "close {ev}", "dup {ev} {ev}", "1 exit {few}", "kill {proc} {sig}", "epoll $8 0", "epoll_ctl $8 {ctl} {ev} {events} 1", "epoll_wait $8 2 0", "exec", "exit 0", "sigaction SIGCHLD {action} {sa} 0",
	}},
	{name: "inotify", forks: true, with: []string{"dir"}, begin: []string{"0 mkdir d 0755; 0 open $0 a O_RDWR|O_CREAT 0644; 0 inotify $6 IN_NONBLOCK; 0 watch $6 . {inmask}"}, calls: []string{
		"inotify {ev} {nonblk}", "watch {ev} {path} {inmask}", "watch {ev} {path} {inmask}", "unwatch {ev} {some}", "unwatch {ev} 1", "read_inotify $6 {n}", "read_inotify $6 4096", "read_inotify {ev} 4096", "ioctl {ev} FIONREAD 0", "poll {ev} {poll}", "close {ev}",
		"open {file} {path} {open} {mode}", "read {file} {few}", "write {file} {few}", "ftruncate {file} {off}", "truncate {path} {off}", "close {file}", "mkdir {path} 0755", "rmdir {path}", "unlink {path}", "rename {path} {path}", "rename {path} {path}", "renameat2 {path} {path} RENAME_EXCHANGE", "link {path} {path}", "symlink {path} {path}", "chmod {path} {mode}", "utimens {path} {utime} {utime} 0", "list {path}", "fallocate {file} 0 0 {n}", "mknod {path} S_IFREG|0644", "dup {file} {file}", "pread {file} {few} 0", "pwrite {file} {few} 0",
	}},
	{name: "move", with: []string{"pipe"}, begin: []string{"0 open $0 a O_RDWR|O_CREAT 0644; 0 write $0 {n}; 0 pipe $3 $4 {pflags}", "0 eventfd $6 3 EFD_NONBLOCK; 0 socketpair $9 $10 AF_UNIX {utype} 0", "0 timerfd $7 CLOCK_MONOTONIC TFD_NONBLOCK"}, calls: []string{
		"splice {movers} -1 {movers} -1 {n} {splice}", "splice {movers} -1 {movers} -1 {few} SPLICE_F_NONBLOCK", "splice {movers} {off} {movers} -1 {few} {splice}", "splice {movers} -1 {movers} {off} {few} {splice}", "tee {movers} {movers} {n} {splice}", "tee {movers} {movers} {few} SPLICE_F_NONBLOCK", "sendfile {movers} {movers} {off} {n}", "sendfile {movers} {movers} -2 {few}", "vmsplice {movers} {few} {splice}", "copyrange {movers} {movers} {few} 0",
		"write {movers} {few}", "write {movers} 8", "read {movers} {n}", "read {movers} 8", "lseek $0 {off} SEEK_SET", "pipe $3 $5 {pflags}", "fcntl {pipe} F_SETPIPE_SZ {n}", "fcntl {pipe} F_SETFL {nonblk}", "close {movers}", "shutdown {sock} {how}", "ioctl {movers} FIONREAD 0", "socketpair $9 $10 AF_UNIX {utype} 0", "inotify $7 IN_NONBLOCK", "epoll $8 0", "signalfd $7 new {set} SFD_NONBLOCK", "memfd $1 m MFD_ALLOW_SEALING",
	}},
	{name: "option", begin: []string{"0 socket $9 {idom} SOCK_STREAM 0; 0 socket $10 {idom} SOCK_DGRAM 0; 0 socketpair $11 $12 AF_UNIX {utype} 0"}, calls: []string{
		"setsockopt {sock} {option} {optval}", "setsockopt {sock} {option} {optval}", "setsockopt {sock} {option} {optval}", "getsockopt {sock} {option}", "getsockopt {sock} {option}", "getsockopt {sock} {option}", "bind $9 {iaddr}", "bind $10 {iaddr}", "listen $9 {backlog}", "connect {sock} {iaddr}", "accept $13 $9 SOCK_NONBLOCK", "socket {sock} {idom} SOCK_STREAM|SOCK_NONBLOCK 0", "socket {sock} {idom} SOCK_DGRAM 0", "socket {sock} AF_UNIX {utype} 0", "shutdown {sock} {how}",
	}},
	// No link: whether a file of somebody else's may get one is a setting of the machine.
	{name: "credentials", forks: true, begin: []string{"umask 0", "mkdir d {dmode}", "mkdir e {dmode}", "open $0 a O_RDWR|O_CREAT {mode}", "open $1 d/a O_RDWR|O_CREAT {mode}", "open $2 e/b O_RDWR|O_CREAT 0666",
		"chown a {uid} {uid}", "chown d {uid} {uid}", "chown d/a {uid} {uid}", "chown e {uid} {uid}", "chmod . {dmode}", "fork %1", "setresuid {uid} {uid} 0"}, calls: []string{
		"setresuid {uid} {uid} {uid}", "setresuid -1 {uid} 0", "setresuid -1 0 -1", "setresgid {uid} {uid} {uid}", "setreuid {uid} {uid}", "setuid {uid}", "setfsuid {uid}", "setfsgid {uid}", "setgroups 2 {uid} {uid}", "prctl PR_SET_KEEPCAPS 1",
		"open {file} {cpath} {open} {mode}", "open {file} {cpath} {open} {mode}", "open {file} {cpath} O_RDWR|O_CREAT {mode}", "open {file} {cpath} O_TMPFILE|O_RDWR 0600", "close {file}", "write {file} 5", "ftruncate {file} 3", "truncate {cpath} 3", "stat {cpath}", "stat {cpath}", "lstat {cpath}", "fstat {file}",
		"access {cpath} {access}", "eaccess {cpath} {access}", "mkdir {cpath} {dmode}", "rmdir {cpath}", "unlink {cpath}", "rename {cpath} {cpath}", "rename {cpath} {cpath}", "renameat2 {cpath} {cpath} RENAME_EXCHANGE", "symlink {cpath} {cpath}", "readlink {cpath} 10", "mknod {cpath} S_IFIFO|0644", "mknod {cpath} S_IFREG|02755",
		"chmod {cpath} {mode}", "chmod {cpath} {dmode}", "fchmod {file} {mode}", "chown {cpath} {uid} {uid}", "lchown {cpath} {uid} -1", "chown {cpath} -1 {uid}", "fchown {file} {uid} {uid}", "utimens {cpath} {utime} {utime} 0", "list {cpath}", "chdir {cpath}",
		"kill {proc} 0", "kill {proc} SIGCONT", "kill %0 0", "setpriority PRIO_PROCESS {proc} {nice}", "sched_set {proc} {sched}", "socket $9 AF_UNIX SOCK_STREAM 0; bind $9 u:{cpath}; listen $9 5", "socket $10 AF_UNIX SOCK_STREAM 0; connect $10 u:{cpath}",
	}},
}
