// The calls that interp.c knows. Each prints its result, and what it gave.

static void result(long r)
{
	if (r < 0)
		out(" = %s", strerrorname_np(errno));
	else
		out(" = %ld", r);
}

// keep stores a descriptor in the variable named by an argument.
static void keep(const char *var, long fd)
{
	result(fd);
	if (fd >= 0 && *var == '$')
		vars[atoi(var + 1) % VARS] = fd;
}

#define F(name) static void f_##name(long *a, char **s)
#define U (void)a, (void)s

// Files.
F(open) { keep(s[0], open(s[1], a[2], a[3])); }
F(openat) { keep(s[0], openat(a[1], s[2], a[3], a[4])); }
F(reopen)
{
	char name[40];
	snprintf(name, sizeof name, "/proc/self/fd/%ld", a[1]);
	keep(s[0], open(name, a[2] | O_NONBLOCK));
}
F(close) { result(close(a[0])); }
F(read) { long n = read(a[0], buf, limit(a[1])); result(n); show_bytes(buf, n); }
F(write) { result(write(a[0], pattern(a[1]), limit(a[1]))); }
F(pread) { long n = pread(a[0], buf, limit(a[1]), a[2]); result(n); show_bytes(buf, n); }
F(pwrite) { result(pwrite(a[0], pattern(a[1]), limit(a[1]), a[2])); }
F(readv)
{
	memset(buf, 0, 4096);
	struct iovec v[2] = {{buf, limit(a[1]) / 2}, {buf + limit(a[1]) / 2, limit(a[2]) / 2}};
	long n = readv(a[0], v, 2);
	result(n);
	show_bytes(buf, n);
}
F(writev)
{
	char *b = pattern(a[1] + a[2]);
	struct iovec v[2] = {{b, limit(a[1]) / 2}, {b + limit(a[1]) / 2, limit(a[2]) / 2}};
	result(writev(a[0], v, 2));
}
F(lseek) { result(lseek(a[0], a[1], a[2])); }
F(dup) { keep(s[0], dup(a[1])); }
F(dup2) { keep(s[0], dup2(a[1], a[2])); }
F(dup3) { keep(s[0], dup3(a[1], a[2], a[3])); }
F(fcntl)
{
	// The value of O_LARGEFILE and the like is the same everywhere.
	result(fcntl(a[0], a[1], a[2]));
}
F(fcntldup) { keep(s[0], fcntl(a[1], a[2], a[3])); }
F(ftruncate) { result(ftruncate(a[0], a[1])); }
F(truncate) { result(truncate(s[0], a[1])); }
F(fallocate) { result(fallocate(a[0], a[1], a[2], a[3])); }
F(stat) { U; struct stat st; int r = stat(s[0], &st); result(r); if (!r) show_stat(&st); }
F(lstat) { U; struct stat st; int r = lstat(s[0], &st); result(r); if (!r) show_stat(&st); }
F(fstat)
{
	struct stat st;
	int r = fstat(a[0], &st);
	result(r);
	if (!r)
		S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) ? show_stat(&st) : out(" mode %o", st.st_mode);
}
F(mkdir) { result(mkdir(s[0], a[1])); }
F(rmdir) { U; result(rmdir(s[0])); }
F(unlink) { U; result(unlink(s[0])); }
F(unlinkat) { result(unlinkat(a[0], s[1], a[2])); }
F(rename) { U; result(rename(s[0], s[1])); }
F(renameat2) { result(renameat2(AT_FDCWD, s[0], AT_FDCWD, s[1], a[2])); }
F(link) { U; result(link(s[0], s[1])); }
F(linkat) { result(linkat(AT_FDCWD, s[0], AT_FDCWD, s[1], a[2])); }
F(symlink) { U; result(symlink(s[0], s[1])); }
F(readlink) { long n = readlink(s[0], buf, a[1] > 0 ? a[1] : 0); result(n); show_bytes(buf, n); }
F(chmod) { result(chmod(s[0], a[1])); }
F(fchmod) { result(fchmod(a[0], a[1])); }
F(access) { result(access(s[0], a[1])); }
F(eaccess) { result(syscall(SYS_faccessat2, AT_FDCWD, s[0], a[1], AT_EACCESS)); }
F(chown) { result(chown(s[0], a[1], a[2])); }
F(lchown) { result(lchown(s[0], a[1], a[2])); }
F(fchown) { result(fchown(a[0], a[1], a[2])); }
F(mknod) { result(mknod(s[0], a[1], 0)); }
F(umask) { result(umask(a[0])); }
F(chdir) { U; result(chdir(s[0])); }
F(fchdir) { result(fchdir(a[0])); }
F(getcwd)
{
	U;
	char *p = getcwd(buf, sizeof buf), *q = p ? strrchr(p, '/') : NULL;
	out(" %s", !p ? strerrorname_np(errno) : *p == '(' ? "unreachable" : q[1] == 'c' && q[2] >= '0' && q[2] <= '9' ? "top" : q + 1);
}
F(list)
{
	char *names[64];
	int n = 0;
	DIR *d = opendir(s[0]);
	result(d ? 0 : -1);
	for (struct dirent *e; d && (e = readdir(d)) && n < 64;)
		if (asprintf(&names[n], "%s:%d", e->d_name, e->d_type) > 0)
			n++;
	qsort(names, n, sizeof *names, by_name);
	for (int i = 0; i < n; i++)
		out(" %s", names[i]), free(names[i]);
	if (d)
		closedir(d);
	U;
}
F(utimens)
{
	struct timespec t[2] = {{a[1], a[1] < 1000000 ? a[1] : 0}, {a[2], a[2] * 3}};
	if (a[1] == UTIME_NOW || a[1] == UTIME_OMIT)
		t[0].tv_nsec = a[1];
	if (a[2] == UTIME_NOW || a[2] == UTIME_OMIT)
		t[1].tv_nsec = a[2];
	result(utimensat(AT_FDCWD, s[0], t, a[3]));
}
F(flock) { result(flock(a[0], a[1])); }
F(lock)
{
	struct flock l = {.l_type = a[2], .l_whence = a[3], .l_start = a[4], .l_len = a[5]};
	long r = fcntl(a[0], a[1], &l);
	result(r);
	if (!r && (a[1] == F_GETLK || a[1] == F_OFD_GETLK)) {
		out(" type %d", l.l_type);
		if (l.l_type != F_UNLCK) {
			out(" %ld+%ld by ", (long)l.l_start, (long)l.l_len);
			l.l_pid == -1 ? out("-1") : show_pid(l.l_pid);
		}
	}
}
F(sendfile)
{
	off_t o = a[2];
	result(sendfile(a[0], a[1], a[2] < -1 ? NULL : &o, a[3]));
	if (a[2] >= -1)
		out(" at %ld", (long)o);
}
F(splice)
{
	loff_t i = a[1], o = a[3];
	result(splice(a[0], a[1] < 0 ? NULL : &i, a[2], a[3] < 0 ? NULL : &o, a[4], a[5]));
	out(" %ld %ld", (long)i, (long)o);
}
F(tee) { result(tee(a[0], a[1], a[2], a[3])); }
F(copyrange) { result(copy_file_range(a[0], NULL, a[1], NULL, a[2], a[3])); }
F(memfd) { keep(s[0], memfd_create(s[1], a[2])); }
F(fsync) { result(fsync(a[0])); }
F(fdatasync) { result(fdatasync(a[0])); }
F(fadvise) { out(" %s", strerrorname_np(posix_fadvise(a[0], a[1], a[2], a[3]))); }
F(ioctl)
{
	int n = a[2];
	long r = ioctl(a[0], a[1], &n);
	result(r);
	if (!r && (a[1] == FIONREAD || a[1] == SIOCATMARK))
		out(" %d", n);
}

