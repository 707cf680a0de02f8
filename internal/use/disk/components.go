//go:build linux

package disk

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk/block"
	"github.com/ariadne-mc/ariadne/internal/system/stack"
)

// fileSystem is how one of the kernel's file systems is made and examined. The device is the last
// argument of each command.
type fileSystem struct {
	mkfs    string
	fsck    string // finds what is wrong, and changes nothing
	recover string // before it is mounted
	least   int64  // size of a device, in bytes
}

// fileSystems are those that a spec can name.
var fileSystems = map[string]fileSystem{
	"ext2":  {mkfs: "mkfs.ext2 -q -F", fsck: "e2fsck -f -n", recover: `sh -c 'e2fsck -f -y "$0"; test $? -lt 4'`},
	"ext3":  {mkfs: "mkfs.ext3 -q -F", fsck: "e2fsck -f -n"},
	"ext4":  {mkfs: "mkfs.ext4 -q -F", fsck: "e2fsck -f -n"},
	"xfs":   {mkfs: "mkfs.xfs -q -f", fsck: "xfs_repair -n", least: 300 << 20},
	"btrfs": {mkfs: "mkfs.btrfs -q -f", fsck: "btrfs check", least: 109 << 20},
}

// componentName is what a layer may be called: it names a directory.
var componentName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func (s *Spec) setStack(t *text) error {
	if len(t.Stack) == 0 {
		return errors.New("stack is missing: the layers, bottom up, beginning with a device")
	}
	names := map[string]bool{}
	for i := range t.Stack {
		c, err := s.component(&t.Stack[i], i, names)
		if err != nil {
			return fmt.Errorf("stack: layer %d: %w", i+1, err)
		}
		names[c.Name] = true
		s.Components = append(s.Components, *c)
	}
	if s.Components[len(s.Components)-1].IsDevice() {
		return errors.New("stack: the last layer is a device: something must be on it")
	}
	if bytes.Contains(s.Text, []byte("ARIADNE_DEVICES")) { // a command may use devices by that
		return nil
	}
	for _, c := range s.Components[:len(s.Components)-1] {
		if s.used(c.Name) == "" {
			return fmt.Errorf("stack: nothing is on the layer %q: leave it out, or name it in on of a layer above it", c.Name)
		}
	}
	return nil
}

