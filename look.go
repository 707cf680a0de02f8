package ariadne

// A Look is a place of the machine's disks at which a step has looked, as it was when the machine
// was switched on. The step is a function of what it has seen. So a disk on which all these places
// are the same gives the same step.
type Look struct {
	Kind LookKind
	Path string // without links, as the node's programs see it
}

// LookKind says what of a file was looked at.
type LookKind uint8

const (
	LookName LookKind = iota // what the name stands for: its type, whose it is, where a link leads; or that it stands for nothing
	LookStat                 // that, and all else that a program learns of the file without opening it
	LookData                 // the bytes of a file, or the names in a directory
	LookTree                 // all of it, with all that is below
)

// Disks are what the disks of a machine hold that is down. They do not change, and are for any
// number of goroutines.
type Disks interface {
	// Rest is over all that is left of the machine besides.
	Rest() Digest
	// At stands for what there is to be seen: the same digest for the same. That of nothing is
	// zero.
	At(Look) Digest
}
