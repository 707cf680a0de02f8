//go:build linux

package stack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// mounts are what a worker has mounted.
type mounts struct {
	*Config
	fuse string // where the server's files are
	temp string // a file system of the worker's own
	at   map[string]string
	up   []*mounted // bottom up
	out  *os.File   // of commands
	// threads are how many threads of components run.
	threads int
	kernel  kernelLog
	// exact says that loop devices read nothing ahead.
	exact bool
}

// mounted is a component that is mounted or attached.
type mounted struct {
	c    *Component
	loop *os.File // of a device
}

// mountServer gives the worker its own view of mounts, with the server's files. Nobody serves them
// yet.
func (m *mounts) mountServer() error {
	m.fuse = filepath.Join(m.temp, "fuse")
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other,max_read=%d", fuseFd, 1<<20)
	return inOrder(
		func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") },
		func() error {
			return unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
		},
		func() error { return unix.Mount("ariadne", m.temp, "tmpfs", 0, "mode=700") },
		func() error { return os.Mkdir(m.fuse, 0o700) },
		func() error { return unix.Mount("ariadne", m.fuse, "fuse", unix.MS_NOSUID|unix.MS_NODEV, options) },
		func() error { return unix.Close(fuseFd) })
}

// prepare gets the rest of the worker ready.
func (m *mounts) prepare() error {
	return inOrder(m.devices, func() error {
		m.kernel.open()
		return nil
	}, func() error {
		fd, err := unix.MemfdCreate("output", unix.MFD_CLOEXEC)
		m.out = os.NewFile(uintptr(fd), "output")
		return err
	})
}

