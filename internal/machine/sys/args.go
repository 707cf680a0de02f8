package sys

import (
	"fmt"
	"strings"
)

// takes are the calls that have fewer than six arguments, by how many that are. Optional ones
// count. It is what strace 6.1 shows of each call. Of newer calls it is not known.
var takes = [...]string{
	0: "rt_sigreturn sched_yield pause getpid fork vfork getuid getgid geteuid getegid getppid getpgrp " +
		"setsid munlockall vhangup sync gettid restart_syscall inotify_init",
	1: "close brk pipe dup alarm exit uname shmdt fsync fdatasync chdir fchdir rmdir unlink umask " +
		"sysinfo times setuid setgid getpgid setfsuid setfsgid getsid uselib personality " +
		"sched_getscheduler sched_get_priority_max sched_get_priority_min mlockall _sysctl adjtimex " +
		"chroot acct swapoff iopl get_kernel_syms time set_thread_area io_destroy get_thread_area " +
		"epoll_create set_tid_address timer_getoverrun timer_delete exit_group mq_unlink unshare " +
		"eventfd epoll_create1 inotify_init1 syncfs userfaultfd pkey_free memfd_secret",
	2: "stat fstat lstat munmap access dup2 nanosleep getitimer shutdown listen kill msgget flock " +
		"truncate ftruncate getcwd rename mkdir creat link symlink chmod fchmod gettimeofday getrlimit " +
		"getrusage setpgid setreuid setregid getgroups setgroups capget capset rt_sigpending " +
		"rt_sigsuspend sigaltstack utime ustat statfs fstatfs getpriority sched_setparam sched_getparam " +
		"sched_rr_get_interval mlock munlock pivot_root arch_prctl setrlimit settimeofday umount2 " +
		"swapon sethostname setdomainname create_module delete_module removexattr lremovexattr " +
		"fremovexattr tkill io_setup timer_gettime clock_settime clock_gettime clock_getres utimes " +
		"mq_notify ioprio_get inotify_rm_watch set_robust_list timerfd_create timerfd_gettime eventfd2 " +
		"pipe2 fanotify_init clock_adjtime setns memfd_create pkey_alloc io_uring_setup fsopen " +
		"pidfd_open clone3 landlock_restrict_self process_mrelease",
	3: "read write open poll lseek mprotect ioctl readv writev msync mincore madvise shmget shmat " +
		"shmctl setitimer socket connect accept sendmsg recvmsg bind getsockname getpeername execve " +
		"semget semop msgctl fcntl getdents readlink chown fchown lchown syslog setresuid getresuid " +
		"setresgid getresgid rt_sigqueueinfo mknod sysfs setpriority sched_setscheduler modify_ldt " +
		"ioperm init_module nfsservctl tuxcall security readahead listxattr llistxattr flistxattr " +
		"sched_setaffinity sched_getaffinity io_submit io_cancel lookup_dcookie getdents64 timer_create " +
		"tgkill set_mempolicy mq_getsetattr ioprio_set inotify_add_watch mkdirat futimesat unlinkat " +
		"symlinkat fchmodat faccessat get_robust_list signalfd dup3 open_by_handle_at getcpu " +
		"finit_module sched_setattr seccomp getrandom bpf membarrier mlock2 open_tree fsmount fspick " +
		"close_range pidfd_getfd landlock_create_ruleset",
	4: "rt_sigaction rt_sigprocmask pread64 pwrite64 sendfile socketpair wait4 semctl msgsnd ptrace " +
		"rt_sigtimedwait reboot quotactl getxattr lgetxattr fgetxattr epoll_ctl_old epoll_wait_old " +
		"semtimedop fadvise64 timer_settime clock_nanosleep epoll_wait epoll_ctl mq_open kexec_load " +
		"request_key migrate_pages openat mknodat newfstatat renameat readlinkat tee sync_file_range " +
		"vmsplice utimensat fallocate timerfd_settime accept4 signalfd4 preadv pwritev " +
		"rt_tgsigqueueinfo prlimit64 sendmmsg sched_getattr pkey_mprotect rseq pidfd_send_signal " +
		"io_uring_register openat2 faccessat2 quotactl_fd landlock_add_rule set_mempolicy_home_node",
	5: "select mremap setsockopt getsockopt clone msgrcv prctl mount query_module getpmsg putpmsg " +
		"afs_syscall setxattr lsetxattr fsetxattr io_getevents remap_file_pages vserver get_mempolicy " +
		"mq_timedsend mq_timedreceive waitid add_key keyctl fchownat linkat ppoll perf_event_open " +
		"recvmmsg fanotify_mark name_to_handle_at kcmp renameat2 kexec_file_load execveat statx " +
		"move_mount fsconfig process_madvise mount_setattr futex_waitv",
}

// argCounts is how many arguments calls have, by name.
var argCounts = func() map[string]int {
	all := map[string]int{}
	for n, list := range takes {
		for name := range strings.FieldsSeq(list) {
			all[name] = n
		}
	}
	return all
}()

// formatArgs are the arguments of a call, or all six registers where it is not known how many
// it has.
func formatArgs(nr int, a Args) string {
	n, ok := argCounts[Name(nr)]
	if !ok {
		n = len(a)
	}
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%#x", a[i])
	}
	return "(" + strings.Join(all, ", ") + ")"
}
