package xmlmap

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"wirelab/services/go/internal/contract"
)

// Unmarshal reads a document whose root is the message, in that namespace.
func Unmarshal(text []byte, into proto.Message, namespace string) error {
	document, err := Open(text)
	if err != nil {
		return err
	}
	root, err := document.Root()
	if err != nil {
		return err
	}
	message := into.ProtoReflect()
	if want := string(message.Descriptor().Name()); root.Name.Local != want || root.Name.Space != namespace {
		return fmt.Errorf("the root element is %.80q in namespace %.80q, not %s in %s",
			root.Name.Local, root.Name.Space, want, namespace)
	}
	if err := document.Message(into, namespace); err != nil {
		return err
	}
	return document.End()
}

// Message reads the current element's children as the fields of a message;
// those in another namespace, and unknown ones, are skipped.
func (d *Document) Message(into proto.Message, namespace string) error {
	return d.message(into.ProtoReflect(), namespace, (*Document).value)
}

// Parts reads the current element's children, in no namespace, as the parts of
// an rpc/literal message: a list is one element, its items are named `item`.
func (d *Document) Parts(into proto.Message) error {
	return d.message(into.ProtoReflect(), "", (*Document).part)
}

// take reads the current element as a field.
type take func(d *Document, into protoreflect.Message, field protoreflect.FieldDescriptor, namespace string) error

func (d *Document) message(into protoreflect.Message, namespace string, take take) error {
	fields := into.Descriptor().Fields()
	for {
		child, err := d.Child()
		if err != nil || child == nil {
			return err
		}
		field := fields.ByName(protoreflect.Name(child.Name.Local))
		if field == nil || child.Name.Space != namespace {
			err = d.Skip()
		} else {
			err = take(d, into, field, namespace)
		}
		if err != nil {
			return err
		}
	}
}

// part is a list as a whole, or one value.
func (d *Document) part(into protoreflect.Message, field protoreflect.FieldDescriptor, namespace string) error {
	if !field.IsList() {
		return d.value(into, field, namespace)
	}
	for {
		child, err := d.Child()
		if err != nil || child == nil {
			return err
		}
		if child.Name.Local == Item && child.Name.Space == namespace {
			err = d.value(into, field, namespace)
		} else {
			err = d.Skip()
		}
		if err != nil {
			return err
		}
	}
}

// value is one value; one of a list is added to it.
func (d *Document) value(into protoreflect.Message, field protoreflect.FieldDescriptor, namespace string) error {
	if field.IsList() && into.Get(field).List().Len() == contract.ItemsMax {
		return contract.ErrItems
	}
	if field.Message() != nil {
		return d.message(inner(into, field), namespace, (*Document).value)
	}
	text, err := d.Text(d.scratch[:0])
	if err != nil {
		return err
	}
	d.scratch = text
	return setScalar(into, field, text)
}

// inner is the message that a field holds, or the next one of its list.
func inner(of protoreflect.Message, field protoreflect.FieldDescriptor) protoreflect.Message {
	if field.IsList() {
		return of.Mutable(field).List().AppendMutable().Message()
	}
	return of.Mutable(field).Message()
}

func setScalar(into protoreflect.Message, field protoreflect.FieldDescriptor, text []byte) error {
	value, err := readScalar(field, text)
	if err != nil {
		return err
	}
	if field.IsList() {
		into.Mutable(field).List().Append(value)
	} else {
		into.Set(field, value)
	}
	return nil
}
