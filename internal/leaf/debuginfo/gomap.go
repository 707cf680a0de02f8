package debuginfo

import (
	"cmp"
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// goMap is a type of maps of Go, as they are since Go 1.24: tables of groups of eight slots, or one
// group.
type goMap struct {
	name      string
	key, elem dwarf.Type
	keyAt     int64 // in a slot
	elemAt    int64
	slotsAt   int64 // in a group
	slot      int64 // sizes
	group     int64
	indirect  [2]bool // key and element are pointers to them

	used, writing, dir, dirLen *dwarf.StructField // of a map
	data, mask                 int64              // of a table, where its groups are
}

// mostInMap is how many elements of a map are looked at.
const mostInMap = 4096

// goMapOf is the map that a type is; nil: it is none.
func goMapOf(t dwarf.Type) (*goMap, error) {
	p, ok := plain(t).(*dwarf.PtrType)
	if !ok {
		return nil, nil
	}
	of, ok := plain(p.Type).(*dwarf.StructType)
	if !ok {
		return nil, nil
	}
	if strings.HasPrefix(of.StructName, "hash<") {
		return nil, errors.New("a map of Go before 1.24 is not read")
	}
	if !strings.HasPrefix(of.StructName, "map<") {
		return nil, nil
	}
	unknown := fmt.Errorf("a %s of this version of Go is not read", of.StructName)
	g := &goMap{name: of.StructName, used: fieldOf(of, "used"), writing: fieldOf(of, "writing"),
		dir: fieldOf(of, "dirPtr"), dirLen: fieldOf(of, "dirLen")}
	if g.used == nil || g.writing == nil || g.dir == nil || g.dirLen == nil {
		return nil, unknown
	}
	table, _ := pointee(pointee(g.dir.Type)).(*dwarf.StructType)
	groups := fieldOf(table, "groups")
	if groups == nil {
		return nil, unknown
	}
	reference, _ := plain(groups.Type).(*dwarf.StructType)
	data, mask := fieldOf(reference, "data"), fieldOf(reference, "lengthMask")
	if data == nil || mask == nil {
		return nil, unknown
	}
	g.data, g.mask = groups.ByteOffset+data.ByteOffset, groups.ByteOffset+mask.ByteOffset
	group, _ := pointee(data.Type).(*dwarf.StructType)
	ctrl, slots := fieldOf(group, "ctrl"), fieldOf(group, "slots")
	if ctrl == nil || slots == nil || ctrl.ByteOffset != 0 {
		return nil, unknown
	}
	all, _ := plain(slots.Type).(*dwarf.ArrayType)
	if all == nil || all.Count != 8 {
		return nil, unknown
	}
	slot, _ := plain(all.Type).(*dwarf.StructType)
	key, elem := fieldOf(slot, "key"), fieldOf(slot, "elem")
	if key == nil || elem == nil {
		return nil, unknown
	}
	g.slotsAt, g.slot, g.group = slots.ByteOffset, sizeOf(slot), sizeOf(group)
	g.key, g.elem, g.keyAt, g.elemAt = key.Type, elem.Type, key.ByteOffset, elem.ByteOffset
	// What is large lies elsewhere: the map's name has the type itself.
	names := strings.TrimSuffix(strings.TrimPrefix(of.StructName, "map<"), ">")
	if p, ok := plain(g.key).(*dwarf.PtrType); ok && sizeOf(p.Type) > mostInline && !strings.HasPrefix(names, "*") {
		g.key, g.indirect[0] = p.Type, true
	}
	if p, ok := plain(g.elem).(*dwarf.PtrType); ok && sizeOf(p.Type) > mostInline &&
		!strings.HasSuffix(names, ","+p.String()) {
		g.elem, g.indirect[1] = p.Type, true
	}
	return g, nil
}

// mostInline is how large keys and elements are at most that lie in the map itself.
const mostInline = 128

func fieldOf(t *dwarf.StructType, name string) *dwarf.StructField {
	if t == nil {
		return nil
	}
	for _, f := range t.Field {
		if f.Name == name {
			return f
		}
	}
	return nil
}

func pointee(t dwarf.Type) dwarf.Type {
	if p, ok := plain(t).(*dwarf.PtrType); ok {
		return plain(p.Type)
	}
	return nil
}

// entry is an element of a map with its key.
type entry struct {
	key  string
	elem content
}

// entries are those of the map of which there is a pointer somewhere, in the order of their keys.
func (g *goMap) entries(m Machine, c content) (all []entry, err error) {
	at, err := c.pointer(m)
	if err != nil || at.addr == 0 {
		return nil, err
	}
	number := func(c content, off int64) uint64 {
		var b []byte
		if err == nil {
			b, err = c.get(m, off, 8)
		}
		if err != nil {
			return 0
		}
		return binary.LittleEndian.Uint64(b)
	}
	used, writing, dirLen := number(at, g.used.ByteOffset), number(at, g.writing.ByteOffset),
		number(at, g.dirLen.ByteOffset)
	dir := content{addr: number(at, g.dir.ByteOffset)}
	if err == nil && (writing&0xff != 0 || used > mostInMap || dirLen > mostInMap) {
		err = errors.New("it is changing, or too large")
	}
	if err != nil || used == 0 {
		return nil, err
	}
	if dirLen == 0 {
		err = g.inGroup(m, dir, &all)
	}
	before := uint64(0)
	for i := range dirLen {
		table := content{addr: number(dir, 8*int64(i))}
		if table.addr == before {
			continue // a table stands in several places side by side
		}
		before = table.addr
		groups, mask := content{addr: number(table, g.data)}, number(table, g.mask)
		for k := uint64(0); err == nil && k <= min(mask, mostInMap); k++ {
			err = g.inGroup(m, groups.at(int64(k)*g.group), &all)
		}
	}
	if err == nil && uint64(len(all)) != used {
		err = fmt.Errorf("%d of %d elements were found", len(all), used)
	}
	slices.SortFunc(all, func(a, b entry) int {
		x, err := strconv.ParseInt(a.key, 10, 64)
		y, err2 := strconv.ParseInt(b.key, 10, 64)
		if err == nil && err2 == nil {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(a.key, b.key)
	})
	return all, err
}

// inGroup adds what is in a group of eight slots.
func (g *goMap) inGroup(m Machine, c content, all *[]entry) error {
	ctrl, err := c.get(m, 0, 8)
	if err != nil {
		return err
	}
	for i, b := range ctrl {
		if b&0x80 != 0 {
			continue // empty, or deleted
		}
		slot := c.at(g.slotsAt + int64(i)*g.slot)
		key, elem := slot.at(g.keyAt), slot.at(g.elemAt)
		if g.indirect[0] {
			key, err = key.pointer(m)
		}
		if g.indirect[1] && err == nil {
			elem, err = elem.pointer(m)
		}
		if err != nil {
			return err
		}
		text, err := format(m, g.key, key)
		if err != nil {
			return err
		}
		*all = append(*all, entry{text, elem})
	}
	return nil
}

// find is the element with a key.
func (g *goMap) find(m Machine, c content, key string) (content, bool, error) {
	all, err := g.entries(m, c)
	for _, e := range all {
		if e.key == key {
			return e.elem, true, err
		}
	}
	return content{}, false, err
}

// format is the map as in [a:1 b:2].
func (g *goMap) format(m Machine, c content) (string, error) {
	all, err := g.entries(m, c)
	var texts []string
	for _, e := range all[:min(len(all), mostElements)] {
		text, err := format(m, g.elem, e.elem)
		if err != nil {
			return "", err
		}
		texts = append(texts, quoted(g.key, e.key)+":"+quoted(g.elem, text))
	}
	if len(all) > mostElements {
		texts = append(texts, fmt.Sprintf("and %d more", len(all)-mostElements))
	}
	return "[" + strings.Join(texts, " ") + "]", err
}
