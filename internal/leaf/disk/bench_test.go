package disk

import (
	"fmt"
	"testing"
)

// BenchmarkWalk forms the images of a program that replaces a file 40 times and syncs nothing.
func BenchmarkWalk(b *testing.B) {
	var log []*Op
	for i := range uint64(40) {
		text := fmt.Appendf(nil, "value %d\n", i)
		n, over := int64(len(text)), uint64(0)
		if i > 0 {
			over = 11 + i
		}
		log = append(log,
			&Op{Kind: Create, Ino: 12 + i, Dir: 11, Name: "tmp", Links: 1, Attr: Attr{Mode: TypeRegular | 0o644}},
			&Op{Kind: Write, Ino: 12 + i, Length: n, New: text, Size: n},
			&Op{Kind: Rename, Ino: 12 + i, Dir: 11, Name: "tmp", ToDir: 11, ToName: "value", Over: over, Links: 1,
				Attr: Attr{Mode: TypeRegular | 0o644}})
	}
	for _, m := range []Model{Ordered, Any} {
		b.Run(m.String(), func(b *testing.B) {
			images := 0
			for b.Loop() {
				w := NewWalk(m, Choice{Limit: 64})
				for _, op := range log {
					list := w.Add(op)
					for n := range list.Lost {
						list.Image(n)
					}
					images += len(list.Lost)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(images), "µs/image")
			b.ReportMetric(float64(images)/float64(b.N), "images")
		})
	}
}
