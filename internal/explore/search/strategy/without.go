package strategy

// Without are parts that a guided search does without, so that it can be measured what each of them
// brings. The zero value has them all.
type Without struct {
	Moments bool // faults come at any step as likely as at others
	// no fault depends on the one before, and all nodes and lengths are as likely as others
	Together bool
	Novelty  bool // default has no share for novelty
	Sites    bool // no fault within a step is aimed at a site
}

// Names of the parts.
const (
	partMoments  = "moments"
	partTogether = "together"
	partNovelty  = "novelty"
	partSites    = "sites"
)

// guided are the parts of strategies that draw faults at random and know about other paths.
var guided = []string{partMoments, partTogether, partSites}

// take takes a part away.
func (w *Without) take(part string) {
	switch part {
	case partMoments:
		w.Moments = true
	case partTogether:
		w.Together = true
	case partNovelty:
		w.Novelty = true
	case partSites:
		w.Sites = true
	default:
		panic("unknown part " + part)
	}
}

// shared are the features that all explorers of a search share.
func (b *Builder) shared() *Features {
	if b.Features == nil {
		b.Features = &Features{}
	}
	b.Features.without = b.Without
	return b.Features
}
