package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/ariadne-mc/ariadne/internal/leaf/readfile"
)

// Encode is the report as the run directory has it.
func (r *Report) Encode() ([]byte, error) {
	r.Version, r.Checksum = Version, noSum
	data, err := json.MarshalIndent(r, "", "  ")
	data = append(data, '\n')
	at := sumAt(data)
	if err != nil || at < 0 {
		return data, err
	}
	copy(data[at:], reportSum(data))
	return data, nil
}

// noSum stands in the place of a report's checksum when that is computed.
const noSum = "0000000000000000"

// sumAt is where the checksum stands in a report, or less than 0.
func sumAt(data []byte) int {
	const key = `"checksum": "`
	at := bytes.LastIndex(data, []byte(key))
	if at < 0 || at+len(key)+len(noSum) > len(data) {
		return -1
	}
	return at + len(key)
}

func reportSum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:len(noSum)/2])
}

// Save writes the report to its directory.
func (r *Report) Save() error {
	data, err := r.Encode()
	if err != nil {
		return err
	}
	return r.Write(data)
}

// Write writes what Encode gave.
func (r *Report) Write(data []byte) error { return WriteFile(filepath.Join(r.Out, reportFile), data) }

// Report reads the report of the directory, as it was written by this version.
func (d *Dir) Report() (*Report, error) { return d.report(Version) }

// report reads it as it was written by a version that is not older. Of an older one the coverage
// may not be read.
func (d *Dir) report(oldest int) (*Report, error) {
	r, data, err := readReport(d.Path)
	if err != nil {
		return nil, err
	}
	at := sumAt(data)
	if r.Version < oldest || at < 0 && bytes.Contains(data, []byte(`"Checksum": "`)) {
		return nil, fmt.Errorf("%s is of an older version of Ariadne", filepath.Join(d.Path, reportFile))
	}
	if at >= 0 {
		copy(data[at:], noSum)
	}
	if at < 0 || reportSum(data) != r.Checksum {
		return nil, fmt.Errorf("%s was changed after it was written", filepath.Join(d.Path, reportFile))
	}
	return r, nil
}

// readReport reads a report, whether or not it is as it was written.
func readReport(out string) (*Report, []byte, error) {
	path := filepath.Join(out, reportFile)
	data, err := readfile.AtMost(path, readfile.Record)
	if err != nil {
		return nil, nil, err
	}
	r := &Report{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	return r, data, nil
}
