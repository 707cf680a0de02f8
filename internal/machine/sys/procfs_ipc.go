package sys

import (
	"fmt"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/ipc"
)

// The files of /proc/sysvipc, each with a line per object (proc(5)).

func msgQueuesText(v *view) string {
	var s strings.Builder
	s.WriteString("       key      msqid perms      cbytes       qnum lspid lrpid   uid   gid  cuid  cgid      stime      rtime      ctime\n")
	n := v.caller.Node()
	for _, q := range ipc.MsgQueuesOf(n).All() {
		fmt.Fprintf(&s, "%s %10d %10d %5d %5d %s %10d %10d %10d\n", ipcHead(&q.Perm, 0), q.Bytes, len(q.Msgs),
			q.LastSender, q.LastReceiver,
			ipcOwners(&q.Perm), seconds(n, q.Sent), seconds(n, q.Received), seconds(n, q.Changed))
	}
	return s.String()
}

func semsText(v *view) string {
	var s strings.Builder
	s.WriteString("       key      semid perms      nsems   uid   gid  cuid  cgid      otime      ctime\n")
	n := v.caller.Node()
	for _, x := range ipc.SemsOf(n).All() {
		fmt.Fprintf(&s, "%s %10d %s %10d %10d\n", ipcHead(&x.Perm, 0), len(x.Sems), ipcOwners(&x.Perm),
			seconds(n, x.Used),
			seconds(n, x.Changed))
	}
	return s.String()
}

func shmsText(v *view) string {
	var s strings.Builder
	s.WriteString("       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid      atime      dtime      ctime" +
		"                   rss                  swap\n")
	n := v.caller.Node()
	for _, x := range ipc.ShmsOf(n).All() {
		fmt.Fprintf(&s, "%s %21d %5d %5d  %5d %s %10d %10d %10d %21d %21d\n", ipcHead(&x.Perm, shmFlags(x)), x.Size,
			x.Creator, x.Last, x.Attachments(n),
			ipcOwners(&x.Perm), seconds(n, x.Attached), seconds(n, x.Detached), seconds(n, x.Changed), x.Pages()*4096,
			0)
	}
	return s.String()
}

func ipcHead(p *ipc.Perm, flags uint32) string {
	return fmt.Sprintf("%10d %10d  %4o", int32(p.Key), p.ID, p.Mode|flags)
}

func ipcOwners(p *ipc.Perm) string {
	return fmt.Sprintf("%5d %5d %5d %5d", p.UID, p.GID, p.CUID, p.CGID)
}

// shmFlags are what a mode says of a segment besides rights.
func shmFlags(s *ipc.Shm) (flags uint32) {
	if s.Removed {
		flags |= shmDest
	}
	if s.Locked {
		flags |= shmLocked
	}
	return flags
}
