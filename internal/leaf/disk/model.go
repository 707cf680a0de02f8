package disk

import (
	"fmt"
	"strconv"
	"strings"
)

// Model is what file system and device promise of operations that were not synced.
type Model struct {
	order  order
	sector int64
}

type order uint8

const (
	prefix order = iota + 1
	ordered
	anyOrder
)

var orders = map[string]order{"prefix": prefix, "ordered": ordered, "any": anyOrder}

// Sectors that are written as a whole or not at all.
const (
	smallSector = 512
	// page is the default: the sector of today's drives, and the page in which Linux writes
	page = 4096
)

// The models, by falling strength: each allows what those before it allow. With sectors of 512
// bytes that holds among themselves alone: prefix:512 tears a page in the middle, which any does
// not.
var (
	// Prefix keeps operations in order, up to one of them.
	Prefix = Model{prefix, page}
	// Ordered is ext4 as it is mounted by default: metadata in order, data before the metadata that
	// show it.
	Ordered = Model{ordered, page}
	// Any keeps any operations, as long as those on the same place are in order.
	Any = Model{anyOrder, page}
)

// ParseModel returns the model of a name: prefix, ordered or any, with ":512" when sectors of that
// size can be torn apart.
func ParseModel(name string) (Model, error) {
	base, sector, given := strings.Cut(name, ":")
	m := Model{orders[base], page}
	if given {
		m.sector, _ = strconv.ParseInt(sector, 10, 64)
	}
	if m.order == 0 || m.sector != page && m.sector != smallSector || m.String() != name {
		return Model{}, fmt.Errorf("unknown persistence model %q: write prefix, ordered or any, or one of them with :512", name)
	}
	return m, nil
}

// String is the name by which ParseModel knows the model.
func (m Model) String() string {
	for name, o := range orders {
		if o == m.order && m.sector != page {
			return name + ":" + strconv.FormatInt(m.sector, 10)
		} else if o == m.order {
			return name
		}
	}
	return "no model"
}
