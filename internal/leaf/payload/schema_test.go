package payload

import (
	"bytes"
	"compress/gzip"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// described is a file of protobuf with a service, a message within a message, an enumeration and
// each kind of number.
func described(t testing.TB, name string) []byte {
	field := func(number int32, name string, kind descriptorpb.FieldDescriptorProto_Type, of string,
	) *descriptorpb.FieldDescriptorProto {
		f := &descriptorpb.FieldDescriptorProto{Name: &name, Number: &number, Type: &kind}
		if of != "" {
			f.TypeName = &of
		}
		return f
	}
	f := &descriptorpb.FileDescriptorProto{Name: &name, Package: proto.String("shop"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{{
			Name: proto.String("Order"),
			Field: []*descriptorpb.FieldDescriptorProto{
				field(1, "item", descriptorpb.FieldDescriptorProto_TYPE_STRING, ""),
				field(2, "count", descriptorpb.FieldDescriptorProto_TYPE_INT32, ""),
				field(3, "change", descriptorpb.FieldDescriptorProto_TYPE_SINT64, ""),
				field(4, "paid", descriptorpb.FieldDescriptorProto_TYPE_BOOL, ""),
				field(5, "state", descriptorpb.FieldDescriptorProto_TYPE_ENUM, ".shop.State"),
				field(6, "to", descriptorpb.FieldDescriptorProto_TYPE_MESSAGE, ".shop.Order.Address"),
				field(7, "prices", descriptorpb.FieldDescriptorProto_TYPE_DOUBLE, ""),
				field(8, "key", descriptorpb.FieldDescriptorProto_TYPE_BYTES, ""),
			},
			NestedType: []*descriptorpb.DescriptorProto{{Name: proto.String("Address"),
				Field: []*descriptorpb.FieldDescriptorProto{
					field(1, "town", descriptorpb.FieldDescriptorProto_TYPE_STRING, ""),
				}}},
		}},
		EnumType: []*descriptorpb.EnumDescriptorProto{{Name: proto.String("State"),
			Value: []*descriptorpb.EnumValueDescriptorProto{{Name: proto.String("SENT"), Number: proto.Int32(1)}}}},
		Service: []*descriptorpb.ServiceDescriptorProto{{Name: proto.String("Shop"),
			Method: []*descriptorpb.MethodDescriptorProto{{Name: proto.String("Buy"),
				InputType:  proto.String(".shop.Order"),
				OutputType: proto.String(".shop.Order.Address")}}}},
	}
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// order is a message of the type shop.Order, with a field that the type has not.
func order() (b []byte) {
	b = protowire.AppendString(protowire.AppendTag(b, 1, protowire.BytesType), "tea")
	b = protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), 1<<64-3) // -3
	b = protowire.AppendVarint(protowire.AppendTag(b, 3, protowire.VarintType), protowire.EncodeZigZag(-7))
	b = protowire.AppendVarint(protowire.AppendTag(b, 4, protowire.VarintType), 1)
	b = protowire.AppendVarint(protowire.AppendTag(b, 5, protowire.VarintType), 1)
	to := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "Ely")
	b = protowire.AppendBytes(protowire.AppendTag(b, 6, protowire.BytesType), to)
	prices := protowire.AppendFixed64(protowire.AppendFixed64(nil, 0x3ff8000000000000), 0x4000000000000000)
	b = protowire.AppendBytes(protowire.AppendTag(b, 7, protowire.BytesType), prices)
	b = protowire.AppendBytes(protowire.AppendTag(b, 8, protowire.BytesType), []byte{0, 255})
	return protowire.AppendVarint(protowire.AppendTag(b, 99, protowire.VarintType), 5)
}

const orderText = `item: "tea", count: -3, change: -7, paid: true, state: SENT, to: {town: "Ely"}, prices: [1.5 2], ` +
	`key: [00ff], 99: 5`

// TestSchema: names are found in a program that holds a descriptor, compressed or not, between
// other bytes.
func TestSchema(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	w.Write(described(t, "shop.proto"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, held := range map[string][]byte{"plain": described(t, "a/shop.proto"), "compressed": zipped.Bytes()} {
		t.Run(name, func(t *testing.T) {
			s := NewSchema()
			program := append([]byte("\x7fELF, that uses other.proto and \x1f\x8b\x08 nothing else"), held...)
			s.Add(append(program, "\x0a\x03and more\x00\xff"...))
			if got := s.typeOf("/shop.Shop/Buy", true); got != ".shop.Order" {
				t.Errorf("the request is a %q", got)
			}
			if got := s.typeOf("/shop.Shop/Buy", false); got != ".shop.Order.Address" {
				t.Errorf("the response is a %q", got)
			}
			if got, ok := s.message(".shop.Order", order(), 0); got != orderText || !ok {
				t.Errorf("got  %s\nwant %s", got, orderText)
			}
			if got, ok := s.message(".shop.Nothing", order()[:5], 0); got != `1: "tea"` || !ok {
				t.Errorf("of a type that is not known: %s", got)
			}
		})
	}
}

// FuzzSchema: no program and no message makes it fail.
func FuzzSchema(f *testing.F) {
	f.Add(described(f, "shop.proto"), order())
	f.Fuzz(func(t *testing.T, program, message []byte) {
		s := NewSchema()
		s.Add(program)
		s.message(".shop.Order", message, 0)
	})
}
