package spec

import (
	"slices"

	"ariadne"
	"ariadne/internal/disk"
	"ariadne/internal/world"

	"go.yaml.in/yaml/v3"
)

// Power says what a loss of power leaves of what was not synced.
type Power struct {
	Model  disk.Model
	Images int // of one loss, at most
}

// DefaultPower is what it leaves when the spec does not say it.
var DefaultPower = Power{Model: disk.Ordered, Images: 64}

// maxImages is a choice that a trace can still name and a person can still read.
const maxImages = 100_000

// LosesPower reports whether a node's machine may lose power.
func (s *Spec) LosesPower(id ariadne.NodeID) bool {
	return s.Faults[world.Power] > 0 && slices.Contains(s.outagesOf(ariadne.PowerLost).Nodes, id)
}

// powerFields are those of an outage, and what is left.
var powerFields = append(slices.Clone(outageFields),
	field[outageText]{"model", "What of unsynced operations may be left of a node's files: prefix (all up to one of them), ordered (metadata in order, data before the metadata that show them, as on ext4; the default) or any (any of them); with :512 sectors may be torn at 512 bytes instead of 4096.",
		schema{"type": "string", "pattern": "^(prefix|ordered|any)(:512)?$"}, func(r *reader, o *outageText, v *yaml.Node) {
			t := r.text(v)
			m, err := disk.ParseModel(t.string)
			if err != nil {
				r.fail(t.line, "faults: power: model: %s", err)
			}
			o.power.Model = m
		}},
	countField("images", "How many images of a node's files one loss is tried with, at most: everything unsynced lost first, then nothing, then one operation lost or kept, then random ones; default 64.", 1, maxImages, func(o *outageText) *int { return &o.power.Images }),
)