// Pipes, events, polling.
F(pipe)
{
	int p[2];
	long r = pipe2(p, a[2]);
	result(r);
	if (!r) {
		vars[atoi(s[0] + 1) % VARS] = p[0], vars[atoi(s[1] + 1) % VARS] = p[1];
		out(" %d %d", p[0], p[1]);
	}
}
F(eventfd) { keep(s[0], eventfd(a[1], a[2])); }
F(signal_eventfd) { uint64_t v = a[1]; result(write(a[0], &v, 8)); }
F(read_eventfd) { uint64_t v = 0; long n = read(a[0], &v, a[1] > 100 ? 8 : a[1]); result(n); if (n == 8) out(" %ld", (long)v); }
F(timerfd) { keep(s[0], timerfd_create(a[1], a[2])); }
F(timerfd_settime)
{
	struct itimerspec t = {{a[3], 0}, {a[2], a[4]}}, old = {{0}};
	long r = timerfd_settime(a[0], a[1], &t, &old);
	result(r);
	if (!r)
		out(" %ld+%d", (long)old.it_interval.tv_sec, old.it_value.tv_sec > 0);
}
F(timerfd_gettime)
{
	struct itimerspec t;
	long r = timerfd_gettime(a[0], &t);
	result(r);
	if (!r)
		out(" %ld+%d", (long)t.it_interval.tv_sec, t.it_value.tv_sec > 0);
}
F(signalfd) { sigset_t m = set_of(a[2]); keep(s[0], signalfd(*s[1] == '$' ? (int)a[1] : -1, &m, a[3])); }
F(read_signalfd)
{
	struct signalfd_siginfo si[2];
	long n = read(a[0], si, sizeof si);
	result(n);
	for (int i = 0; i < n / (int)sizeof *si; i++) {
		out(" %d code %d by ", si[i].ssi_signo, si[i].ssi_code);
		show_pid(si[i].ssi_pid);
		out(" value %d", si[i].ssi_int);
	}
}
F(epoll) { keep(s[0], epoll_create1(a[1])); }
F(epoll_ctl)
{
	struct epoll_event e = {.events = a[3], .data.u64 = a[4]};
	result(epoll_ctl(a[0], a[1], a[2], &e));
}
static int by_data(const void *x, const void *y)
{
	const struct epoll_event *a = x, *b = y;
	return a->data.u64 < b->data.u64 ? -1 : a->data.u64 > b->data.u64;
}
F(epoll_wait)
{
	struct epoll_event e[8];
	long n = epoll_wait(a[0], e, a[1] > 8 ? 8 : a[1], a[2]);
	result(n);
	if (n > 0)
		qsort(e, n, sizeof *e, by_data);
	for (int i = 0; i < n; i++)
		out(" %ld:%x", (long)e[i].data.u64, e[i].events);
}
F(poll)
{
	struct pollfd p[3] = {{a[0], a[1], 0}, {a[2], a[3], 0}, {-1, 0, 0}};
	result(poll(p, *s[2] ? 2 : 1, 0));
	out(" %x %x", p[0].revents, p[1].revents);
}
F(select)
{
	fd_set r, w2, x;
	FD_ZERO(&r);
	FD_ZERO(&w2);
	FD_ZERO(&x);
	if (a[0] < 0 || a[0] > 1000)
		return;
	FD_SET(a[0], &r);
	FD_SET(a[0], &w2);
	FD_SET(a[0], &x);
	struct timeval t = {0, 0};
	result(select(a[0] + 1, &r, &w2, &x, &t));
	out(" %d%d%d", !!FD_ISSET(a[0], &r), !!FD_ISSET(a[0], &w2), !!FD_ISSET(a[0], &x));
}

