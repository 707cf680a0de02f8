package space

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
)

// A node may do something else at a later time without a word: a count begins again, an entry is
// dropped. Then its memory tells. Memory also has times in it, and what follows from these. So the
// step is executed at two times that are close together, and at two later ones that are: a word
// counts that is the same at the first two and at the last two, and not at all four. That is only a
// hint. It may be a time in seconds that is kept in some unusual way, and then the search has an
// event more that leads to nothing.

const (
	// closeTimes is how far apart two times are that are close together.
	closeTimes = turnExact
	// mostMemory bounds how many pages of a node are compared: about 64 MB.
	mostMemory = 16384
	// mostWords is how many words are looked at to find when they change.
	mostWords = 64
)

// memoryWord is a place in the memory of a node.
type memoryWord struct {
	process int
	address uint64
}

// wordSize is how many bytes a word has.
const wordSize = 8

// changedWord is a word with what it is at first, and at last.
type changedWord struct {
	memoryWord
	first, last uint64
}

// findInMemory finds when the memory with which a node goes on becomes another one, if it does
// between two times.
func (f *finder) findInMemory(from, to ariadne.Time) {
	v, ok := f.source.(Visitor)
	if !ok || !f.memory || to-from < 4*closeTimes {
		return
	}
	var pages [4][]ariadne.MemoryPage
	for i, at := range []ariadne.Time{from, from + closeTimes, to - closeTimes, to} {
		if pages[i] = f.memoryAt(v, at); pages[i] == nil {
			return
		}
	}
	words := changedWords(pages, to-from)
	if len(words) == 0 {
		return
	}
	for to-from > turnExact {
		mid := from + (to-from)/2
		pages := f.memoryAt(v, mid)
		switch {
		case pages == nil:
			return
		case isRatherLast(words, pages):
			to = mid
		default:
			from = mid
		}
	}
	f.found = append(f.found, from, to)
}

// memoryAt is the memory of the node after the step at a time; nil: it cannot be compared.
func (f *finder) memoryAt(v Visitor, at ariadne.Time) (pages []ariadne.MemoryPage) {
	in := f.in
	in.At = at
	f.tries++
	t := f.execute(f.from, in)
	if f.err != nil || t.Effect.Done || t.Output.Cut != "" || t.Output.Unreplayable {
		return nil
	}
	f.err = v.Visit(t.To, func(n memo.Instance) (err error) {
		if m, ok := n.(memo.MemoryReader); ok {
			pages, err = m.Memory(mostMemory)
		}
		return err
	})
	return pages
}

// changedWords are the words that are the same in the first two and in the last two of four
// memories, and not in all, if they are not the times of their steps. Between the first and the
// last one so much time has passed.
func changedWords(pages [4][]ariadne.MemoryPage, passed ariadne.Time) (words []changedWord) {
	var at [4]int // in pages
	for {
		first := -1
		for i, all := range pages {
			if at[i] < len(all) && (first < 0 || comparePages(all[at[i]], pages[first][at[first]]) < 0) {
				first = i
			}
		}
		if first < 0 {
			return words
		}
		page := pages[first][at[first]]
		var data [4][]byte // nil: the page was not touched
		for i, all := range pages {
			if at[i] < len(all) && comparePages(all[at[i]], page) == 0 {
				data[i] = all[at[i]].Data
				at[i]++
			}
		}
		if slices.Equal(data[0], data[3]) {
			continue
		}
		for k := 0; k+wordSize <= len(page.Data) && len(words) < mostWords; k += wordSize {
			a, b := wordOf(data[0], k), wordOf(data[3], k)
			if a != b && a == wordOf(data[1], k) && b == wordOf(data[2], k) && !isTime(int64(b-a), passed) {
				words = append(words, changedWord{memoryWord{page.Process, page.Address + uint64(k)}, a, b})
			}
		}
	}
}

func comparePages(a, b ariadne.MemoryPage) int {
	switch {
	case a.Process != b.Process:
		return a.Process - b.Process
	case a.Address < b.Address:
		return -1
	case a.Address > b.Address:
		return 1
	}
	return 0
}

// wordOf is a word of a page.
func wordOf(page []byte, at int) (word uint64) {
	if page == nil {
		return 0
	}
	for i, b := range page[at : at+wordSize] {
		word |= uint64(b) << (8 * i)
	}
	return word
}

// isTime reports whether two words that differ by so much may be times between which so much has
// passed, or times that are left, in seconds or a smaller unit.
func isTime(difference int64, passed ariadne.Time) bool {
	if difference < 0 {
		difference = -difference
	}
	for unit := ariadne.Time(1e9); unit > 0; unit /= 1000 {
		if d := difference - int64(passed/unit); -1 <= d && d <= 1 {
			return true
		}
	}
	return false
}

// isRatherLast reports whether more of some words are what they are at last than what they are at
// first.
func isRatherLast(words []changedWord, pages []ariadne.MemoryPage) bool {
	last := 0
	for _, w := range words {
		page := ariadne.MemoryPage{Process: w.process, Address: w.address &^ (memoryPageSize - 1)}
		if i, ok := slices.BinarySearchFunc(pages, page, comparePages); ok {
			page.Data = pages[i].Data
		}
		switch wordOf(page.Data, int(w.address-page.Address)) {
		case w.last:
			last++
		case w.first:
			last--
		}
	}
	return last > 0
}

const memoryPageSize = 4096