// inOrder calls functions until one fails.
func inOrder(all ...func() error) error {
	for _, do := range all {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// devices makes a /dev of the worker's own, with the devices of this machine and /dev/ariadne.
func (m *mounts) devices() error {
	dev := filepath.Join(m.temp, "dev")
	if err := os.Mkdir(dev, 0o755); err != nil {
		return err
	}
	if err := unix.Mount("ariadne", dev, "tmpfs", 0, "mode=755"); err != nil {
		return err
	}
	list, err := os.ReadDir("/dev")
	if err != nil {
		return err
	}
	for _, d := range list {
		if err := copyDevice(filepath.Join("/dev", d.Name()), filepath.Join(dev, d.Name())); err != nil {
			return err
		}
	}
	say := filepath.Join(dev, "ariadne")
	if err := os.WriteFile(say, nil, 0o666); err != nil {
		return err
	}
	if err := unix.Mount(filepath.Join(m.fuse, sayName), say, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	return unix.Mount(dev, "/dev", "", unix.MS_MOVE, "")
}

// copyDevice makes a device, link or directory once more. Sockets and pipes are left out.
func copyDevice(from, to string) error {
	var st unix.Stat_t
	if err := unix.Lstat(from, &st); err != nil {
		return nil // it is gone
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		target, err := os.Readlink(from)
		if err != nil {
			return nil
		}
		return os.Symlink(target, to)
	case unix.S_IFDIR:
		if err := os.Mkdir(to, 0o755); err != nil {
			return err
		}
		return unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, "")
	case unix.S_IFCHR, unix.S_IFBLK:
		err := unix.Mknod(to, st.Mode, int(st.Rdev))
		return errors.Join(err, unix.Chmod(to, st.Mode&0o7777))
	}
	return nil
}

// failure is why a component cannot do something.
type failure struct {
	component string
	what      string
	output    string
	late      bool
	busy      bool
	host      bool
}

func (f *failure) result() Result {
	if f == nil {
		return Result{}
	}
	return Result{Failed: f.what, Component: f.component, Output: f.output, Late: f.late, Busy: f.busy, Host: f.host}
}

// mount mounts the stack over the files of devices. init: it is made first. recover: it recovers.
func (m *mounts) mount(nodes []uint64, init, recover bool) *failure {
	m.at = map[string]string{}
	devices := m.attached()
	for i := range m.Components {
		c := &m.Components[i]
		var f *failure
		if at := slices.Index(devices, c); at >= 0 {
			f = m.attach(c, nodes[at])
		} else if !c.IsDevice() {
			f = m.raise(c, init, recover)
		}
		if f != nil {
			m.unmount(false)
			return f
		}
	}
	return nil
}

// attach makes a loop device of a file of the server.
func (m *mounts) attach(c *Component, node uint64) *failure {
	loop, path, err := attachLoop(fmt.Sprintf("%s/%d", m.fuse, node), m.exact)
	if err != nil {
		return &failure{component: c.Name, what: "a loop device: " + err.Error(), host: true}
	}
	m.at[c.Name] = path
	m.up = append(m.up, &mounted{c, loop})
	return nil
}

// raise initializes, recovers and mounts a component that is no device.
func (m *mounts) raise(c *Component, init, recover bool) *failure {
	dir := filepath.Join(m.temp, "top-"+c.Name)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return &failure{component: c.Name, what: err.Error()}
	}
	m.at[c.Name] = dir
	if init {
		if f := m.command(c, "init", c.Init); f != nil {
			return f
		}
	}
	if recover {
		if f := m.command(c, "recover", c.Recover); f != nil {
			return f
		}
	}
	if c.FileSystem == "" {
		m.up = append(m.up, &mounted{c: c}) // what it has begun is to end
		return m.command(c, "mount", c.Mount)
	}
	flags, data := mountOptions(c.FileSystem, c.Options)
	m.kernel.skip()
	if err := unix.Mount(m.at[c.On[0]], dir, c.FileSystem, flags, data); err != nil {
		return &failure{component: c.Name, what: "mount: " + err.Error(), host: lacks(err),
			output: m.kernel.complaints(c.FileSystem, m.at[c.On[0]])}
	}
	m.up = append(m.up, &mounted{c: c})
	return nil
}

// lacks reports whether an error is of a limit of this machine, or of a file system that its kernel
// does not have.
func lacks(err error) bool {
	return err == unix.ENOMEM || err == unix.EMFILE || err == unix.ENFILE || err == unix.ENODEV
}

// mountFlags are options of mount that are no text for the file system (mount(8)).
var mountFlags = map[string]uintptr{"ro": unix.MS_RDONLY, "rw": 0, "sync": unix.MS_SYNCHRONOUS,
	"dirsync": unix.MS_DIRSYNC, "noatime": unix.MS_NOATIME, "nodiratime": unix.MS_NODIRATIME,
	"relatime": unix.MS_RELATIME, "strictatime": unix.MS_STRICTATIME, "lazytime": unix.MS_LAZYTIME,
	"nosuid": unix.MS_NOSUID, "nodev": unix.MS_NODEV, "noexec": unix.MS_NOEXEC, "defaults": 0}

// mountOptions divides options into flags and text for the file system. Several images of one XFS
// are mounted at the same time.
func mountOptions(kind, options string) (flags uintptr, data string) {
	var rest []string
	for _, o := range strings.Split(options, ",") {
		if flag, ok := mountFlags[o]; ok {
			flags |= flag
		} else if o != "" {
			rest = append(rest, o)
		}
	}
	if kind == "xfs" {
		rest = append(rest, "nouuid")
	}
	return flags, strings.Join(rest, ",")
}

// top is where the top of the stack is: a directory, or a device.
func (m *mounts) top() string {
	if len(m.Components) == 0 {
		return ""
	}
	return m.at[m.Components[len(m.Components)-1].Name]
}

// unmount unmounts the stack, top down, all of it also when something fails. keep: devices stay
// attached.
func (m *mounts) unmount(keep bool) (first *failure) {
	var kept []*mounted
	for i := len(m.up) - 1; i >= 0; i-- {
		u := m.up[i]
		if keep && u.loop != nil {
			kept = append(kept, u)
			continue
		}
		f := m.lower(u)
		if first == nil {
			first = f
		}
	}
	slices.Reverse(kept)
	m.up = kept
	return first
}

// lower unmounts or detaches a component.
func (m *mounts) lower(u *mounted) *failure {
	if u.loop != nil {
		u.loop.Close() // the last one detaches it
		return nil
	}
	if u.c.FileSystem == "" {
		return m.command(u.c, "unmount", u.c.Unmount)
	}
	dir := m.at[u.c.Name]
	err := unix.Unmount(dir, 0)
	for pause := time.Millisecond; err == unix.EBUSY && pause < time.Second; pause *= 2 {
		time.Sleep(pause)
		err = unix.Unmount(dir, 0)
	}
	if err == nil {
		return nil
	}
	hint := ""
	if err == unix.EBUSY {
		hint = " (a process that a command has left in the background may use a file)"
	}
	unix.Unmount(dir, unix.MNT_DETACH) // so the worker can go on
	return &failure{component: u.c.Name, what: "unmount: " + err.Error() + hint, busy: err == unix.EBUSY}
}

// attachLoop makes a file a loop device, which is detached when the last descriptor of it is
// closed. exact: it reads nothing of the file ahead.
func attachLoop(file string, exact bool) (loop *os.File, path string, err error) {
	back, err := unix.Open(file, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, "", err
	}
	defer unix.Close(back)
	if exact {
		if err := unix.Fadvise(back, 0, 0, unix.FADV_RANDOM); err != nil {
			return nil, "", err
		}
	}
	control, err := unix.Open("/dev/loop-control", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, "", fmt.Errorf("/dev/loop-control: %w", err)
	}
	defer unix.Close(control)
	config := unix.LoopConfig{Fd: uint32(back), Size: 512}
	config.Info.Flags = unix.LO_FLAGS_AUTOCLEAR
	for range 100 {
		n, err := unix.IoctlRetInt(control, unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return nil, "", fmt.Errorf("/dev/loop-control: %w", err)
		}
		path = fmt.Sprintf("/dev/loop%d", n)
		if err := unix.Mknod(path, unix.S_IFBLK|0o600, int(unix.Mkdev(7, uint32(n)))); err != nil &&
			err != unix.EEXIST {
			return nil, "", err
		}
		fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", path, err)
		}
		switch err = unix.IoctlLoopConfigure(fd, &config); err {
		case nil:
			return os.NewFile(uintptr(fd), path), path, nil
		case unix.EBUSY: // somebody else was faster
			unix.Close(fd)
		default:
			unix.Close(fd)
			return nil, "", fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil, "", errors.New("other programs take all free loop devices")
}
