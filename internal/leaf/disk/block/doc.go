// Package block is disks below file systems: the requests that a block device receives, and the
// contents that it may have after a loss of power.
//
// It knows no file system and no device of Linux. internal/leaf/disk is the same one floor higher,
// for the files of a node.
//
// What always holds: an image has every request that a flush or FUA made durable, and any of the
// others. Requests are applied in the order of the log. A disk that was cloned is not changed by
// what is written to its clone.
//
// Read next: disk.go, log.go, walk.go, images.go.
package block