// Sockets.
F(socketpair)
{
	int p[2];
	long r = socketpair(a[2], a[3], a[4], p);
	result(r);
	if (!r) {
		vars[atoi(s[0] + 1) % VARS] = p[0], vars[atoi(s[1] + 1) % VARS] = p[1];
		out(" %d %d", p[0], p[1]);
	}
}
F(socket) { keep(s[0], socket(a[1], a[2], a[3])); }
F(bind) { struct sockaddr_storage x; socklen_t n = address(s[1], &x); result(bind(a[0], (void *)&x, n)); }
F(connect) { struct sockaddr_storage x; socklen_t n = address(s[1], &x); result(connect(a[0], (void *)&x, n)); }
F(listen) { result(listen(a[0], a[1])); }
F(accept)
{
	struct sockaddr_storage x = {0};
	socklen_t n = sizeof x;
	long r = accept4(a[1], (void *)&x, &n, a[2]);
	keep(s[0], r);
	if (r >= 0)
		show_address(&x, n);
}
F(getsockname) { struct sockaddr_storage x = {0}; socklen_t n = sizeof x; long r = getsockname(a[0], (void *)&x, &n); result(r); if (!r) show_address(&x, n); U; }
F(getpeername) { struct sockaddr_storage x = {0}; socklen_t n = sizeof x; long r = getpeername(a[0], (void *)&x, &n); result(r); if (!r) show_address(&x, n); U; }
F(shutdown) { result(shutdown(a[0], a[1])); }
F(send) { result(send(a[0], pattern(a[1]), limit(a[1]), a[2])); }
F(sendto) { struct sockaddr_storage x; socklen_t n = address(s[3], &x); result(sendto(a[0], pattern(a[1]), limit(a[1]), a[2], (void *)&x, n)); }
F(recv) { long n = recv(a[0], buf, limit(a[1]), a[2]); result(n); show_bytes(buf, n < (long)limit(a[1]) ? n : (long)limit(a[1])); }
F(recvfrom)
{
	struct sockaddr_storage x = {0};
	socklen_t l = sizeof x;
	long n = recvfrom(a[0], buf, limit(a[1]), a[2], (void *)&x, &l);
	result(n);
	show_bytes(buf, n < (long)limit(a[1]) ? n : (long)limit(a[1]));
	if (n >= 0)
		show_address(&x, l);
}
F(sendmsg)
{
	char ctl[CMSG_SPACE(8)] = {0};
	struct sockaddr_storage x;
	struct iovec v = {pattern(a[1]), limit(a[1])};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	if (*s[3] == '$') {
		m.msg_control = ctl;
		m.msg_controllen = CMSG_SPACE(4);
		struct cmsghdr *h = CMSG_FIRSTHDR(&m);
		*h = (struct cmsghdr){CMSG_LEN(4), SOL_SOCKET, SCM_RIGHTS};
		*(int *)CMSG_DATA(h) = a[3];
	}
	if (*s[4]) {
		m.msg_name = &x;
		m.msg_namelen = address(s[4], &x);
	}
	result(sendmsg(a[0], &m, a[2]));
}
F(recvmsg)
{
	char ctl[200] = {0};
	struct sockaddr_storage x = {0};
	struct iovec v[2] = {{buf, limit(a[1]) / 2}, {buf + limit(a[1]) / 2, limit(a[1]) - limit(a[1]) / 2}};
	struct msghdr m = {.msg_iov = v, .msg_iovlen = 2, .msg_control = ctl, .msg_controllen = a[3] ? sizeof ctl : 0, .msg_name = &x, .msg_namelen = sizeof x};
	long n = recvmsg(a[0], &m, a[2]);
	result(n);
	if (n < 0)
		return;
	show_bytes(buf, n < (long)limit(a[1]) ? n : (long)limit(a[1]));
	show_address(&x, m.msg_namelen);
	out(" flags %x", m.msg_flags & ~MSG_CMSG_CLOEXEC);
	for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h)) {
		out(" control %d:%d:%d", h->cmsg_level, h->cmsg_type, (int)h->cmsg_len);
		if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS) {
			int fd = *(int *)CMSG_DATA(h);
			out(" fd %d", fd);
			*s[4] == '$' ? (void)(vars[atoi(s[4] + 1) % VARS] = fd) : (void)close(fd);
		} else if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_CREDENTIALS) {
			struct ucred *c = (void *)CMSG_DATA(h);
			out(" by ");
			show_pid(c->pid);
			out(" %d.%d", (int)c->uid, (int)c->gid);
		}
	}
}
F(setsockopt) { int v[2] = {a[3], a[4]}; result(setsockopt(a[0], a[1], a[2], v, *s[4] ? 8 : 4)); }
F(getsockopt)
{
	int v[2] = {0};
	socklen_t n = sizeof v;
	long r = getsockopt(a[0], a[1], a[2], v, &n);
	result(r);
	if (!r)
		out(" %d:%d", (int)n, v[0]);
}
F(peercred)
{
	struct ucred c = {0};
	socklen_t n = sizeof c;
	long r = getsockopt(a[0], SOL_SOCKET, SO_PEERCRED, &c, &n);
	result(r);
	if (!r) {
		show_pid(c.pid);
		out(" %d.%d", (int)c.uid, (int)c.gid);
	}
	U;
}

