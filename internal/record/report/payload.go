package report

import "strings"

// Payload shows the printable part of a message's data in at most width
// columns: each stretch of other bytes is one dot.
func Payload(data []byte, width int) string {
	var b strings.Builder
	dots := false
	for _, c := range data {
		if b.Len() > 4*width { // enough, even if every rune had four bytes
			break
		}
		if c >= ' ' && c < 0x7f {
			b.WriteByte(c)
			dots = false
			continue
		}
		if !dots {
			b.WriteRune('·')
		}
		dots = true
	}
	return cut(b.String(), width)
}
