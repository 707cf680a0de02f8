// Package readfile reads files that a user names, whatever they turn out to be: a device
// that never ends or a file of a size that nobody writes by hand is an error and not the
// end of the machine's memory.
package readfile

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Sizes that are more than enough.
const (
	Spec   = 4 << 20   // what people write: specs, scripts
	Record = 256 << 20 // what Ariadne writes: traces, reports, timelines
)

// AtMost reads the file at path when it has no more than so many bytes.
func AtMost(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("larger than %d MB, the limit", most>>20)}
	}
	return data, nil
}
