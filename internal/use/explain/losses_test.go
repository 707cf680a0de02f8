package explain

import "testing"

func TestFileOf(t *testing.T) {
	for op, want := range map[string]string{
		"write of 9 bytes at 0 to data/wal":                "data/wal",
		"3 of 4 parts of write of 9 bytes at 0 to my file": "my file",
		"write of 4096 bytes at 0 to db (mapping)":         "db",
		"truncate of a b from 7 to 0 bytes":                "a b",
		"fallocate of f, 0 to 5 bytes":                     "f",
		"zeros for 9 bytes at 3 of f":                      "f",
		"shift of f at 3, 9 to 4 bytes":                    "f",
		"creation of dir/f":                                "dir/f",
		"unlink of f":                                      "f",
		"rename of a to b":                                 "b",
		"link to f":                                        "f",
		"something else":                                   "",
	} {
		if got := fileOf(op); got != want {
			t.Errorf("%q: %q, want %q", op, got, want)
		}
	}
}
