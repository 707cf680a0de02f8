package world

import "github.com/ariadne-mc/ariadne"

// Disk is the number of its kind.
const Disk ariadne.ActionKind = 23

// Of what a machine that loses power has not synced, any part that its persistence model allows may
// be left. The choice of the image is no further fault: the loss has been paid for. All of them
// are tried wherever there is a loss; the first, in which nothing unsynced is left, is as natural
// as the others.
func init() {
	register(Disk, Kind{Name: ariadne.DiskImage, Doc: "a loss of power that leaves something unsynced", Within: true})
}
