package block

import (
	"fmt"
	"strings"
)

// Kind is what a request does.
type Kind uint8

// The kinds of requests.
const (
	// Write puts Data at Offset.
	Write Kind = iota + 1
	// Zero puts zeros at Offset: a discard, or a write of zeros.
	Zero
	// Flush makes every earlier request of its device durable.
	Flush
	// Mark is no request: somebody said Text at this moment.
	Mark
	// Drop is no request: from this moment, the device is used no more, because it has failed and
	// others hold the same data.
	Drop
)

// Op is a request that a device has received, or a mark.
type Op struct {
	Kind   Kind
	Device int   // from 0
	Offset int64 // bytes, of Write and Zero
	Length int64 // bytes, of Write and Zero
	Data   []byte
	FUA    bool // the request was durable when it ended
	Text   string
}

// Changes reports whether the request changes the content of its device.
func (o *Op) Changes() bool { return o.Kind == Write || o.Kind == Zero }

// String is the request in words.
func (o *Op) String() string {
	var b strings.Builder
	switch o.Kind {
	case Write:
		fmt.Fprintf(&b, "write of %d bytes at %d", o.Length, o.Offset)
	case Zero:
		fmt.Fprintf(&b, "zeros for %d bytes at %d", o.Length, o.Offset)
	case Flush:
		b.WriteString("flush")
	case Drop:
		return fmt.Sprintf("device %d is used no more", o.Device+1)
	default:
		return o.Text
	}
	if o.FUA {
		b.WriteString(" (FUA)")
	}
	if o.Device > 0 {
		fmt.Fprintf(&b, " of device %d", o.Device+1)
	}
	return b.String()
}

// apply does what the request does to bytes lo to hi of its device.
func (o *Op) apply(d *Disk, lo, hi int64) {
	if o.Kind == Zero {
		d.Zero(lo, hi-lo)
		return
	}
	d.Write(o.Data[lo-o.Offset:hi-o.Offset], lo)
}

// Do does to a disk, which is the request's device, what the request does to it.
func (o *Op) Do(d *Disk) {
	if o.Changes() {
		o.apply(d, o.Offset, o.Offset+o.Length)
	}
}
