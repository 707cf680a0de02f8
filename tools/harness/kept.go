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

// Cells are those of a row, by the heads of their columns. The row begins with the cell name, in a
// table whose heads begin with head; nil if there is none.
func (p Page) Cells(head, name string) map[string]string {
	var heads []string
	for line := range strings.Lines(string(p)) {
		switch cells := cellsOf(line); {
		case len(cells) == 0:
			heads = nil
		case heads == nil && cells[0] == head:
			heads = cells
		case heads != nil && cells[0] == name:
			row := map[string]string{}
			for i, cell := range cells[:min(len(cells), len(heads))] {
				row[heads[i]] = cell
			}
			return row
		}
	}
	return nil
}

// cellsOf are the cells of a line; none: it is of no table.
func cellsOf(line string) []string {
	line, ok := strings.CutPrefix(strings.TrimSpace(line), "| ")
	if !ok {
		return nil
	}
	return strings.Split(strings.TrimSuffix(strings.TrimSuffix(line, "|"), " "), " | ")
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
