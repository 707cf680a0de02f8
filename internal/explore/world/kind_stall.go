package world

import "github.com/ariadne-mc/ariadne"

// The numbers of the kinds of syncs that take time, and of the ends of these.
const (
	Stall  ariadne.ActionKind = 11
	Synced ariadne.ActionKind = 12
)

// A call that has files written to the disk may take time, while other threads of the node and all
// other nodes go on. Nodes list where, and how long (ariadne.Place). The end is an event: a message
// of the node to itself, that arrives when the time is over. Of several that are under way at a
// node any may end first. One of no time at all is over at once, and what else is due by then may
// come before it.
//
// The sync is its kernel's: it goes on when the programs of the node are killed, and ends with the
// machine.
func init() {
	register(Stall, Kind{Name: ariadne.SyncStalls, Doc: "a step in which a sync begins that takes time", Fault: "Syncs that take time: calls that have files written to the disk, while other threads go on", Once: "a slow sync", Within: true})
	register(Synced, itselfKind(Synced, ariadne.Disk,
		Kind{Name: "synced", Doc: "the end of a sync that takes time", Ends: true}))
}
