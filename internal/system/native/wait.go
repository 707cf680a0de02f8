package native

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Waiter waits until something can be read: a descriptor, or a file in a directory that is watched.
// It is for one goroutine, but for Wake.
type Waiter struct {
	poll, notify, wake int
	dirs               map[string]bool
	events             [64]unix.EpollEvent
}

// NewWaiter returns a Waiter for nothing yet.
func NewWaiter() (*Waiter, error) {
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	notify, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		unix.Close(poll)
		return nil, fmt.Errorf("inotify: %w", err)
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		unix.Close(poll)
		unix.Close(notify)
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	w := &Waiter{poll: poll, notify: notify, wake: wake, dirs: map[string]bool{}}
	if err := errors.Join(w.Add(notify), w.Add(wake)); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// Add waits also for a descriptor. It is forgotten when it is closed.
func (w *Waiter) Add(fd int) error {
	return unix.EpollCtl(w.poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

// Drop waits no longer for a descriptor.
// it may be closed
func (w *Waiter) Drop(fd int) { _ = unix.EpollCtl(w.poll, unix.EPOLL_CTL_DEL, fd, nil) }

// AddSource waits also for lines of a source.
func (w *Waiter) AddSource(s Source) error {
	if fd := s.Descriptor(); fd >= 0 {
		return w.Add(fd)
	}
	f, ok := s.(*File)
	if !ok {
		return nil
	}
	dir := filepath.Dir(f.path)
	if w.dirs[dir] {
		return nil
	}
	_, err := unix.InotifyAddWatch(w.notify, dir, unix.IN_MODIFY|unix.IN_CREATE|unix.IN_MOVED_TO)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	w.dirs[dir] = true
	return nil
}

// Wait returns when something can be read, or after a time. It reports which.
func (w *Waiter) Wait(most time.Duration) (some bool, err error) {
	n, err := unix.EpollWait(w.poll, w.events[:], max(1, int(most.Milliseconds())))
	if errors.Is(err, unix.EINTR) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("epoll: %w", err)
	}
	var buffer [4096]byte
	for _, e := range w.events[:n] {
		if fd := int(e.Fd); fd == w.notify || fd == w.wake {
			_, _ = unix.Read(fd, buffer[:]) // it says only that something has happened
		}
	}
	return n > 0, nil
}

// Wake ends a Wait of another goroutine, or the next one.
// a full counter wakes, too
func (w *Waiter) Wake() { _, _ = unix.Write(w.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

// Close ends the Waiter.
func (w *Waiter) Close() error {
	return errors.Join(unix.Close(w.poll), unix.Close(w.notify), unix.Close(w.wake))
}
