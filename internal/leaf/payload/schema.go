package payload

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Schema has the names of protobuf's fields, from descriptors that programs hold: Go and C++
// programs have those of the files from which their messages were generated.
type Schema struct {
	methods map[string]*descriptorpb.MethodDescriptorProto // by path, as in /etcdserverpb.KV/Range
	// by full name, as in .etcdserverpb.RangeRequest
	messages map[string]fields
	enums    map[string]map[int32]string // likewise
}

// fields are those of a message, by number.
type fields map[protowire.Number]*descriptorpb.FieldDescriptorProto

// NewSchema returns a schema that knows nothing.
func NewSchema() *Schema {
	return &Schema{map[string]*descriptorpb.MethodDescriptorProto{}, map[string]fields{}, map[string]map[int32]string{}}
}

// mostDescriptor is how many bytes a descriptor has at most.
const mostDescriptor = 4 << 20

// Add adds the descriptors in a program's file.
func (s *Schema) Add(program []byte) {
	magic := []byte{0x1f, 0x8b, 8} // of gzip
	for at, rest := 0, program; ; {
		i := bytes.Index(rest, magic)
		if i < 0 {
			break
		}
		at += i
		if r, err := gzip.NewReader(bytes.NewReader(program[at:])); err == nil {
			r.Multistream(false)
			if b, err := io.ReadAll(io.LimitReader(r, mostDescriptor)); err == nil {
				s.addFile(b)
			}
		}
		at += len(magic)
		rest = program[at:]
	}
	ending := []byte(".proto")
	for at := 0; ; {
		i := bytes.Index(program[at:], ending)
		if i < 0 {
			return
		}
		at += i + len(ending)
		if b := raw(program, at); b != nil {
			s.addFile(b)
		}
	}
}

// raw is the descriptor in a program whose first field, the file's name, ends at a place; nil:
// there is none.
func raw(program []byte, end int) []byte {
	begin := -1
	for p := end - 2; p >= max(0, end-2-127); p-- { // the tag of field 1, and a length of one byte
		if program[p] == 0x0a && p+2+int(program[p+1]) == end {
			begin = p
			break
		}
	}
	if begin < 0 {
		return nil
	}
	const name, syntax, edition = 1, 12, 14
	size := end - begin
	for last := protowire.Number(name); size < mostDescriptor; {
		number, _, n := protowire.ConsumeField(program[begin+size:])
		if n < 0 || number == name || number > syntax && number != edition || last >= syntax && number < last {
			break
		}
		size, last = size+n, number
	}
	return program[begin : begin+size]
}

// addFile adds the messages, enumerations and services of a descriptor, if it is one.
func (s *Schema) addFile(b []byte) {
	var f descriptorpb.FileDescriptorProto
	if proto.Unmarshal(b, &f) != nil || !strings.HasSuffix(f.GetName(), ".proto") {
		return
	}
	scope := ""
	if p := f.GetPackage(); p != "" {
		scope = "." + p
	}
	s.addMessages(scope, f.MessageType)
	s.addEnums(scope, f.EnumType)
	for _, service := range f.Service {
		for _, m := range service.Method {
			s.methods[strings.TrimPrefix(scope+"."+service.GetName(), ".")+"/"+m.GetName()] = m
		}
	}
}

func (s *Schema) addMessages(scope string, all []*descriptorpb.DescriptorProto) {
	for _, m := range all {
		name := scope + "." + m.GetName()
		known := fields{}
		for _, f := range m.Field {
			known[protowire.Number(f.GetNumber())] = f
		}
		s.messages[name] = known
		s.addMessages(name, m.NestedType)
		s.addEnums(name, m.EnumType)
	}
}

func (s *Schema) addEnums(scope string, all []*descriptorpb.EnumDescriptorProto) {
	for _, e := range all {
		names := map[int32]string{}
		for _, v := range e.Value {
			names[v.GetNumber()] = v.GetName()
		}
		s.enums[scope+"."+e.GetName()] = names
	}
}

// typeOf is the type of the messages that a method takes or returns; "": it is not known.
func (s *Schema) typeOf(path string, request bool) string {
	if s == nil {
		return ""
	}
	m := s.methods[strings.TrimPrefix(path, "/")]
	if request {
		return m.GetInputType()
	}
	return m.GetOutputType()
}

// message shows a message of a type, with names where they are known.
func (s *Schema) message(of string, b []byte, depth int) (text string, ok bool) {
	var known fields
	if s != nil {
		known = s.messages[of]
	}
	var shown []string
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 || len(shown) > 200 {
			return "", false
		}
		b = b[n:]
		size := protowire.ConsumeFieldValue(number, kind, b)
		if size < 0 || kind == protowire.StartGroupType { // groups, which nobody uses any more
			return "", false
		}
		name, value := strconv.Itoa(int(number)), ""
		if f := known[number]; f != nil {
			name, value = f.GetName(), s.value(f, kind, b[:size], depth)
		} else {
			value = s.unnamed(kind, b[:size], depth)
		}
		shown = append(shown, name+": "+value)
		b = b[size:]
	}
	return strings.Join(shown, ", "), true
}

