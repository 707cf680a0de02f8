package sys

import "ariadne/internal/kernel"

// fileModified is told before Linux changes the contents of a host file.
func fileModified(t *kernel.Thread, f *kernel.HostFile) {}