// Signals.
F(sigaction)
{
	struct sigaction sa = {.sa_flags = a[2] | (a[1] > 1 ? SA_SIGINFO : 0)}, old = {0};
	sa.sa_mask = set_of(a[3]);
	if (a[1] > 1)
		sa.sa_sigaction = handler;
	else
		sa.sa_handler = a[1] ? SIG_IGN : SIG_DFL;
	long r = sigaction(a[0], &sa, &old);
	result(r);
	if (!r)
		out(" old %d flags %x", old.sa_handler == SIG_DFL ? 0 : old.sa_handler == SIG_IGN ? 1 : 2, (unsigned)old.sa_flags & ~0x4000000);
}
F(sigprocmask) { sigset_t m = set_of(a[1]), old; result(sigprocmask(a[0], &m, &old)); show_set(&old); }
F(sigpending) { U; sigset_t m; sigemptyset(&m); result(sigpending(&m)); show_set(&m); }
F(kill) { result(kill(a[0], a[1])); }
static pid_t group_of(pid_t pid)
{
	for (int i = 0; i < PROCS; i++)
		if (pid > 0 && w->pid[i] == pid)
			return w->group[i];
	return pid;
}
F(tgkill) { result(syscall(SYS_tgkill, group_of(a[0]), a[0], a[1])); }
F(pthread_sigqueue)
{
	siginfo_t si = {.si_signo = a[1], .si_code = SI_QUEUE, .si_value.sival_int = a[2]};
	result(syscall(SYS_rt_tgsigqueueinfo, group_of(a[0]), a[0], a[1], &si));
	U;
}
F(sigactions)
{
	U;
	static const int some[] = {SIGHUP, SIGINT, SIGUSR1, SIGUSR2, SIGPIPE, SIGTERM, SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGIO, 34, 35};
	for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
		struct sigaction sa;
		sigaction(some[i], NULL, &sa);
		out("%c", sa.sa_handler == SIG_DFL ? '.' : sa.sa_handler == SIG_IGN ? 'i' : 'h');
	}
}
F(sigaltstack)
{
	static char area[2][32768];
	stack_t st = {.ss_sp = area[a[0] & 1], .ss_flags = a[1], .ss_size = a[2]}, old = {0};
	result(sigaltstack(*s[2] ? &st : NULL, &old));
	out(" old %d %ld", old.ss_flags, (long)old.ss_size);
}
F(sigqueue) { union sigval v = {.sival_int = a[2]}; result(sigqueue(a[0], a[1], v)); }
F(raise) { result(raise(a[0])); U; }
F(sigtimedwait)
{
	sigset_t m = set_of(a[0]);
	siginfo_t si = {0};
	struct timespec t = {0, 0};
	long r = sigtimedwait(&m, &si, &t);
	result(r);
	if (r > 0) {
		out(" code %d by ", si.si_code);
		show_pid(si.si_pid);
	}
	U;
}
F(sigsuspend) { sigset_t m = set_of(a[0]); result(sigsuspend(&m)); U; }
F(pause) { U; result(pause()); }
F(alarm) { result(alarm(a[0])); U; }
F(setitimer)
{
	struct itimerval t = {{a[2], 0}, {a[1], 0}}, old = {{0}};
	long r = setitimer(a[0], &t, &old);
	result(r);
	if (!r)
		out(" %ld+%d", (long)old.it_interval.tv_sec, old.it_value.tv_sec > 0);
}
F(getitimer)
{
	struct itimerval t = {{0}};
	long r = getitimer(a[0], &t);
	result(r);
	if (!r)
		out(" %ld+%d", (long)t.it_interval.tv_sec, t.it_value.tv_sec > 0);
	U;
}

// Futexes.
F(futex)
{
	// A wait has a limit of nothing, so that it does not wait.
	struct timespec none = {0, 1};
	int cmd = a[1] & 127;
	int waits = cmd == FUTEX_WAIT || cmd == FUTEX_LOCK_PI;
	long r = syscall(SYS_futex, &w->word[a[0] & 7], (int)a[1], (int)a[2], waits ? &none : (void *)a[3], &w->word[a[4] & 7], (int)a[5]);
	result(r);
	uint32_t v = w->word[a[0] & 7];
	out(" word %x", v & 0xc0000000);
	if (v & 0x3fffffff) {
		out("+");
		show_pid(v & 0x3fffffff);
	}
}
F(set_word) { w->word[a[0] & 7] = a[1]; U; }

F(futex_wait)
{
	struct timespec t = {0, 1};
	uint32_t *p = &w->word[a[1] & 7];
	result(syscall(SYS_futex, p, (int)a[0], (int)a[2], *s[4] ? &t : NULL, NULL, *s[3] ? (int)a[3] : -1));
	U;
}
F(futex_wake) { result(syscall(SYS_futex, &w->word[a[1] & 7], (int)a[0], (int)a[2], NULL, &w->word[a[4] & 7], *s[3] ? (int)a[3] : -1)); U; }
F(futex_requeue) { result(syscall(SYS_futex, &w->word[a[1] & 7], (int)a[0], (int)a[2], a[3], &w->word[a[4] & 7], (int)a[5])); U; }

// Threads. A thread is a process of its own here, whose descriptors are its creator's.
static void *thread_main(void *p)
{
	long *arg = p;
	me = arg[0];
	to = &w->late[me];
	new_guard();
	w->group[me] = getpid();
	w->pid[me] = gettid();
	sigset_t *mask = (void *)arg[2];
	pthread_sigmask(SIG_SETMASK, mask, NULL);
	sem_post((sem_t *)arg[1]);
	worker(0);
	return NULL;
}
F(thread)
{
	int k = *s[0] == '%' ? atoi(s[0] + 1) % PROCS : 1;
	if (w->pid[k]) {
		out(" is there");
		return;
	}
	sigset_t all, old;
	sem_t up;
	pthread_attr_t how;
	pthread_t t;
	long arg[] = {k, (long)&up, (long)&old};
	sigfillset(&all);
	sem_init(&up, 0, 0);
	pthread_attr_init(&how);
	pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&how, (REGIONS + 1) << 20); // too large for the hole that rooms leave
	pthread_sigmask(SIG_SETMASK, &all, &old);
	w->turn[k] = w->done[k] = w->busy[k] = 0;
	int e = pthread_create(&t, &how, thread_main, arg);
	while (!e && sem_wait(&up) < 0)
		;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	out(e ? " failed" : " made");
	U;
}
F(thread_exit) { U; out(" ends\n"); timer_delete(guard); pthread_exit(NULL); }
F(thread_id) { U; out(" "); show_pid(gettid()); show_pid(getpid()); }

