package kernel

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Setting is an entry of /proc/sys that programs can set: numbers within bounds. The package that
// obeys it declares it.
type Setting struct {
	name     string
	min, max int64
	unsigned bool                       // any number of 64 bits without a sign
	initial  func(memory int64) []int64 // on a machine with so many bytes
}

var settings = map[string]*Setting{}

// changed are the settings of a node that programs have set.
var changed = NewSlot[*Node, map[string][]int64]()

// NewSetting declares a setting by its name below /proc/sys.
func NewSetting(name string, min, max int64, initial ...int64) *Setting {
	return NewMemorySetting(name, min, max, func(int64) []int64 { return initial })
}

// NewMemorySetting declares one that depends on how much memory a machine has.
func NewMemorySetting(name string, min, max int64, initial func(memory int64) []int64) *Setting {
	s := &Setting{name: name, min: min, max: max, initial: initial}
	settings[name] = s
	return s
}

// NewUnsignedSetting declares one that may be any number of 64 bits.
func NewUnsignedSetting(name string, initial uint64) *Setting {
	s := NewSetting(name, 0, 0, int64(initial))
	s.unsigned = true
	return s
}

// Settings are the names of all.
func Settings() []string {
	var names []string
	for name := range settings {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// All are a setting's numbers on a node, Of the first of them.
func (s *Setting) All(n *Node) []int64 {
	if m := changed.Peek(n); m != nil && (*m)[s.name] != nil {
		return (*m)[s.name]
	}
	return s.initial(n.MemTotal())
}
func (s *Setting) Of(n *Node) int64 { return s.All(n)[0] }

// Set gives it other numbers.
func (s *Setting) Set(n *Node, values ...int64) {
	m := changed.Of(n)
	if *m == nil {
		*m = map[string][]int64{}
	}
	(*m)[s.name] = values
}

// InitialSetting is what a setting shows on a node with so much memory that has just been switched
// on, SettingText what it shows.
func InitialSetting(name string, memory int64) string {
	return settings[name].text(settings[name].initial(memory))
}
func SettingText(n *Node, name string) string { return settings[name].text(settings[name].All(n)) }

func (s *Setting) text(values []int64) string {
	var parts []string
	for _, v := range values {
		if s.unsigned {
			parts = append(parts, strconv.FormatUint(uint64(v), 10))
		} else {
			parts = append(parts, strconv.FormatInt(v, 10))
		}
	}
	return strings.Join(parts, "\t") + "\n"
}

// WriteSetting gives a setting the numbers of a text.
func WriteSetting(n *Node, name, text string) Errno { return settings[name].write(n, text) }

// write gives it the numbers of a text; those that are not written stay.
func (s *Setting) write(n *Node, text string) Errno {
	values := slices.Clone(s.All(n))
	fields := strings.Fields(strings.TrimRight(text, "\x00"))
	for i, f := range fields[:min(len(fields), len(values))] {
		v, err := s.parse(f)
		if err != nil || !s.unsigned && (v < s.min || v > s.max) {
			return unix.EINVAL
		}
		values[i] = v
	}
	s.Set(n, values...)
	return 0
}

func (s *Setting) parse(text string) (int64, error) {
	if s.unsigned {
		v, err := strconv.ParseUint(text, 0, 64)
		return int64(v), err
	}
	return strconv.ParseInt(text, 0, 64)
}
