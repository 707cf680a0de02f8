//go:build linux

package disk

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Without is a check of the stack without one of its layers.
type Without struct {
	Layer      string `json:"layer"`
	Executions int    `json:"executions"`
	Checked    int    `json:"checked"`
	Failed     int    `json:"failed"`
	// Impossible is why the stack cannot be checked so, or "".
	Impossible string `json:"impossible,omitempty"`
}

// blameLayers checks the stack without each layer that can be left out. A layer is to blame for a
// symptom that the stack does not show without it.
func (r *Report) blameLayers(ctx context.Context, o Options) error {
	for i := range o.Spec.Components {
		name := o.Spec.Components[i].Name
		apart := o
		if apart.Spec = o.Spec.without(name); apart.Spec == nil {
			continue
		}
		apart.Temp = filepath.Join(o.Temp, "without-"+name)
		if err := os.Mkdir(apart.Temp, 0o700); err != nil {
			return err
		}
		other, err := checkStack(ctx, apart)
		if err != nil && Interrupted(err) {
			return err
		}
		w := Without{Layer: name, Executions: other.Executions, Checked: other.Checked, Failed: other.Failed}
		if err != nil {
			w.Impossible = err.Error()
		}
		r.Without = append(r.Without, w)
		// A check that has executed less may have missed the symptom. One that has executed all of
		// less has not: there are no choices of threads of the layer.
		if err != nil || other.Stopped != "" && other.Executions < r.Executions {
			continue
		}
		for k := range r.Groups {
			g := &r.Groups[k]
			// Of images that are a sample, so many would have to be one that fails in this way.
			if other.LeftOut > 0 && g.Images*other.Checked < r.Checked {
				continue
			}
			if !slices.ContainsFunc(other.Groups, func(h Group) bool { return h.key == g.key }) {
				g.Blamed = append(g.Blamed, name)
			}
		}
	}
	return nil
}

// without is the spec without a layer, or nil where the layers above cannot do without it. A mirror
// or stripe gives way to the first of its devices, with the size of the whole, which lies if one of
// the devices does. A layer of commands gives way to the directory of the layer below it.
func (s *Spec) without(name string) *Spec {
	c := s.layer(name)
	switch {
	case c.Join != "":
	case c.IsDevice(), c.FileSystem != "", len(c.On) != 1, s.layer(c.On[0]).IsDevice():
		return nil
	}
	other := *s
	other.Name = fmt.Sprintf("%s without %s", s.Name, name)
	other.Components = nil
	for _, d := range s.Components {
		switch {
		case d.Name == name, c.Join != "" && slices.Contains(c.On[1:], d.Name):
			continue
		case c.Join != "" && d.Name == c.On[0]:
			// The layer is not to blame for a device that lies.
			d.Size = s.sizeOf(c)
			d.Lies = slices.ContainsFunc(c.On, func(name string) bool { return s.layer(name).Lies })
		}
		d.On = slices.Clone(d.On)
		if at := slices.Index(d.On, name); at >= 0 {
			d.On[at] = c.On[0]
		}
		other.Components = append(other.Components, d)
	}
	return &other
}
