//go:build linux

package stack

import (
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk/fsmodel"
)

// Component is one layer of a stack.
type Component struct {
	Name string
	// On are the names of the components below, in order.
	On []string
	// Size is that of a device, in bytes, or 0 for other components.
	Size int64
	// Join makes a device of those below, with chunks of Chunk bytes unless it is a Mirror.
	Join  Join
	Chunk int64
	// Fails is the device of a RAID5 that fails with a loss of power, or "".
	Fails string
	// Lies says that a device answers flushes and makes nothing durable. One that joins others
	// passes no flush on.
	Lies bool
	// FileSystem is the kind of a file system of the kernel, or "". Options are those of its mount.
	FileSystem string
	Options    string
	// Init, Mount, Unmount and Recover are command lines. A file system is made by Init, and
	// recovers by Recover before it is mounted, if that is given. Components of other kinds are
	// mounted and unmounted by commands. Verify examines what was unmounted.
	Init, Mount, Unmount, Recover, Verify []string
	// Threads are command lines of work that the component may do at any time, such as compaction.
	// They run only where a Step says so.
	Threads [][]string
}

// Below is the word of a component's command that stands for the layers below it.
const Below = "$ARIADNE_BELOW"

// Join is how a component makes one device of several.
type Join string

// The joins. A Mirror writes everything to each device and reads from the first one that it can. A
// Stripe puts the first chunk on the first device, the second one on the second, and so on in turn.
// A RAID5 has in each row of chunks one with the parity of the others, on another device from row
// to row.
const (
	Mirror Join = "mirror"
	Stripe Join = "stripe"
	RAID5  Join = "raid5"
)

// IsDevice reports whether the component is one, also one that joins others.
func (c *Component) IsDevice() bool { return c.Size > 0 || c.Join != "" }

// JoinedSize is the size of a device that a component makes of devices of some sizes, in bytes.
func (c *Component) JoinedSize(sizes []int64) int64 {
	least := slices.Min(sizes)
	switch c.Join {
	case Stripe:
		return least / c.Chunk * c.Chunk * int64(len(sizes))
	case RAID5:
		return least / c.Chunk * c.Chunk * int64(len(sizes)-1)
	}
	return least
}

// Config is a stack, bottom up.
type Config struct {
	Components []Component
	Dir        string // where commands of components run
	Env        []string
	Timeout    time.Duration // of each command of a component
}

// Devices are the sizes of the devices, in the order of the stack.
func (c *Config) Devices() (sizes []int64) {
	for i := range c.Components {
		if s := c.Components[i].Size; s > 0 {
			sizes = append(sizes, s)
		}
	}
	return sizes
}

// attached are the components that are devices and are not joined by another one, in the order of
// the stack.
func (c *Config) attached() (all []*Component) {
	for i := range c.Components {
		if d := &c.Components[i]; d.IsDevice() && !c.joined(d.Name) {
			all = append(all, d)
		}
	}
	return all
}

// joined reports whether a component is a part of a device that joins several.
func (c *Config) joined(name string) bool {
	return slices.ContainsFunc(c.Components, func(d Component) bool {
		return d.Join != "" && slices.Contains(d.On, name)
	})
}

// Step is one thing that a worker does.
type Step struct {
	Kind StepKind
	// Nodes are the files of the devices that are no part of others, of Make, Mount and Verify.
	Nodes []uint64 `json:",omitempty"`
	// Recover has each component recover before it is mounted.
	Recover bool `json:",omitempty"`
	// Keep has Unmount leave the devices attached, for a Verify that follows.
	Keep bool `json:",omitempty"`
	// Exact has Mount's devices read no more than the stack above asks for.
	Exact bool `json:",omitempty"`
	// Command is run with more variables of the environment, in the top of the stack. Title says
	// whose it is.
	Command []string      `json:",omitempty"`
	Title   string        `json:",omitempty"`
	Env     []string      `json:",omitempty"`
	Timeout time.Duration `json:",omitempty"`
	// Beside run at the same time as the step, which ends when they have ended, too.
	Beside []Thread `json:",omitempty"`
	// Calls are made on the top of the stack, one after the other. Faulty ends them at the first
	// one that fails because a device does (IsFault): that call has no end, and Errnos end with it.
	Calls  []fsmodel.Call `json:",omitempty"`
	Faulty bool           `json:",omitempty"`
	// Always has the step done also when one before it has failed.
	Always bool `json:",omitempty"`
}

// Thread is one of the Threads of a component.
type Thread struct {
	Component string // its name
	At        int
}

// StepKind is what a Step does.
type StepKind string

// The kinds of steps.
const (
	Make    StepKind = "make"    // initializes and mounts the stack
	Mount   StepKind = "mount"   // mounts the stack
	Unmount StepKind = "unmount" // unmounts the stack
	Run     StepKind = "run"     // runs a command
	Apply   StepKind = "apply"   // makes calls
	Look    StepKind = "look"    // reads the file tree at the top
	Pass    StepKind = "pass"    // does nothing but what is beside it
	Verify  StepKind = "verify"  // has components examine the devices of the stack, unmounted
)

// Result is what came of a step.
type Result struct {
	// Failed says how a command ended, or why something cannot be done, or is "". Component is the
	// layer that it was, if it was one.
	Failed    string `json:",omitempty"`
	Component string `json:",omitempty"`
	Late      bool   `json:",omitempty"` // it did not end in time
	Busy      bool   `json:",omitempty"` // an unmount: something is still in use
	// this machine lacks something: it says nothing of the stack
	Host    bool   `json:",omitempty"`
	Skipped bool   `json:",omitempty"` // a step before has failed
	Output  string `json:",omitempty"`
	// Errnos are those of the calls of Apply, 0 for success.
	Errnos []int `json:",omitempty"`
	// Tree is what Look, or Apply after each call that failed, has seen.
	Tree  []fsmodel.Entry   `json:",omitempty"`
	After [][]fsmodel.Entry `json:",omitempty"`
	Nanos int64
}