// unnamed shows the value of a field of which nothing is known.
func (s *Schema) unnamed(kind protowire.Type, b []byte, depth int) string {
	switch kind {
	case protowire.VarintType:
		v, _ := protowire.ConsumeVarint(b)
		return strconv.FormatUint(v, 10)
	case protowire.Fixed32Type:
		v, _ := protowire.ConsumeFixed32(b)
		return fmt.Sprintf("0x%x", v)
	case protowire.Fixed64Type:
		v, _ := protowire.ConsumeFixed64(b)
		return fmt.Sprintf("0x%x", v)
	}
	v, _ := protowire.ConsumeBytes(b)
	if isText(v) {
		return strconv.Quote(string(v))
	}
	if depth < deepest {
		if inner, ok := s.message("", v, depth+1); ok {
			return "{" + inner + "}"
		}
	}
	return Hex(v)
}

// value shows the value of a field.
func (s *Schema) value(f *descriptorpb.FieldDescriptorProto, kind protowire.Type, b []byte, depth int) string {
	if kind != protowire.BytesType {
		return s.scalar(f, kind, b)
	}
	v, _ := protowire.ConsumeBytes(b)
	switch f.GetType() {
	case descriptorpb.FieldDescriptorProto_TYPE_STRING:
		return strconv.Quote(string(v))
	case descriptorpb.FieldDescriptorProto_TYPE_BYTES:
		if isText(v) {
			return strconv.Quote(string(v))
		}
		return Hex(v)
	case descriptorpb.FieldDescriptorProto_TYPE_MESSAGE:
		if depth < deepest {
			if inner, ok := s.message(f.GetTypeName(), v, depth+1); ok {
				return "{" + inner + "}"
			}
		}
		return Hex(v)
	}
	return s.packed(f, v)
}

// packed shows numbers that stand one behind the other.
func (s *Schema) packed(f *descriptorpb.FieldDescriptorProto, b []byte) string {
	kind := protowire.VarintType
	switch f.GetType() {
	case descriptorpb.FieldDescriptorProto_TYPE_DOUBLE, descriptorpb.FieldDescriptorProto_TYPE_FIXED64,
		descriptorpb.FieldDescriptorProto_TYPE_SFIXED64:
		kind = protowire.Fixed64Type
	case descriptorpb.FieldDescriptorProto_TYPE_FLOAT, descriptorpb.FieldDescriptorProto_TYPE_FIXED32,
		descriptorpb.FieldDescriptorProto_TYPE_SFIXED32:
		kind = protowire.Fixed32Type
	}
	var all []string
	for len(b) > 0 {
		n := protowire.ConsumeFieldValue(1, kind, b)
		if n < 0 {
			return Hex(b)
		}
		all = append(all, s.scalar(f, kind, b[:n]))
		b = b[n:]
	}
	return "[" + strings.Join(all, " ") + "]"
}

// scalar shows a number.
func (s *Schema) scalar(f *descriptorpb.FieldDescriptorProto, kind protowire.Type, b []byte) string {
	var v uint64
	switch kind {
	case protowire.VarintType:
		v, _ = protowire.ConsumeVarint(b)
	case protowire.Fixed32Type:
		w, _ := protowire.ConsumeFixed32(b)
		v = uint64(w)
	case protowire.Fixed64Type:
		v, _ = protowire.ConsumeFixed64(b)
	}
	switch f.GetType() {
	case descriptorpb.FieldDescriptorProto_TYPE_BOOL:
		return strconv.FormatBool(v != 0)
	case descriptorpb.FieldDescriptorProto_TYPE_ENUM:
		if name := s.enums[f.GetTypeName()][int32(v)]; name != "" {
			return name
		}
	case descriptorpb.FieldDescriptorProto_TYPE_SINT32, descriptorpb.FieldDescriptorProto_TYPE_SINT64:
		return strconv.FormatInt(protowire.DecodeZigZag(v), 10)
	case descriptorpb.FieldDescriptorProto_TYPE_INT32, descriptorpb.FieldDescriptorProto_TYPE_INT64,
		descriptorpb.FieldDescriptorProto_TYPE_SFIXED64:
		return strconv.FormatInt(int64(v), 10)
	case descriptorpb.FieldDescriptorProto_TYPE_SFIXED32:
		return strconv.FormatInt(int64(int32(v)), 10)
	case descriptorpb.FieldDescriptorProto_TYPE_DOUBLE:
		return strconv.FormatFloat(math.Float64frombits(v), 'g', -1, 64)
	case descriptorpb.FieldDescriptorProto_TYPE_FLOAT:
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(v))), 'g', -1, 32)
	}
	return strconv.FormatUint(v, 10)
}
