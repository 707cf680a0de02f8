package watch

import (
	"bytes"
	"compress/gzip"
	"context"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne/internal/system/native"
	"github.com/ariadne-mc/ariadne/internal/use/watch/stream"
)

// checkpoint is the state of a verifier behind a message of the log. A process that takes over a
// part begins there, and not at the beginning of the turn. It is only a shortcut: whatever speaks
// against it, the log is read from the beginning.
type checkpoint struct {
	Identity identity
	Read     uint64 // number of the message
	Reader   json.RawMessage
	Verifier json.RawMessage
	Findings int
	Unseen   []string // as in verifying
}

// identity says of what a checkpoint is. Only the same build reads it, because another one may
// judge otherwise.
type identity struct {
	Format int
	Build  string
	Spec   string // sum of the turn's texts
	Turn   int
	Part   string // its key
}

// checkpointFormat is that of checkpoint.
const checkpointFormat = 2

// checkpointEvery is how often a verifier makes a checkpoint at most, which bounds what a process
// reads that takes over.
var checkpointEvery = 10 * time.Second

// checkpointShare is how many times longer than the last checkpoint took a verifier judges before
// it makes the next one.
const checkpointShare = 50

// build names the build of this program: the id that Go's linker has given it.
var build = sync.OnceValue(func() string {
	f, err := elf.Open("/proc/self/exe")
	if err != nil {
		return ""
	}
	defer f.Close()
	s := f.Section(".note.go.buildid")
	if s == nil {
		return ""
	}
	note, err := s.Data()
	if err != nil {
		return ""
	}
	return hex.EncodeToString(note)
})

// encode returns the same bytes for the same checkpoint.
func (c *checkpoint) encode() ([]byte, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	var to bytes.Buffer
	z, err := gzip.NewWriterLevel(&to, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	_, err = z.Write(text)
	err = errors.Join(err, z.Close())
	return to.Bytes(), err
}

// decodeCheckpoint returns a checkpoint of something, or an error that says why it is none.
func decodeCheckpoint(text []byte, of identity) (*checkpoint, error) {
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("it is damaged: %w", err)
	}
	text, err = io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("it is damaged: %w", err)
	}
	c := &checkpoint{}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("it is damaged: %w", err)
	}
	is := c.Identity
	switch {
	case is.Format != of.Format || is.Build != of.Build || is.Build == "":
		return nil, errors.New("another build of ariadne has written it")
	case is.Spec != of.Spec:
		return nil, errors.New("it is of another spec")
	case is != of:
		return nil,
			fmt.Errorf("it is of part %q of turn %d, not of part %q of turn %d", is.Part, is.Turn, of.Part, of.Turn)
	}
	return c, nil
}

// identity is that of checkpoints of a part.
func (p *part) identity() identity {
	return identity{Format: checkpointFormat, Build: build(), Spec: p.sum, Turn: p.turn, Part: p.key}
}

// checkpoint makes a checkpoint, between two calls of the reader's Next.
func (h *holding) checkpoint(of identity) (c *checkpoint, err error) {
	v := h.verifying
	c = &checkpoint{Identity: of, Read: h.reader.Read(), Findings: v.findings, Unseen: v.unseen}
	if c.Reader, err = h.reader.Save(); err == nil {
		c.Verifier, err = v.verifier.Save()
	}
	return c, err
}

// keepCheckpoint keeps a checkpoint now and then. Without one that can be kept, the part goes on.
func (w *sharing) keepCheckpoint(p *part, h *holding) error {
	if native.Since(h.saved) < max(checkpointEvery, checkpointShare*h.saving) {
		return nil
	}
	h.saved = native.Now()
	c, err := h.checkpoint(p.identity())
	if err != nil {
		return err
	}
	text, err := c.encode()
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(w.life, stream.LeaseFor)
	defer stop()
	if err := w.conn.SetCheckpoint(ctx, p.key, text); err != nil && w.life.Err() == nil {
		w.wait(fmt.Sprintf("%s: a checkpoint could not be kept: %v", nameOf(p.properties), err))
	}
	h.saving = native.Since(h.saved)
	return nil
}

// restore returns a verifier of a part that begins with a checkpoint, or nil.
func (w *sharing) restore(ctx context.Context, p *part, l *stream.Lease) *holding {
	text, err := w.conn.Checkpoint(ctx, p.key)
	if text == nil && err == nil {
		return nil
	}
	h, err := w.restoreFrom(p, l, text, err)
	if err != nil {
		w.wait(fmt.Sprintf("%s: its checkpoint is not used, and the log is read from the beginning: %v",
			nameOf(p.properties), err))
		return nil
	}
	return h
}

func (w *sharing) restoreFrom(p *part, l *stream.Lease, text []byte, err error) (*holding, error) {
	if err != nil {
		return nil, err
	}
	c, err := decodeCheckpoint(text, p.identity())
	if err != nil {
		return nil, err
	}
	r, err := w.conn.RestoreReader(context.Background(), w.names, p.turn, c.Read, p.want, c.Reader)
	if err != nil {
		return nil, err
	}
	v := newVerifying(p.spec, p.properties, p.number, r, p.turn)
	if err := v.verifier.Restore(c.Verifier); err != nil {
		r.Close()
		return nil, err
	}
	v.findings, v.unseen = c.Findings, c.Unseen
	v.state()
	return &holding{verifying: v, lease: l, reader: r}, nil
}

// wait says what is to be known besides.
func (w *sharing) wait(text string) {
	if w.options.OnWait != nil {
		w.options.OnWait(text)
	}
}
