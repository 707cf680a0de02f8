package sandbox

import (
	"bufio"
	"fmt"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// namespaces are a user namespace and an empty network in it, kept alive by
// descriptors alone: they end with Ariadne. All nodes that map the same user
// share them; no node ever gets a real socket.
type namespaces struct{ user, net int }

var (
	namespacesMu sync.Mutex
	// namespacesOf has namespaces by the only user and group that they map, or -1: all of Ariadne's
	// own
	namespacesOf = map[[2]int]namespaces{}
)

// namespacesFor returns the namespaces in which user and group exist. With root all ids
// that Ariadne has are mapped to themselves; an ordinary user is mapped to the
// ids asked for.
func namespacesFor(user, group int) (namespaces, error) {
	key := [2]int{user, group}
	if os.Geteuid() == 0 {
		key = [2]int{-1, -1}
	}
	namespacesMu.Lock()
	defer namespacesMu.Unlock()
	if ns, ok := namespacesOf[key]; ok {
		return ns, nil
	}
	ns, err := newNamespaces(user, group)
	if err == nil {
		namespacesOf[key] = ns
	}
	return ns, err
}

// newNamespaces makes a process in new namespaces, opens them and kills it: it
// is stopped by ptrace before its first instruction, so what it is does not matter.
// The calling goroutine must be locked to its thread.
func newNamespaces(user, group int) (ns namespaces, err error) {
	pidfd := -1
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET, Ptrace: true,
		Pdeathsig: syscall.SIGKILL, PidFD: &pidfd}
	if attr.UidMappings, err = idMap("/proc/self/uid_map", user, os.Getuid()); err != nil {
		return ns, err
	}
	if attr.GidMappings, err = idMap("/proc/self/gid_map", group, os.Getgid()); err != nil {
		return ns, err
	}
	attr.GidMappingsEnableSetgroups = os.Geteuid() == 0
	pid, err := syscall.ForkExec("/proc/self/exe", []string{"ariadne"}, &syscall.ProcAttr{Sys: attr})
	if err != nil {
		return ns, fmt.Errorf("new user namespace: %w", err)
	}
	defer func() {
		unix.PidfdSendSignal(pidfd, unix.SIGKILL, nil, 0)
		unix.Close(pidfd)
		unix.Wait4(pid, nil, unix.WALL, nil)
	}()
	var ws unix.WaitStatus
	if _, err := unix.Wait4(pid, &ws, unix.WALL, nil); err != nil {
		return ns, fmt.Errorf("new user namespace: %w", err)
	}
	if ns.user, err = openNamespace(pid, "user"); err != nil {
		return ns, err
	}
	if ns.net, err = openNamespace(pid, "net"); err != nil {
		unix.Close(ns.user)
	}
	return ns, err
}

// openNamespace opens one namespace of a living process.
func openNamespace(pid int, kind string) (int, error) {
	path := fmt.Sprintf("/proc/%d/ns/%s", pid, kind)
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("%s: %w", path, err)
	}
	return fd, nil
}

// idMap returns the mapping of user or group ids into a new namespace.
func idMap(own string, inside, outside int) ([]syscall.SysProcIDMap, error) {
	if os.Geteuid() != 0 {
		return []syscall.SysProcIDMap{{ContainerID: inside, HostID: outside, Size: 1}}, nil
	}
	f, err := os.Open(own)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var m []syscall.SysProcIDMap
	for s := bufio.NewScanner(f); s.Scan(); {
		var first, parent, n int
		if _, err := fmt.Sscan(s.Text(), &first, &parent, &n); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", own, s.Text(), err)
		}
		m = append(m, syscall.SysProcIDMap{ContainerID: first, HostID: first, Size: n})
	}
	return m, nil
}