// component validates a layer. names are those below it.
func (s *Spec) component(t *component, at int, names map[string]bool) (*stack.Component, error) {
	c := &stack.Component{Name: t.Name, On: t.On, FileSystem: t.FileSystem, Options: t.Options}
	if strings.Contains(t.Options+t.Mkfs, "panic") {
		return nil, errors.New("options, mkfs: a file system that panics at an error ends this machine")
	}
	if c.Name == "" {
		c.Name = fmt.Sprintf("layer%d", at+1)
	}
	if !componentName.MatchString(c.Name) || names[c.Name] {
		return nil, fmt.Errorf("the name %q is not one of its own, of letters, digits, dots and dashes", c.Name)
	}
	if t.Device != "" {
		return c, setDevice(c, t)
	}
	if t.Mirror || t.Stripe != "" || t.RAID5 != "" {
		return c, s.setJoin(c, t)
	}
	if t.Lies {
		return nil, errors.New("lies: only a device can lie")
	}
	if t.Fails != "" {
		return nil, errors.New("fails: only a raid5 has a device that fails")
	}
	if len(c.On) == 0 && at > 0 {
		c.On = []string{s.Components[at-1].Name}
	}
	for _, name := range c.On {
		if !names[name] {
			return nil, fmt.Errorf("on: there is no layer %q below it", name)
		}
		if j := s.layer(s.used(name)); j != nil && j.Join != "" {
			return nil, fmt.Errorf("on: the device %q is a part of %q already", name, j.Name)
		}
	}
	if len(c.On) == 0 {
		return nil, errors.New("nothing is below it: the first layer is a device, such as device: 16MB")
	}
	lines := map[string]string{"init": t.Init, "mount": t.Mount, "unmount": t.Unmount, "recover": t.Recover,
		"verify": t.Verify}
	if t.FileSystem != "" {
		if err := s.setFileSystem(c, t, lines); err != nil {
			return nil, err
		}
	} else if t.Mount == "" || t.Mkfs != "" || t.Options != "" || t.Fsck {
		return nil, errors.New("it is neither a device nor a filesystem, so it needs the command mount, and has no mkfs, options and fsck")
	}
	for name, to := range map[string]*[]string{"init": &c.Init, "mount": &c.Mount, "unmount": &c.Unmount,
		"recover": &c.Recover, "verify": &c.Verify} {
		words, err := s.words(lines[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if words != nil {
			*to = words
		}
	}
	for n, line := range t.Threads {
		words, err := s.words(line)
		if err == nil && words == nil {
			err = errors.New("it is empty")
		}
		if err != nil {
			return nil, fmt.Errorf("threads: command %d: %w", n+1, err)
		}
		c.Threads = append(c.Threads, words)
	}
	return c, nil
}

// mostDevice is the greatest size of a device, in bytes: each copy of a device has 8 bytes for each
// MB of it.
const mostDevice = 1 << 40

// setDevice sets the size of a device.
func setDevice(c *stack.Component, t *component) (err error) {
	if rest := (component{Name: t.Name, Device: t.Device, Lies: t.Lies}); fmt.Sprint(rest) != fmt.Sprint(*t) {
		return errors.New("a device has a name, a size and lies, and nothing else")
	}
	c.Lies = t.Lies
	c.Size, err = parseSize(t.Device)
	switch {
	case err != nil:
	case c.Size > mostDevice:
		err = fmt.Errorf("device: %s is more than 1024GB", t.Device)
	case c.Size%block.PageSize != 0:
		err = fmt.Errorf("device: %s is not a multiple of %d bytes", t.Device, block.PageSize)
	}
	return err
}

// setJoin sets how a device joins others.
func (s *Spec) setJoin(c *stack.Component, t *component) (err error) {
	c.Lies, c.Fails = t.Lies, t.Fails
	rest, least, chunk := component{Name: t.Name, On: t.On, Lies: t.Lies}, 2, ""
	switch {
	case t.Mirror:
		c.Join, rest.Mirror = stack.Mirror, true
	case t.Stripe != "":
		c.Join, rest.Stripe, chunk = stack.Stripe, t.Stripe, t.Stripe
	default:
		c.Join, rest.RAID5, rest.Fails, least, chunk = stack.RAID5, t.RAID5, t.Fails, 3, t.RAID5
	}
	switch {
	case fmt.Sprint(rest) != fmt.Sprint(*t):
		return fmt.Errorf("a %s has a name, on and lies (a raid5 also has fails), and nothing else", c.Join)
	case len(c.On) < least:
		return fmt.Errorf("on: a %s names %d devices or more", c.Join, least)
	case c.Fails != "" && !slices.Contains(c.On, c.Fails):
		return fmt.Errorf("fails: the device %q is none of those of on", c.Fails)
	}
	if chunk != "" {
		if c.Chunk, err = parseSize(chunk); err != nil {
			return fmt.Errorf("%s: %q is no size of a chunk, such as 64KB", c.Join, chunk)
		}
	}
	for i, name := range c.On {
		d := s.layer(name)
		switch {
		case d == nil || d.Size == 0:
			return fmt.Errorf("on: there is no device %q below it", name)
		case slices.Contains(c.On[:i], name):
			return fmt.Errorf("on: the device %q is named twice", name)
		case s.used(name) != "":
			return fmt.Errorf("on: the device %q is a part of %q already", name, s.used(name))
		case c.Chunk%block.PageSize != 0 || d.Size < c.Chunk:
			return fmt.Errorf("%s: %s is not a multiple of %d bytes, or more than the device %q has", c.Join, chunk,
				block.PageSize, name)
		}
	}
	return nil
}

// layer is a layer by its name, or nil.
func (s *Spec) layer(name string) *stack.Component {
	i := slices.IndexFunc(s.Components, func(c stack.Component) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Components[i]
}

// used is the name of a layer that is on another one, or "".
func (s *Spec) used(name string) string {
	for i := range s.Components {
		if slices.Contains(s.Components[i].On, name) {
			return s.Components[i].Name
		}
	}
	return ""
}

// sizeOf is the size of a device in bytes, or 0 for other layers.
func (s *Spec) sizeOf(c *stack.Component) int64 {
	if c.Join == "" {
		return c.Size
	}
	var sizes []int64
	for _, name := range c.On {
		sizes = append(sizes, s.layer(name).Size)
	}
	return c.JoinedSize(sizes)
}

// units are those of sizes.
var units = map[string]int64{"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}

// parseSize is the number of bytes of a size.
func parseSize(text string) (int64, error) {
	for unit, n := range units {
		number, ok := strings.CutSuffix(text, unit)
		if v, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64); ok && err == nil && v > 0 &&
			v <= math.MaxInt64>>31 {
			return v * n, nil
		}
	}
	return 0, fmt.Errorf("device: %q is no size, such as 16MB", text)
}

// setFileSystem sets how a file system is made and examined.
func (s *Spec) setFileSystem(c *stack.Component, t *component, lines map[string]string) error {
	kind, ok := fileSystems[t.FileSystem]
	switch {
	case !ok:
		return fmt.Errorf("filesystem: %q is none of %s", t.FileSystem,
			strings.Join(slices.Sorted(maps.Keys(fileSystems)), ", "))
	case t.Mount != "" || t.Unmount != "" || t.Init != "":
		return errors.New("a filesystem is made, mounted and unmounted by Ariadne: leave out init, mount and unmount")
	case len(c.On) != 1:
		return errors.New("on: a filesystem is on one layer")
	}
	if size := s.sizeOf(s.layer(c.On[0])); size > 0 && size < kind.least {
		return fmt.Errorf("filesystem: %s needs a device of %d MB", t.FileSystem, kind.least>>20)
	}
	lines["init"] = kind.mkfs + " " + t.Mkfs + " $ARIADNE_BELOW"
	if t.Recover == "" && kind.recover != "" {
		lines["recover"] = kind.recover + " $ARIADNE_BELOW"
	}
	if t.Fsck && t.Verify == "" { // it runs for each image, so without a shell
		words, err := s.words(kind.fsck)
		if err != nil {
			return fmt.Errorf("fsck: %w", err)
		}
		c.Verify = append(words, stack.Below)
	}
	return nil
}
