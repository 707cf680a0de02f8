package work

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Version is that of the encodings of a Work and a Result. Other versions are refused.
const Version = 1

// An encoding is one line that says what it is and its version, and JSON behind it. Each value has
// one: what stands for the same is encoded the same, and Decode takes exactly that. Texts that are
// no UTF-8 lose what is none.
const (
	resultHead = "ariadne result"
	workHead   = "ariadne work"
)

// Encode is the encoding of a Result.
func (r *Result) Encode() ([]byte, error) {
	sum := &Result{}
	sum.Add(r)
	data, err := json.Marshal(sum)
	if err != nil {
		return nil, err
	}
	valid := &Result{} // of texts that are UTF-8, of which some may be the same now
	if err := json.Unmarshal(data, valid); err != nil {
		return nil, err
	}
	sum = &Result{}
	sum.Add(valid)
	data, err = json.Marshal(sum)
	return withHead(resultHead, data), err
}

// DecodeResult is the Result of an encoding. The error says in one line what is wrong with that.
func DecodeResult(data []byte) (*Result, error) {
	r := &Result{}
	if err := decode(resultHead, data, r); err != nil {
		return nil, err
	}
	for _, s := range r.Ended {
		if s.From < 0 || s.To > maxIndex {
			return nil, errors.New("a result with executions that cannot be")
		}
	}
	again, err := r.Encode()
	if err != nil || !bytes.Equal(data, again) {
		return nil, errors.New("a result that nobody has encoded so")
	}
	return r, nil
}

// maxIndex is more than any execution has.
const maxIndex = 1 << 40

func withHead(head string, data []byte) []byte {
	return append(fmt.Appendf(nil, "%s %d\n", head, Version), data...)
}

// decode decodes what has a head.
func decode(head string, data []byte, to any) error {
	first, rest, ok := bytes.Cut(data, []byte("\n"))
	if !ok || !bytes.HasPrefix(first, []byte(head+" ")) {
		return fmt.Errorf("no %s", head)
	}
	if v := string(first[len(head)+1:]); v != fmt.Sprint(Version) {
		return fmt.Errorf("%s of version %q, and this Ariadne has %d", head, v, Version)
	}
	d := json.NewDecoder(bytes.NewReader(rest))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return fmt.Errorf("%s that is damaged: %w", head, err)
	}
	return nil
}