static void error_name(int e) { out(" = %s", e ? strerrorname_np(e) : "0"); }
static struct timespec limit_of(const char *s)
{
	struct timespec t = {*s == 'p' ? 1 : 4000000000, 0}; // what is past, or far in the future
	return t;
}
F(mutex_init)
{
	pthread_mutexattr_t m;
	pthread_mutexattr_init(&m);
	pthread_mutexattr_settype(&m, a[1]);
	pthread_mutexattr_setpshared(&m, a[2]);
	pthread_mutexattr_setrobust(&m, a[3]);
	pthread_mutexattr_setprotocol(&m, a[4] ? PTHREAD_PRIO_INHERIT : PTHREAD_PRIO_NONE);
	memset(&w->mutex[a[0] % 3], 0, sizeof *w->mutex);
	error_name(pthread_mutex_init(&w->mutex[a[0] % 3], &m));
	U;
}
F(mutex_lock) { U; error_name(pthread_mutex_lock(&w->mutex[a[0] % 3])); }
F(mutex_trylock) { U; error_name(pthread_mutex_trylock(&w->mutex[a[0] % 3])); }
F(mutex_timedlock) { struct timespec t = limit_of(s[1]); error_name(pthread_mutex_timedlock(&w->mutex[a[0] % 3], &t)); }
F(mutex_unlock) { U; error_name(pthread_mutex_unlock(&w->mutex[a[0] % 3])); }
F(mutex_consistent) { U; error_name(pthread_mutex_consistent(&w->mutex[a[0] % 3])); }
F(cond_init)
{
	pthread_condattr_t c;
	pthread_condattr_init(&c);
	pthread_condattr_setpshared(&c, a[1]);
	memset(&w->cond[a[0] & 1], 0, sizeof *w->cond);
	error_name(pthread_cond_init(&w->cond[a[0] & 1], &c));
	U;
}
F(cond_wait) { U; error_name(pthread_cond_wait(&w->cond[a[0] & 1], &w->mutex[a[1] % 3])); }
F(cond_timedwait) { struct timespec t = limit_of(s[2]); error_name(pthread_cond_timedwait(&w->cond[a[0] & 1], &w->mutex[a[1] % 3], &t)); }
F(cond_signal) { U; error_name(pthread_cond_signal(&w->cond[a[0] & 1])); }
F(cond_broadcast) { U; error_name(pthread_cond_broadcast(&w->cond[a[0] & 1])); }
F(rwlock_rdlock) { U; error_name(pthread_rwlock_rdlock(&w->rwlock)); }
F(rwlock_wrlock) { U; error_name(pthread_rwlock_wrlock(&w->rwlock)); }
F(rwlock_tryrdlock) { U; error_name(pthread_rwlock_tryrdlock(&w->rwlock)); }
F(rwlock_trywrlock) { U; error_name(pthread_rwlock_trywrlock(&w->rwlock)); }
F(rwlock_unlock) { U; error_name(pthread_rwlock_unlock(&w->rwlock)); }
F(sem_init) { U; result(sem_init(&w->sem, 1, a[0])); }
F(sem_wait) { U; result(sem_wait(&w->sem)); }
F(sem_trywait) { U; result(sem_trywait(&w->sem)); }
F(sem_post) { U; result(sem_post(&w->sem)); }

// Timers. Times are whole seconds, or so short or long that how long calls take does not show.
static __thread timer_t timers[TIMERS];
static __thread int made[TIMERS];
static struct timespec span(long v)
{
	// Below zero: so many hundredths of a second.
	return v < 0 ? (struct timespec){0, -v * 10000000} : (struct timespec){v, 0};
}
static void show_timer(const struct itimerspec *t)
{
	struct timespec v = t->it_value;
	out(" %ld+", (long)t->it_interval.tv_sec);
	if (!v.tv_sec && !v.tv_nsec)
		out("off");
	else if (v.tv_sec > 100000000)
		out("far");
	else // What is left, rounded up. A sleep that is interrupted at once has its slack left too.
		out("%ld", (long)v.tv_sec + (v.tv_nsec > 1000000 || !v.tv_sec));
}
F(timer_create)
{
	int k = a[0] % TIMERS;
	struct sigevent ev = {.sigev_notify = a[2], .sigev_signo = a[3], .sigev_value.sival_int = now_line};
	if (a[2] & SIGEV_THREAD_ID)
		ev._sigev_un._tid = *s[4] ? a[4] : gettid();
	long r = timer_create(a[1], *s[2] == '-' ? NULL : &ev, &timers[k]);
	result(r);
	made[k] |= !r;
}
F(timer_settime)
{
	int k = a[0] % TIMERS;
	struct itimerspec t = {span(a[3]), span(a[2])}, old = {{0}};
	if (!made[k])
		return;
	long r = timer_settime(timers[k], a[1], &t, &old);
	result(r);
	if (!r)
		show_timer(&old);
	U;
}
F(timer_gettime)
{
	struct itimerspec t = {{0}};
	if (!made[a[0] % TIMERS])
		return;
	long r = timer_gettime(timers[a[0] % TIMERS], &t);
	result(r);
	if (!r)
		show_timer(&t);
	U;
}
F(timer_getoverrun) { U; if (made[a[0] % TIMERS]) result(timer_getoverrun(timers[a[0] % TIMERS])); }
F(timer_delete) { U; if (made[a[0] % TIMERS]) result(timer_delete(timers[a[0] % TIMERS])); }
F(fdtimer_set)
{
	struct itimerspec t = {span(a[3]), span(a[2])}, old = {{0}};
	long r = timerfd_settime(a[0], a[1], &t, &old);
	result(r);
	if (!r)
		show_timer(&old);
	U;
}
F(fdtimer_get)
{
	struct itimerspec t = {{0}};
	long r = timerfd_gettime(a[0], &t);
	result(r);
	if (!r)
		show_timer(&t);
	U;
}
F(itimer_set)
{
	struct timespec v = span(a[1]), i = span(a[2]);
	struct itimerval t = {{i.tv_sec, i.tv_nsec / 1000}, {v.tv_sec, v.tv_nsec / 1000}}, old = {{0}};
	long r = setitimer(a[0], &t, &old);
	result(r);
	if (!r)
		show_timer(&(struct itimerspec){{old.it_interval.tv_sec, 0}, {old.it_value.tv_sec, old.it_value.tv_usec}});
	U;
}
F(sleep)
{
	struct timespec t = span(a[2]), left = {0};
	int e = clock_nanosleep(a[0], a[1], &t, &left);
	error_name(e);
	if (e == EINTR && !a[1])
		show_timer(&(struct itimerspec){{0}, left});
	U;
}
F(nap) { U; arm(0); usleep(60000); out(" over"); } // timers of hundredths expire
F(getres) { struct timespec t = {0}; long r = clock_getres(a[0], &t); result(r); if (!r) out(" %ld.%ld", (long)t.tv_sec, t.tv_nsec); U; }

