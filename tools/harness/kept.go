package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

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
