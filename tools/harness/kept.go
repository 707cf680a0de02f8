package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ReadList reads a list in a YAML file. A field that the list's elements do not have is an error.
func ReadList[T any](path string) (list []T, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d := yaml.NewDecoder(bytes.NewReader(b))
	d.KnownFields(true)
	if err := d.Decode(&list); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}

// Keep writes to a file what was measured.
func Keep(path string, measured any) error {
	b, err := json.MarshalIndent(measured, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

// Kept is what Keep wrote to a file last, or nil if there is none.
func Kept[T any](path string) (*T, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	measured := new(T)
	if err := json.Unmarshal(b, measured); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return measured, nil
}

// Page is a page of docs/ as it was written last: what it says of targets that were measured
// elsewhere, of which nothing is kept here, stays.
type Page string

// ReadPage reads a page; one that is not there yet is empty.
func ReadPage(path string) (Page, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return Page(b), err
}

// Rows are the lines of tables, each with its end, that have these cells side by side.
func (p Page) Rows(cells ...string) (rows []string) {
	wanted := "| " + strings.Join(cells, " | ") + " |"
	for line := range strings.Lines(string(p)) {
		if strings.HasPrefix(line, "|") && strings.Contains(line, wanted) {
			rows = append(rows, line)
		}
	}
	return rows
}

// Section is the section with this heading of the second level, and its heading, without the empty
// lines at its end; "" if there is none.
func (p Page) Section(heading string) string {
	_, rest, ok := strings.Cut("\n"+string(p), "\n## "+heading+"\n")
	if !ok {
		return ""
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	return "## " + heading + "\n" + strings.TrimRight(rest, "\n") + "\n"
}
