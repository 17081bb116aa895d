package contract

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// ItemsMax is the largest number of items in a list of a message
// (contracts/README.md, Sizes).
const ItemsMax = 200_000

// ErrItems refuses a longer list.
const ErrItems ApplicationError = "a list holds at most 200000 items"

// protobufItemBytesMin is the length of the shortest item: a key and a length of 0.
const protobufItemBytesMin = 2

// CheckProtobuf counts the items of an encoded message before it is decoded:
// the library has no limit of its own, and an item of two bytes becomes a
// hundred. The decoder handles malformed input.
func CheckProtobuf(of proto.Message, encoded []byte) error {
	fields := of.ProtoReflect().Descriptor().Fields()
	if len(encoded) <= ItemsMax*protobufItemBytesMin || !hasList(fields) {
		return nil
	}
	for items := 0; len(encoded) > 0; {
		number, _, length := protowire.ConsumeField(encoded)
		if length < 0 {
			return nil
		}
		if field := fields.ByNumber(number); field != nil && field.IsList() {
			items++
		}
		if items > ItemsMax {
			return ErrItems
		}
		encoded = encoded[length:]
	}
	return nil
}

func hasList(fields protoreflect.FieldDescriptors) bool {
	for i := range fields.Len() {
		if fields.Get(i).IsList() {
			return true
		}
	}
	return false
}

// CheckJSON counts the objects of a text before encoding/json reads it, which
// has no limit of its own. A message and the items of one list are objects, so
// more than those are too many, wherever they are.
func CheckJSON(text []byte) error {
	// Braces within strings count too: many times faster, and nearly always enough.
	if bytes.Count(text, []byte{'{'}) <= ItemsMax+1 {
		return nil
	}
	objects, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch letter := text[i]; {
		case quoted && letter == '\\':
			i++
		case letter == '"':
			quoted = !quoted
		case letter == '{' && !quoted:
			objects++
		}
	}
	if objects > ItemsMax+1 {
		return ErrItems
	}
	return nil
}
