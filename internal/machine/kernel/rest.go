package kernel

import "math/bits"

// WithoutPrefix returns b without its first n bytes. It does not keep more than twice as much
// memory as that: a slice would keep all of b.
func WithoutPrefix(b []byte, n int) []byte {
	switch rest := b[n:]; {
	case len(rest) == 0:
		return nil
	case bits.Len(uint(len(rest))) < bits.Len(uint(len(b))):
		return append(make([]byte, 0, len(rest)), rest...)
	default:
		return rest
	}
}

// WithoutFirst returns a queue without its first element, which it does not keep either.
func WithoutFirst[T any](queue []T) []T {
	var none T
	queue[0] = none
	if queue = queue[1:]; len(queue) == 0 {
		return nil
	}
	return queue
}
