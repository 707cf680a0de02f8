package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/readfile"
)

// Encode is the report as the run directory has it.
func (r *Report) Encode() ([]byte, error) {
	kept := *r
	kept.Event, kept.Version, kept.Checksum = "report", Version, noSum
	data, err := json.MarshalIndent(&kept, "", "  ")
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
func (d *Dir) Report() (*Report, error) {
	h, data, err := d.head()
	if err != nil {
		return nil, err
	}
	if h.Version != Version {
		return nil, h.otherVersion(d.Path)
	}
	r := &Report{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, damaged(d.Path, err)
	}
	r.Checksum = "" // it is that of the file
	for i := range r.Violations {
		r.locate(&r.Violations[i])
	}
	return r, nil
}

// ReadViolation reads a violation of a report of the same nodes.
func (r *Report) ReadViolation(data []byte) (*Violation, error) {
	v := &Violation{}
	if err := json.Unmarshal(data, v); err != nil {
		return nil, err
	}
	r.locate(v)
	return v, nil
}

// locate gives a violation that was read its node.
func (r *Report) locate(v *Violation) { v.Node = nodeOf(v.NodeName, r.names()) }

// head is the part of a report that has had the same form in all versions.
type head struct {
	Version    int               `json:"version"`
	Command    string            `json:"command"`
	SpecDigest ariadne.Digest    `json:"spec_digest"`
	Executions int               `json:"executions"`
	Violations []json.RawMessage `json:"violations"`
	Doubts     []json.RawMessage `json:"doubts"`
	Bugs       []json.RawMessage `json:"bugs"`
	Checksum   string            `json:"checksum"`
}

// untouched is Report.Untouched, of a report of any version.
func (h *head) untouched() bool {
	return h.Executions == 0 && len(h.Violations)+len(h.Bugs)+len(h.Doubts) == 0
}

// otherVersion says of the report in a directory that this version of Ariadne does not read it.
func (h *head) otherVersion(out string) error {
	age := "an older"
	if h.Version > Version {
		age = "a newer"
	}
	return fmt.Errorf("%s is of %s version of Ariadne (format %d, not %d)", filepath.Join(out, reportFile), age,
		h.Version, Version)
}

// head reads the head of the directory's report, which any version may have written, and all of it.
// It refuses a report that is not as it was written.
func (d *Dir) head() (*head, []byte, error) {
	h, data, err := readHead(d.Path)
	if err != nil {
		return nil, nil, err
	}
	at := sumAt(data)
	if at < 0 {
		if bytes.Contains(data, []byte(`"Checksum": "`)) {
			return nil, nil, h.otherVersion(d.Path)
		}
		return nil, nil, changed(d.Path)
	}
	was := bytes.Clone(data)
	if copy(was[at:], noSum); reportSum(was) != h.Checksum {
		return nil, nil, changed(d.Path)
	}
	return h, data, nil
}

// readHead reads the head of a report, whether or not it is as it was written.
func readHead(out string) (*head, []byte, error) {
	data, err := readfile.AtMost(filepath.Join(out, reportFile), readfile.Record)
	if err != nil {
		return nil, nil, err
	}
	h := &head{}
	if err := json.Unmarshal(data, h); err != nil {
		return nil, nil, damaged(out, err)
	}
	return h, data, nil
}

func damaged(out string, err error) error {
	return fmt.Errorf("%s is damaged: %w", filepath.Join(out, reportFile), err)
}

func changed(out string) error {
	return errors.New(filepath.Join(out, reportFile) + " was changed after it was written")
}
