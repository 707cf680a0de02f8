//go:build linux

package stack

import "testing"

// TestConcerns: lines of the kernel's log that are about a device, and those that are not.
func TestConcerns(t *testing.T) {
	for text, want := range map[string]bool{
		"EXT4-fs (loop1): bad geometry": true, "EXT4-fs (loop10): bad geometry": false,
		"EXT4-fs (loop2): bad geometry": false, "ext4: Unknown parameter 'x'": true,
		"BTRFS error (device loop1 state M): x": true, "XFS: x": false, "I/O error, dev loop1": true,
	} {
		if got := concerns(text, "ext4", "loop1"); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
