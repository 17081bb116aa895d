package service

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/contract"
	"wirelab/services/go/internal/xmlmap"
	transferpb "wirelab/services/go/transferpb"
)

// codec is a form of messages in REST.
type codec interface {
	// mediaTypes that are read; the first is what replies are of.
	mediaTypes() []string
	// contentType is what replies declare.
	contentType() string
	serves(*contract.Operation) bool
	decode(text []byte, into proto.Message) error
	encode(proto.Message) (body, error)
	// problem is the body of an error.
	problem(text string) body
}

func newCodec(name, namespace string) codec {
	switch name {
	case "json":
		return jsonCodec{}
	case "protobuf":
		return protobufCodec{}
	case "xml":
		return xmlCodec{namespace}
	case "cbor":
		return newCBORCodec()
	case "msgpack":
		return msgpackCodec{}
	}
	return textCodec{}
}

// textCodec is text and nothing else: the reply of Hello, as a string, as the
// study's service wrote it.
type textCodec struct{}

func (textCodec) mediaTypes() []string { return []string{"text/plain"} }

func (textCodec) contentType() string { return "text/plain; charset=utf-8" }

func (textCodec) serves(operation *contract.Operation) bool { return operation.Name == "Hello" }

func (textCodec) decode(text []byte, into proto.Message) error {
	hello, ok := into.(*transferpb.HelloReply)
	if !ok {
		return fmt.Errorf("%T is not a text alone", into)
	}
	hello.Text = string(text)
	return nil
}

func (textCodec) encode(message proto.Message) (body, error) {
	hello, ok := message.(*transferpb.HelloReply)
	if !ok {
		return nil, fmt.Errorf("%T is not a text alone", message)
	}
	return textBody(hello.GetText()), nil
}

func (textCodec) problem(text string) body { return textBody(text) }

// jsonCodec is encoding/json on the generated messages, whose tags say the
// contracts' mapping: it keeps all digits of an int64 and writes []byte as base64.
type jsonCodec struct{}

func (jsonCodec) mediaTypes() []string { return []string{"application/json"} }

func (jsonCodec) contentType() string { return "application/json" }

func (jsonCodec) serves(operation *contract.Operation) bool { return operation.Stream == nil }

func (jsonCodec) decode(text []byte, into proto.Message) error {
	// encoding/json would put U+FFFD for what is not UTF-8 and go on with a
	// text that nobody sent.
	if !utf8.Valid(text) {
		return errors.New("the body is not UTF-8")
	}
	if err := contract.CheckJSON(text); err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

func (jsonCodec) encode(message proto.Message) (body, error) {
	encoded, err := json.Marshal(message)
	return bytes.NewReader(encoded), err
}

func (jsonCodec) problem(text string) body {
	quoted, err := json.Marshal(text)
	if err != nil {
		quoted = []byte(strconv.QuoteToASCII(text))
	}
	return textBody(`{"error":` + string(quoted) + `}`)
}

// protobufCodec is google.golang.org/protobuf.
type protobufCodec struct{}

func (protobufCodec) mediaTypes() []string { return []string{"application/x-protobuf"} }

func (protobufCodec) contentType() string { return "application/x-protobuf" }

func (protobufCodec) serves(operation *contract.Operation) bool { return operation.Stream == nil }

func (protobufCodec) decode(text []byte, into proto.Message) error {
	if err := contract.CheckProtobuf(into, text); err != nil {
		return err
	}
	return proto.Unmarshal(text, into)
}

func (protobufCodec) encode(message proto.Message) (body, error) {
	encoded, err := proto.Marshal(message)
	return bytes.NewReader(encoded), err
}

// problem is the message { string error = 1; }.
func (protobufCodec) problem(text string) body {
	return bytes.NewReader(protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), text))
}

// xmlCodec is the contracts' XML in that namespace.
type xmlCodec struct{ namespace string }

func (xmlCodec) mediaTypes() []string { return []string{"application/xml", "text/xml"} }

func (xmlCodec) contentType() string { return "application/xml" }

func (xmlCodec) serves(operation *contract.Operation) bool { return operation.Stream == nil }

func (c xmlCodec) decode(text []byte, into proto.Message) error {
	return xmlmap.Unmarshal(text, into, c.namespace)
}

func (c xmlCodec) encode(message proto.Message) (body, error) {
	return bytes.NewReader(xmlmap.Marshal(message, c.namespace)), nil
}

func (c xmlCodec) problem(text string) body {
	return bytes.NewReader(xmlmap.ErrorElement(text, c.namespace))
}
