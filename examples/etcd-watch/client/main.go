// Command client talks to etcd's JSON gateway.
//
//	client write   puts a key, puts it again, deletes it, and puts the key that ends the history
//	client watch   compacts the history at the revision that it finds, then watches from there
//
// Each write makes one revision. So whoever watches from revision r, which is not
// compacted away (the API says: what is less than r), must be told of r and each
// later one.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

const server = "http://n1:2379/v3/"

// Keys of the history. first is written when the server is ready, last at the end.
const first, key, last = "key-0", "key-1", "key-2"

func main() {
	err := errors.New("usage: client write|watch")
	if len(os.Args) == 2 && os.Args[1] == "write" {
		err = write()
	}
	if len(os.Args) == 2 && os.Args[1] == "watch" {
		err = watch()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}

// number is an int64 as the gateway has it: a string, or absent when it is 0.
type number int64

func (n *number) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseInt(string(bytes.Trim(b, `"`)), 10, 64)
	*n = number(v)
	return err
}

type header struct {
	Revision number `json:"revision"`
}

func write() error {
	ready(func() error { return put(first, "") })
	if err := errors.Join(put(key, "one"), put(key, "two")); err != nil {
		return err
	}
	var deleted struct {
		Header header `json:"header"`
	}
	if err := call("kv/deleterange", map[string]any{"key": []byte(key)}, &deleted); err != nil {
		return err
	}
	fmt.Println("deleted at revision", deleted.Header.Revision)
	return put(last, "")
}

func put(k, value string) error {
	var done struct {
		Header header `json:"header"`
	}
	if err := call("kv/put", map[string]any{"key": []byte(k), "value": []byte(value)}, &done); err != nil {
		return err
	}
	fmt.Println("put", k, "at revision", done.Header.Revision)
	return nil
}

// watch compacts at the revision in which it finds the first key.
func watch() error {
	var found struct {
		Header header `json:"header"`
		Count  number `json:"count"`
	}
	ready(func() error {
		err := call("kv/range", map[string]any{"key": []byte(first)}, &found)
		if err == nil && found.Count == 0 {
			err = errors.New("nothing is written yet")
		}
		return err
	})
	from := found.Header.Revision
	if err := call("kv/compaction", map[string]any{"revision": from, "physical": true}, nil); err != nil {
		return err
	}
	fmt.Println("compacted at revision", from)
	return follow(from)
}

type event struct {
	Type string `json:"type"` // absent: PUT
	KV   struct {
		Key      []byte `json:"key"`
		Revision number `json:"mod_revision"`
	} `json:"kv"`
}

// follow takes events from revision from on until the last key, and checks that
// none is missing.
func follow(from number) error {
	r, err := post("watch", map[string]any{"create_request": map[string]any{
		"key": []byte("key-"), "range_end": []byte("key."), "start_revision": from}})
	if err != nil {
		return err
	}
	defer r.Close()
	in := json.NewDecoder(r)
	for next := from; ; {
		var m struct {
			Result struct {
				Events   []event `json:"events"`
				Canceled bool    `json:"canceled"`
				Reason   string  `json:"cancel_reason"`
			} `json:"result"`
		}
		if err := in.Decode(&m); err != nil {
			return err
		}
		if m.Result.Canceled {
			return fmt.Errorf("the watch was canceled: %s", m.Result.Reason)
		}
		for _, e := range m.Result.Events {
			if e.KV.Revision != next {
				return fmt.Errorf("watching from revision %d, the event of revision %d is missing: %s %s of revision %d came next",
					from, next, e.Type, e.KV.Key, e.KV.Revision)
			}
			if string(e.KV.Key) == last {
				fmt.Println("saw every event from revision", from, "to", next)
				return nil
			}
			next++
		}
	}
}

// ready tries until the server answers as it should, however long that takes.
func ready(try func() error) {
	for try() != nil {
		time.Sleep(50 * time.Millisecond)
	}
}

func call(path string, request, response any) error {
	r, err := post(path, request)
	if err != nil {
		return err
	}
	defer r.Close()
	if response == nil {
		_, err = io.Copy(io.Discard, r)
		return err
	}
	return json.NewDecoder(r).Decode(response)
}

// post sends a request and returns the body of the answer. []byte are sent as the
// gateway wants them, base64.
func post(path string, request any) (io.ReadCloser, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	r, err := http.Post(server+path, "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if r.StatusCode != http.StatusOK {
		defer r.Body.Close()
		text, _ := io.ReadAll(r.Body)
		return nil, fmt.Errorf("%s: %s: %s", path, r.Status, text)
	}
	return r.Body, nil
}
