package sys

import "golang.org/x/sys/unix"

// Calls that no family has: each is refused with the answer that a program is
// best prepared for, and reported.
func init() {
	const (
		namespaces = "a node has its namespaces once and for all"
		machine    = "the machine belongs to the host"
		modules    = "the host's kernel is out of reach"
		never      = "no Linux on this architecture has it"
		newer      = "newer than the Linux that is shown"
		keys       = "a kernel built without keyrings"
		memory     = "the memory of other processes is out of reach"
		numa       = "a node has one memory node"
		security   = "a kernel built without it"
	)
	register(
		refused(unix.SYS_SETNS, "setns", unix.EPERM, false, namespaces),
		refused(unix.SYS_PIVOT_ROOT, "pivot_root", unix.EPERM, false, namespaces),
		refused(unix.SYS_MOUNT, "mount", unix.EPERM, false, namespaces),
		refused(unix.SYS_UMOUNT2, "umount2", unix.EPERM, false, namespaces),
		refused(unix.SYS_OPEN_TREE, "open_tree", unix.EPERM, false, namespaces),
		refused(unix.SYS_MOVE_MOUNT, "move_mount", unix.EPERM, false, namespaces),
		refused(unix.SYS_FSOPEN, "fsopen", unix.EPERM, false, namespaces),
		refused(unix.SYS_FSCONFIG, "fsconfig", unix.EPERM, false, namespaces),
		refused(unix.SYS_FSMOUNT, "fsmount", unix.EPERM, false, namespaces),
		refused(unix.SYS_FSPICK, "fspick", unix.EPERM, false, namespaces),
		refused(unix.SYS_MOUNT_SETATTR, "mount_setattr", unix.EPERM, false, namespaces),

		refused(unix.SYS_SWAPON, "swapon", unix.EPERM, false, machine),
		refused(unix.SYS_SWAPOFF, "swapoff", unix.EPERM, false, machine),
		refused(unix.SYS_REBOOT, "reboot", unix.EPERM, false, machine),
		refused(unix.SYS_ACCT, "acct", unix.EPERM, false, machine),
		refused(unix.SYS_VHANGUP, "vhangup", unix.EPERM, false, machine),
		refused(unix.SYS_SYSLOG, "syslog", unix.EPERM, true, machine),
		refused(unix.SYS_IOPL, "iopl", unix.EPERM, false, machine),
		refused(unix.SYS_IOPERM, "ioperm", unix.EPERM, false, machine),
		refused(unix.SYS_MODIFY_LDT, "modify_ldt", unix.ENOSYS, false, "segments of 16 and 32 bits are not modelled"),
		refused(unix.SYS_PERF_EVENT_OPEN, "perf_event_open", unix.EACCES, true, "counters differ from run to run"),
		refused(unix.SYS_RSEQ, "rseq", unix.ENOSYS, true, "libc works without it"),
		refused(unix.SYS_SECCOMP, "seccomp", unix.EINVAL, true, "a kernel built without filters"),
		refused(unix.SYS_BPF, "bpf", unix.EPERM, true, modules),
		refused(unix.SYS_INIT_MODULE, "init_module", unix.EPERM, false, modules),
		refused(unix.SYS_FINIT_MODULE, "finit_module", unix.EPERM, false, modules),
		refused(unix.SYS_DELETE_MODULE, "delete_module", unix.EPERM, false, modules),
		refused(unix.SYS_KEXEC_LOAD, "kexec_load", unix.EPERM, false, modules),
		refused(unix.SYS_KEXEC_FILE_LOAD, "kexec_file_load", unix.EPERM, false, modules),
		refused(unix.SYS_LOOKUP_DCOOKIE, "lookup_dcookie", unix.EPERM, false, modules),
		refused(unix.SYS_URETPROBE, "uretprobe", unix.ENOSYS, true, newer),
		refused(unix.SYS_UPROBE, "uprobe", unix.ENOSYS, true, newer),

		refused(unix.SYS_ADD_KEY, "add_key", unix.ENOSYS, true, keys),
		refused(unix.SYS_REQUEST_KEY, "request_key", unix.ENOSYS, true, keys),
		refused(unix.SYS_KEYCTL, "keyctl", unix.ENOSYS, true, keys),
		refused(unix.SYS_LANDLOCK_CREATE_RULESET, "landlock_create_ruleset", unix.ENOSYS, true, security),
		refused(unix.SYS_LANDLOCK_ADD_RULE, "landlock_add_rule", unix.ENOSYS, true, security),
		refused(unix.SYS_LANDLOCK_RESTRICT_SELF, "landlock_restrict_self", unix.ENOSYS, true, security),

		refused(unix.SYS_PROCESS_MADVISE, "process_madvise", unix.ENOSYS, true, memory),
		refused(unix.SYS_PROCESS_MRELEASE, "process_mrelease", unix.ENOSYS, true, memory),
		refused(unix.SYS_MIGRATE_PAGES, "migrate_pages", unix.ENOSYS, true, numa),
		refused(unix.SYS_MOVE_PAGES, "move_pages", unix.ENOSYS, true, numa),
		refused(unix.SYS_SET_MEMPOLICY_HOME_NODE, "set_mempolicy_home_node", unix.ENOSYS, true, numa),
		refused(unix.SYS_FUTEX_WAITV, "futex_waitv", unix.ENOSYS, true, "programs fall back to futex"),
		refused(unix.SYS_RESTART_SYSCALL, "restart_syscall", unix.EINTR, false, "restarts are made another way"),

		refused(unix.SYS_CACHESTAT, "cachestat", unix.ENOSYS, true, newer),
		refused(unix.SYS_MAP_SHADOW_STACK, "map_shadow_stack", unix.ENOSYS, true, newer),
		refused(unix.SYS_FUTEX_WAKE, "futex_wake", unix.ENOSYS, true, newer),
		refused(unix.SYS_FUTEX_WAIT, "futex_wait", unix.ENOSYS, true, newer),
		refused(unix.SYS_FUTEX_REQUEUE, "futex_requeue", unix.ENOSYS, true, newer),
		refused(unix.SYS_STATMOUNT, "statmount", unix.ENOSYS, true, newer),
		refused(unix.SYS_LISTMOUNT, "listmount", unix.ENOSYS, true, newer),
		refused(unix.SYS_LSM_GET_SELF_ATTR, "lsm_get_self_attr", unix.ENOSYS, true, newer),
		refused(unix.SYS_LSM_SET_SELF_ATTR, "lsm_set_self_attr", unix.ENOSYS, true, newer),
		refused(unix.SYS_LSM_LIST_MODULES, "lsm_list_modules", unix.ENOSYS, true, newer),
		refused(unix.SYS_SETXATTRAT, "setxattrat", unix.ENOSYS, true, newer),
		refused(unix.SYS_GETXATTRAT, "getxattrat", unix.ENOSYS, true, newer),
		refused(unix.SYS_LISTXATTRAT, "listxattrat", unix.ENOSYS, true, newer),
		refused(unix.SYS_REMOVEXATTRAT, "removexattrat", unix.ENOSYS, true, newer),
		refused(unix.SYS_OPEN_TREE_ATTR, "open_tree_attr", unix.ENOSYS, true, newer),
		refused(unix.SYS_FILE_GETATTR, "file_getattr", unix.ENOSYS, true, newer),
		refused(unix.SYS_FILE_SETATTR, "file_setattr", unix.ENOSYS, true, newer),
		refused(unix.SYS_LISTNS, "listns", unix.ENOSYS, true, newer),
		refused(unix.SYS_RSEQ_SLICE_YIELD, "rseq_slice_yield", unix.ENOSYS, true, newer),

		refused(unix.SYS_USELIB, "uselib", unix.ENOSYS, true, never),
		refused(unix.SYS__SYSCTL, "_sysctl", unix.ENOSYS, true, never),
		refused(unix.SYS_CREATE_MODULE, "create_module", unix.ENOSYS, true, never),
		refused(unix.SYS_GET_KERNEL_SYMS, "get_kernel_syms", unix.ENOSYS, true, never),
		refused(unix.SYS_QUERY_MODULE, "query_module", unix.ENOSYS, true, never),
		refused(unix.SYS_NFSSERVCTL, "nfsservctl", unix.ENOSYS, true, never),
		refused(unix.SYS_GETPMSG, "getpmsg", unix.ENOSYS, true, never),
		refused(unix.SYS_PUTPMSG, "putpmsg", unix.ENOSYS, true, never),
		refused(unix.SYS_AFS_SYSCALL, "afs_syscall", unix.ENOSYS, true, never),
		refused(unix.SYS_TUXCALL, "tuxcall", unix.ENOSYS, true, never),
		refused(unix.SYS_SECURITY, "security", unix.ENOSYS, true, never),
		refused(unix.SYS_SET_THREAD_AREA, "set_thread_area", unix.ENOSYS, true, never),
		refused(unix.SYS_GET_THREAD_AREA, "get_thread_area", unix.ENOSYS, true, never),
		refused(unix.SYS_EPOLL_CTL_OLD, "epoll_ctl_old", unix.ENOSYS, true, never),
		refused(unix.SYS_EPOLL_WAIT_OLD, "epoll_wait_old", unix.ENOSYS, true, never),
		refused(unix.SYS_VSERVER, "vserver", unix.ENOSYS, true, never),
	)
}