// Memory.
F(mmap)
{
	int k = a[0] & 3;
	char *p = mmap(room(k), a[1], a[2], a[3], *s[4] == '$' ? (int)a[4] : -1, a[5]);
	result(p == MAP_FAILED ? -1 : 0);
	regions[k] = p == MAP_FAILED ? NULL : p;
	region_size[k] = p == MAP_FAILED ? 0 : a[1];
}
F(munmap) { int k = a[0] & 3; if (!regions[k]) return; result(munmap(regions[k] + a[1], a[2])); U; }
F(mprotect) { int k = a[0] & 3; if (!regions[k]) return; result(mprotect(regions[k] + a[1], a[2], a[3])); U; }
F(msync) { int k = a[0] & 3; if (!regions[k]) return; result(msync(regions[k] + a[1], a[2], a[3])); U; }
F(madvise) { int k = a[0] & 3; if (!regions[k]) return; result(madvise(regions[k] + a[1], a[2], a[3])); U; }
F(mlock) { int k = a[0] & 3; if (!regions[k]) return; result(mlock(regions[k] + a[1], a[2])); U; }
F(mremap)
{
	int k = a[0] & 3;
	if (!regions[k])
		return;
	char *p = mremap(regions[k], region_size[k], a[1], a[2]);
	result(p == MAP_FAILED ? -1 : 0);
	if (p != MAP_FAILED)
		regions[k] = p, region_size[k] = a[1];
	U;
}
F(peek)
{
	int k = a[0] & 3, sig;
	if (!regions[k])
		return;
	if (!(sig = sigsetjmp(faulted, 1))) {
		entered = 1;
		out(" %d", *(volatile char *)(regions[k] + a[1]));
		entered = 0;
	} else
		out(" signal %d", sig);
	U;
}
F(poke)
{
	int k = a[0] & 3, sig;
	if (!regions[k])
		return;
	if (!(sig = sigsetjmp(faulted, 1))) {
		entered = 1;
		*(volatile char *)(regions[k] + a[1]) = 'A' + now_line % 26;
		entered = 0;
		out(" done");
	} else
		out(" signal %d", sig);
	U;
}
F(write_from) { int k = a[1] & 3; if (!regions[k]) return; result(write(a[0], regions[k] + a[2], a[3])); U; }
F(read_into) { int k = a[1] & 3; if (!regions[k]) return; result(read(a[0], regions[k] + a[2], a[3])); U; }

// Processes.
F(fork)
{
	int k = *s[0] == '%' ? atoi(s[0] + 1) % PROCS : 1;
	if (w->pid[k]) {
		out(" is there");
		return;
	}
	fflush(stdout);
	sigset_t all, old;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old); // the child's timer must be there before it is known
	pid_t p = fork();
	if (!p) {
		me = k;
		w->group[k] = w->pid[k] = getpid();
		memset(made, 0, sizeof made);
		new_guard();
		sigprocmask(SIG_SETMASK, &old, NULL);
		worker(0);
	}
	w->group[k] = p > 0 ? p : 0;
	w->pid[k] = w->group[k];
	sigprocmask(SIG_SETMASK, &old, NULL);
	out(p > 0 ? " made" : " failed");
	U;
}
F(exec)
{
	U;
	char p[10], line[10];
	memcpy(w->kept.vars, vars, sizeof vars);
	w->kept.ports = ports;
	snprintf(p, sizeof p, "%d", me);
	snprintf(line, sizeof line, "%d", now_line);
	arm(0);
	w->executes = 1;
	execl("/proc/thread-self/exe", "interp", "again", p, line, NULL);
	w->executes = 0;
	result(-1);
}
F(exit_thread) { syscall(SYS_exit, (int)a[0]); U; }
F(exit) { out(" ends\n"); _exit(a[0]); U; }
F(wait4)
{
	int st = 0;
	pid_t p = wait4(a[0], &st, a[1], NULL);
	if (p <= 0)
		result(p);
	else {
		out(" = ");
		show_pid(p);
		show_status(st);
	}
}
F(waitid)
{
	siginfo_t si = {0};
	long r = waitid(a[0], a[1], &si, a[2]);
	result(r);
	if (!r) {
		out(" signo %d code %d status %d pid ", si.si_signo, si.si_code, si.si_status);
		show_pid(si.si_pid);
	}
}
F(getpgid) { pid_t p = getpgid(a[0]); p < 0 ? result(p) : show_pid(p); U; }
F(getsid) { pid_t p = getsid(a[0]); p < 0 ? result(p) : show_pid(p); U; }
F(setpgid) { result(setpgid(a[0], a[1])); }
F(setsid) { U; pid_t p = setsid(); p < 0 ? result(p) : show_pid(p); }
F(getppid) { U; out(" "); show_pid(getppid()); }
F(getpriority) { errno = 0; long r = getpriority(a[0], a[1]); errno ? result(-1) : out(" %ld", r); }
F(setpriority) { result(setpriority(a[0], a[1], a[2])); }
F(sched_get) { result(sched_getscheduler(a[0])); U; }
F(sched_set) { struct sched_param p = {a[2]}; result(sched_setscheduler(a[0], a[1], &p)); }
F(sched_getparam) { struct sched_param p = {0}; long r = sched_getparam(a[0], &p); result(r); if (!r) out(" %d", p.sched_priority); U; }
F(getrlimit)
{
	struct rlimit l = {0};
	long r = prlimit(a[0], a[1], NULL, &l);
	result(r);
	if (!r && a[2])
		out(" %ld", (long)l.rlim_cur);
}
F(setrlimit) { struct rlimit l = {0}; prlimit(0, a[1], NULL, &l); l.rlim_cur = a[2]; result(prlimit(a[0], a[1], &l, NULL)); U; }
F(prctl)
{
	memset(buf, 0, 64);
	long v = a[1];
	if (a[0] == PR_SET_NAME)
		v = (long)s[1];
	else if (a[0] == PR_GET_NAME || a[0] == PR_GET_PDEATHSIG || a[0] == PR_GET_CHILD_SUBREAPER)
		v = (long)buf;
	long r = prctl(a[0], v, 0, 0, 0);
	result(r);
	if (!r && v == (long)buf)
		a[0] == PR_GET_NAME ? out(" %s", buf) : out(" %d", *(int *)buf);
}

