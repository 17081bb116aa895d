package xmlmap

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Declaration begins every document.
const Declaration = `<?xml version="1.0" encoding="UTF-8"?>`

// Marshal is the document whose root is the message, in that namespace.
func Marshal(message proto.Message, namespace string) []byte {
	return AppendElement([]byte(Declaration), message, namespace)
}

// AppendElement writes a message as an element of its name, the namespace as
// the default one.
func AppendElement(into []byte, message proto.Message, namespace string) []byte {
	name := string(message.ProtoReflect().Descriptor().Name())
	into = append(into, `<`+name+` xmlns="`+namespace+`">`...)
	return closeTag(appendFields(into, message.ProtoReflect()), name)
}

// appendFields writes a message's fields as elements in the order of the
// .proto, which is that of their numbers.
func appendFields(into []byte, message protoreflect.Message) []byte {
	fields := message.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if field.IsList() {
			into = appendItems(into, field, message.Get(field).List(), string(field.Name()))
		} else {
			into = appendSingle(into, field, message)
		}
	}
	return into
}

// Item is the name of a list's items in rpc/literal.
const Item = "item"

// AppendParts writes a message's fields as the parts of an rpc/literal message:
// a list is one element, there also when it is empty.
func AppendParts(into []byte, message proto.Message) []byte {
	reflected := message.ProtoReflect()
	fields := reflected.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if !field.IsList() {
			into = appendSingle(into, field, reflected)
			continue
		}
		name := string(field.Name())
		into = appendItems(openTag(into, name), field, reflected.Get(field).List(), Item)
		into = closeTag(into, name)
	}
	return into
}

func appendItems(into []byte, field protoreflect.FieldDescriptor, list protoreflect.List, name string) []byte {
	for at := range list.Len() {
		into = appendValue(into, field, list.Get(at), name)
	}
	return into
}

// appendSingle writes nothing for what is optional and absent.
func appendSingle(into []byte, field protoreflect.FieldDescriptor, of protoreflect.Message) []byte {
	if field.HasPresence() && !of.Has(field) {
		return into
	}
	return appendValue(into, field, of.Get(field), string(field.Name()))
}

func appendValue(into []byte, field protoreflect.FieldDescriptor, value protoreflect.Value, name string) []byte {
	into = openTag(into, name)
	if field.Message() != nil {
		into = appendFields(into, value.Message())
	} else {
		into = appendScalar(into, field.Kind(), value)
	}
	return closeTag(into, name)
}

func openTag(into []byte, name string) []byte { return append(append(append(into, '<'), name...), '>') }

func closeTag(into []byte, name string) []byte {
	return append(append(append(into, "</"...), name...), '>')
}

// escapes of text: a reader would make a line feed of a carriage return.
var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#13;")

// AppendText writes text that XML allows.
func AppendText(into []byte, text string) []byte { return append(into, escapes.Replace(text)...) }

// AppendAnyText writes text of any origin, U+FFFD for what XML does not allow
// (XML 1.0 section 2.2).
func AppendAnyText(into []byte, text string) []byte {
	return AppendText(into, strings.Map(legal, text))
}

func legal(r rune) rune {
	switch {
	case r < 0x20 && r != '\t' && r != '\n' && r != '\r', r == 0xFFFE, r == 0xFFFF:
		return '\uFFFD'
	}
	return r
}

// ErrorElement is the document of an application error.
func ErrorElement(text, namespace string) []byte {
	into := append([]byte(Declaration), `<Error xmlns="`+namespace+`"><error>`...)
	return append(AppendAnyText(into, text), `</error></Error>`...)
}
