// Package block is disks below file systems: the requests that a block device receives, and the
// contents that it may have after a loss of power.
//
// It knows no file system and no device of Linux. internal/leaf/disk is the same one floor higher,
// for the files of a node.
//
// Invariants: an image has every request that a flush or FUA made durable, and any of the others.
// Requests are applied in the order of the log. A write to a clone of a disk does not change the
// disk.
//
// Read next: disk.go, log.go, walk.go, images.go.
package block
