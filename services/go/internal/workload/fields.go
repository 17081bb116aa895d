package workload

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// fieldPath finds a field by its name, such as `teamDetails.groupId`.
func fieldPath(message proto.Message, path string) ([]protoreflect.FieldDescriptor, error) {
	of := message.ProtoReflect().Descriptor()
	var found []protoreflect.FieldDescriptor
	for name := range strings.SplitSeq(path, ".") {
		if of == nil || of.Fields().ByName(protoreflect.Name(name)) == nil {
			return nil, fmt.Errorf("%s has no field %q", message.ProtoReflect().Descriptor().Name(), path)
		}
		field := of.Fields().ByName(protoreflect.Name(name))
		found, of = append(found, field), nil
		if field.Kind() == protoreflect.MessageKind && !field.IsList() {
			of = field.Message()
		}
	}
	return found, nil
}

// sameType: a field can hold every value of the other.
func sameType(from, to protoreflect.FieldDescriptor) bool {
	if from.IsList() != to.IsList() || from.Message() != to.Message() {
		return false
	}
	isWider := from.Kind() == protoreflect.Int32Kind && to.Kind() == protoreflect.Int64Kind
	return from.Kind() == to.Kind() || isWider
}

func getField(message proto.Message, path []protoreflect.FieldDescriptor) protoreflect.Value {
	at := message.ProtoReflect()
	for _, field := range path[:len(path)-1] {
		at = at.Get(field).Message()
	}
	return at.Get(path[len(path)-1])
}

func setField(message proto.Message, path []protoreflect.FieldDescriptor, value protoreflect.Value) {
	at, last := message.ProtoReflect(), path[len(path)-1]
	for _, field := range path[:len(path)-1] {
		at = at.Mutable(field).Message()
	}
	if narrow, is := value.Interface().(int32); is && last.Kind() == protoreflect.Int64Kind {
		value = protoreflect.ValueOfInt64(int64(narrow))
	}
	at.Set(last, value)
}

// firstDifference names the first field, in the order of the .proto, that differs from the
// expected one.
func firstDifference(prefix string, expected, found protoreflect.Message) error {
	fields := expected.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		name := prefix + string(field.Name())
		var err error
		switch {
		case field.IsList():
			err = firstItem(name, expected.Get(field).List(), found.Get(field).List(), field)
		case field.Kind() == protoreflect.MessageKind:
			err = firstDifference(name+".", expected.Get(field).Message(), found.Get(field).Message())
		default:
			err = compareValues(name, expected.Get(field), found.Get(field))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func firstItem(name string, expected, found protoreflect.List, field protoreflect.FieldDescriptor) error {
	for i := range min(expected.Len(), found.Len()) {
		item := fmt.Sprintf("%s[%d]", name, i)
		var err error
		if field.Kind() == protoreflect.MessageKind {
			err = firstDifference(item+".", expected.Get(i).Message(), found.Get(i).Message())
		} else {
			err = compareValues(item, expected.Get(i), found.Get(i))
		}
		if err != nil {
			return err
		}
	}
	if expected.Len() != found.Len() {
		return fmt.Errorf("%s has %d items, not %d", name, found.Len(), expected.Len())
	}
	return nil
}

func compareValues(name string, expected, found protoreflect.Value) error {
	if expected.Equal(found) {
		return nil
	}
	switch value := expected.Interface().(type) {
	case string:
		return compareBytes(name, []byte(value), []byte(found.String()))
	case []byte:
		return compareBytes(name, value, found.Bytes())
	}
	return fmt.Errorf("%s is %v, not %v", name, found, expected)
}

func compareBytes(name string, expected, found []byte) error {
	if len(expected) != len(found) {
		return fmt.Errorf("%s has %d bytes, not %d", name, len(found), len(expected))
	}
	for i := range expected {
		if expected[i] != found[i] {
			return fmt.Errorf("%s differs from the contract's at byte %d", name, i)
		}
	}
	return nil
}
