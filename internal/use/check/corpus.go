package check

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/leaf/readfile"
	"github.com/ariadne-mc/ariadne/internal/record"
)

// corpus is what goes on with the next check of a spec: beginnings of paths that have led to a
// violation, or to what hardly any other path has shown. It is a hint. A check that begins with
// other ones takes other paths, but what it finds is whole executions, which replay without it.
type corpus struct {
	path    string // of its file; "": there is none
	before  []strategy.Prefix
	recalls []*strategy.Recall // by worker

	mu         sync.Mutex // of all below
	violations []strategy.Prefix
	firsts     []first
	news       bool          // something has come since it was saved
	saved      time.Duration // when it last was, by the clock of the check; 0: it is to be at once
}

// first is the beginning of a path that has shown a kind of behaviour first.
type first struct {
	prefix strategy.Prefix
	kind   uint64
}

// corpusEvery is how often it is saved while the check goes on.
const corpusEvery = 10 * time.Second

const (
	corpusBytes      = 4 << 20 // of the file
	corpusMost       = 64      // prefixes in it
	corpusViolations = 16      // of these, from one check
	corpusTaken      = 16      // that a check begins with
	corpusDeviations = 4096    // of a prefix
)

// corpusFile is what is in the file.
type corpusFile struct {
	Prefixes []strategy.Prefix `json:"prefixes"`
}

// openCorpus reads what earlier checks have left, unless nothing of that is wanted.
func (x *explorer) openCorpus() {
	o, c := &x.check.opts, &x.corpus
	if o.Search.Fresh || x.row.Once {
		return
	}
	c.path = x.check.dir.Corpus(x.check.system.Spec.Name)
	var f corpusFile
	data, err := readfile.AtMost(c.path, corpusBytes)
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		x.check.ledger.addNotes(fmt.Sprintf("%s could not be read, and is written again: %v", c.path, err))
	}
	c.before = f.Prefixes
	if o.Resume { // it has begun already
		return
	}
	for w := range o.Workers {
		r := &strategy.Recall{}
		for i := w; i < min(len(c.before), corpusTaken); i += o.Workers {
			r.Prefixes = append(r.Prefixes, c.before[i])
		}
		c.recalls = append(c.recalls, r)
	}
}

// recall is what a worker begins with, or nil.
func (c *corpus) recall(worker int) *strategy.Recall {
	if worker >= len(c.recalls) {
		return nil
	}
	return c.recalls[worker]
}

// enterViolation enters a path that has led to a violation.
func (c *corpus) enterViolation(x strategy.Prefix) {
	if c.path == "" {
		return
	}
	x.Violation = true
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.violations) < corpusViolations && len(x.Deviations) <= corpusDeviations {
		c.violations, c.news, c.saved = append(c.violations, x), true, 0
	}
}

// wants reports whether there is a corpus, and a path may go into it.
func (c *corpus) wants(p *space.Path) bool { return c.path != "" && !p.Approaching() }

// enterSeen enters a path whose last step has shown a kind of behaviour first. The natural one is
// taken anyway.
func (c *corpus) enterSeen(x strategy.Prefix, kind uint64, b *behaviour) {
	if n := len(x.Deviations); n == 0 || n > corpusDeviations {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.news = true
	if c.firsts = append(c.firsts, first{x, kind}); len(c.firsts) >= 2*corpusMost {
		c.sortByRarity(b)
		c.firsts = c.firsts[:corpusMost]
	}
}

// sortByRarity puts what was seen least often first, and of equals what came first. mu is held.
func (c *corpus) sortByRarity(b *behaviour) {
	slices.SortStableFunc(c.firsts, func(x, y first) int {
		return cmp.Compare(b.features.Shown(x.kind), b.features.Shown(y.kind))
	})
}

// saveNowAndThen saves the corpus at a time of the check, so that a check which is killed leaves
// one.
func (c *corpus) saveNowAndThen(b *behaviour, now time.Duration) error {
	c.mu.Lock()
	due := c.news && (c.saved == 0 || now-c.saved >= corpusEvery)
	if due {
		c.news, c.saved = false, now
	}
	c.mu.Unlock()
	if !due {
		return nil
	}
	return c.save(b)
}

// save writes the corpus for the next check: what has led to violations, what is rare, and of the
// one before what was not taken again.
func (c *corpus) save(b *behaviour) error {
	if c.path == "" {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sortByRarity(b)
	all := slices.Clone(c.violations)
	for _, x := range c.firsts {
		all = append(all, x.prefix)
	}
	taken := map[int]bool{}
	for w, r := range c.recalls {
		for i := range r.Taken() {
			taken[w+i*len(c.recalls)] = true
		}
	}
	for i, x := range c.before {
		if !taken[i] {
			all = append(all, x)
		}
	}
	all = all[:min(len(all), corpusMost)]
	for {
		data, err := json.Marshal(corpusFile{all})
		if err != nil {
			return err
		}
		if len(data) <= corpusBytes {
			return record.WriteFile(c.path, data)
		}
		all = all[:len(all)/2]
	}
}