// System V IPC.
struct letter { long type; char text[64]; };
F(msgget) { long r = msgget(a[1], a[2]); if (r >= 0) vars[atoi(s[0] + 1) % VARS] = r, out(" = id %d", number(2, r + 1000000)); else result(r); }
F(msgsnd) { struct letter m = {a[1], {0}}; memcpy(m.text, pattern(64), 64); result(msgsnd(a[0], &m, a[2] > 64 ? 64 : a[2], a[3])); }
F(msgrcv) { struct letter m = {0}; long r = msgrcv(a[0], &m, a[2] > 64 ? 64 : a[2], a[1], a[3]); result(r); if (r >= 0) { out(" type %ld", m.type); show_bytes(m.text, r); } }
F(msgstat) { struct msqid_ds d; long r = msgctl(a[0], IPC_STAT, &d); result(r); if (!r) out(" %ld messages, mode %o", (long)d.msg_qnum, d.msg_perm.mode); U; }
F(msgrm) { result(msgctl(a[0], IPC_RMID, NULL)); U; }
F(semget) { long r = semget(a[1], a[2], a[3]); if (r >= 0) vars[atoi(s[0] + 1) % VARS] = r, out(" = id %d", number(2, r + 2000000)); else result(r); }
F(semop) { struct sembuf b[2] = {{a[1], a[2], a[3]}, {a[4], a[5], a[3]}}; result(semop(a[0], b, *s[4] ? 2 : 1)); }
F(semctl)
{
	unsigned short all[64] = {0};
	union { int v; void *p; } arg = {.v = a[3]};
	if (a[2] == GETALL)
		arg.p = all;
	long r = semctl(a[0], a[1], a[2], arg);
	if (r > 0 && a[2] == GETPID)
		out(" = "), show_pid(r);
	else
		result(r);
	if (a[2] == GETALL)
		out(" %d %d %d", all[0], all[1], all[2]);
}
F(semrm) { result(semctl(a[0], 0, IPC_RMID)); U; }
F(shmget) { long r = shmget(a[1], a[2], a[3]); if (r >= 0) vars[atoi(s[0] + 1) % VARS] = r, out(" = id %d", number(2, r + 3000000)); else result(r); }
F(shmat)
{
	int k = a[0] & 3;
	if (regions[k])
		return;
	char *p = shmat(a[1], room(k), a[2]);
	result(p == (char *)-1 ? -1 : 0);
	if (p != (char *)-1)
		regions[k] = p, region_size[k] = 4096;
	U;
}
F(shmdt) { int k = a[0] & 3; result(shmdt(regions[k])); if (errno == 0) regions[k] = NULL; U; }
F(shmstat) { struct shmid_ds d; long r = shmctl(a[0], IPC_STAT, &d); result(r); if (!r) out(" %ld bytes, %d attached, mode %o", (long)d.shm_segsz, (int)d.shm_nattch, d.shm_perm.mode); U; }
F(shmrm) { result(shmctl(a[0], IPC_RMID, NULL)); U; }

// POSIX message queues.
F(mq_open)
{
	struct mq_attr m = {.mq_flags = 0, .mq_maxmsg = a[4], .mq_msgsize = a[5]};
	keep(s[0], syscall(SYS_mq_open, s[1], (int)a[2], (int)a[3], *s[4] ? &m : NULL));
}
F(mq_unlink) { U; result(syscall(SYS_mq_unlink, s[0])); }
F(mq_send)
{
	struct timespec past = {1, 0};
	result(syscall(SYS_mq_timedsend, (int)a[0], pattern(a[1]), limit(a[1]), (unsigned)a[2], *s[3] ? &past : NULL));
}
F(mq_receive)
{
	struct timespec past = {1, 0};
	unsigned priority = 99;
	long n = syscall(SYS_mq_timedreceive, (int)a[0], buf, limit(a[1]), &priority, *s[2] ? &past : NULL);
	result(n);
	if (n >= 0)
		out(" priority %u", priority);
	show_bytes(buf, n);
}
F(mq_attr)
{
	struct mq_attr set = {.mq_flags = a[1]}, is = {0};
	long r = syscall(SYS_mq_getsetattr, (int)a[0], *s[1] ? &set : NULL, &is);
	result(r);
	if (!r)
		out(" %lx %ld %ld %ld", (long)is.mq_flags, (long)is.mq_maxmsg, (long)is.mq_msgsize, (long)is.mq_curmsgs);
}
F(mq_notify)
{
	struct sigevent ev = {.sigev_notify = a[1], .sigev_signo = a[2], .sigev_value.sival_int = a[3]};
	result(syscall(SYS_mq_notify, (int)a[0], *s[1] == '-' ? NULL : &ev));
}

// Descriptors of processes.
F(pidfd_open) { keep(s[0], syscall(SYS_pidfd_open, (int)a[1], (int)a[2])); }
F(pidfd_send) { result(syscall(SYS_pidfd_send_signal, (int)a[0], (int)a[1], NULL, (int)a[2])); U; }
F(pidfd_getfd) { keep(s[0], syscall(SYS_pidfd_getfd, (int)a[1], (int)a[2], (int)a[3])); }

// inotify.
F(inotify) { keep(s[0], inotify_init1(a[1])); }
F(watch) { result(inotify_add_watch(a[0], s[1], a[2])); }
F(unwatch) { result(inotify_rm_watch(a[0], a[1])); U; }
F(read_inotify)
{
	long n = read(a[0], buf, limit(a[1]));
	result(n);
	for (long at = 0; at < n && n > 0;) {
		struct inotify_event *e = (void *)(buf + at);
		out(" %d:%x", e->wd, e->mask);
		if (e->cookie)
			out(":%d", number(2, e->cookie + 4000000));
		if (e->len)
			out(":%s", e->name);
		at += sizeof *e + e->len;
	}
}
F(vmsplice)
{
	struct iovec v = {pattern(a[1]), limit(a[1])};
	result(vmsplice(a[0], &v, 1, a[2]));
}

// Ids.
F(setresuid) { result(syscall(SYS_setresuid, (int)a[0], (int)a[1], (int)a[2])); U; }
F(setresgid) { result(syscall(SYS_setresgid, (int)a[0], (int)a[1], (int)a[2])); U; }
F(setreuid) { result(syscall(SYS_setreuid, (int)a[0], (int)a[1])); U; }
F(setregid) { result(syscall(SYS_setregid, (int)a[0], (int)a[1])); U; }
F(setuid) { result(syscall(SYS_setuid, (int)a[0])); U; }
F(setgid) { result(syscall(SYS_setgid, (int)a[0])); U; }
F(setfsuid) { result(syscall(SYS_setfsuid, (int)a[0])); U; }
F(setfsgid) { result(syscall(SYS_setfsgid, (int)a[0])); U; }
F(setgroups) { gid_t g[3] = {a[1], a[2], a[3]}; result(syscall(SYS_setgroups, a[0], g)); U; }
F(ids)
{
	U;
	unsigned r, e, v;
	syscall(SYS_getresuid, &r, &e, &v);
	out(" %d %d %d", r, e, v);
	syscall(SYS_getresgid, &r, &e, &v);
	out(" %d %d %d", r, e, v);
	gid_t g[8];
	int n = syscall(SYS_getgroups, 8, g);
	for (int i = 0; i < n; i++)
		out(" +%d", (int)g[i]);
}

static const struct { const char *name; void (*f)(long *, char **); } calls[] = {
#define N(name) {#name, f_##name}
	N(open), N(openat), N(reopen), N(close), N(read), N(write), N(pread), N(pwrite), N(readv), N(writev), N(lseek), N(dup), N(dup2), N(dup3),
	N(fcntl), N(fcntldup), N(ftruncate), N(truncate), N(fallocate), N(stat), N(lstat), N(fstat), N(mkdir), N(rmdir), N(unlink),
	N(unlinkat), N(rename), N(renameat2), N(link), N(linkat), N(symlink), N(readlink), N(chmod), N(fchmod), N(access), N(eaccess), N(chown), N(lchown), N(fchown), N(mknod), N(umask),
	N(chdir), N(fchdir), N(getcwd), N(list), N(utimens), N(flock), N(lock), N(sendfile), N(splice), N(tee), N(copyrange), N(memfd), N(fsync),
	N(fdatasync), N(fadvise), N(ioctl), N(pipe), N(eventfd), N(signal_eventfd), N(read_eventfd), N(timerfd), N(timerfd_settime),
	N(timerfd_gettime), N(signalfd), N(read_signalfd), N(epoll), N(epoll_ctl), N(epoll_wait), N(poll), N(select), N(socketpair), N(socket),
	N(bind), N(connect), N(listen), N(accept), N(getsockname), N(getpeername), N(shutdown), N(send), N(sendto), N(recv), N(recvfrom),
	N(sendmsg), N(recvmsg), N(setsockopt), N(getsockopt), N(peercred), N(sigaction), N(sigprocmask), N(sigpending), N(kill), N(tgkill),
	N(sigqueue), N(raise), N(sigtimedwait), N(sigsuspend), N(pause), N(alarm), N(setitimer), N(getitimer), N(futex), N(set_word), N(mmap),
	N(munmap), N(mprotect), N(msync), N(madvise), N(mlock), N(mremap), N(peek), N(poke), N(write_from), N(read_into), N(fork), N(exit), N(wait4),
	N(waitid), N(getpgid), N(getsid), N(setpgid), N(setsid), N(getppid), N(getpriority), N(setpriority), N(sched_get), N(sched_set),
	N(sched_getparam), N(getrlimit), N(setrlimit), N(prctl), N(msgget), N(msgsnd), N(msgrcv), N(msgstat), N(msgrm), N(semget), N(semop),
	N(semctl), N(semrm), N(shmget), N(shmat), N(shmdt), N(shmstat), N(shmrm), N(setresuid), N(setresgid), N(setreuid), N(setregid), N(setuid),
	N(setgid), N(setfsuid), N(setfsgid), N(setgroups), N(ids), N(pthread_sigqueue), N(sigactions), N(sigaltstack), N(futex_wait), N(futex_wake),
	N(futex_requeue), N(thread), N(thread_exit), N(thread_id), N(mutex_init), N(mutex_lock), N(mutex_trylock), N(mutex_timedlock), N(mutex_unlock),
	N(mutex_consistent), N(cond_init), N(cond_wait), N(cond_timedwait), N(cond_signal), N(cond_broadcast), N(rwlock_rdlock), N(rwlock_wrlock),
	N(rwlock_tryrdlock), N(rwlock_trywrlock), N(rwlock_unlock), N(sem_init), N(sem_wait), N(sem_trywait), N(sem_post), N(timer_create),
	N(timer_settime), N(timer_gettime), N(timer_getoverrun), N(timer_delete), N(fdtimer_set), N(fdtimer_get), N(itimer_set), N(sleep), N(nap),
	N(getres), N(exec), N(exit_thread),
	N(mq_open), N(mq_unlink), N(mq_send), N(mq_receive), N(mq_attr), N(mq_notify), N(pidfd_open), N(pidfd_send), N(pidfd_getfd), N(inotify), N(watch), N(unwatch),
	N(read_inotify), N(vmsplice),
};
