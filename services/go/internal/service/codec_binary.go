package service

import (
	"bytes"
	"errors"
	"math"
	"unicode/utf8"

	"github.com/fxamacker/cbor/v2"
	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"wirelab/services/go/internal/contract"
)

// cborCodec is fxamacker/cbor (RFC 8949) on the generated messages, by the names
// of their JSON tags.
type cborCodec struct{ reader cbor.DecMode }

func newCBORCodec() cborCodec {
	reader, err := cbor.DecOptions{
		DupMapKey:        cbor.DupMapKeyEnforcedAPF,
		MaxArrayElements: contract.ItemsMax,
		UTF8:             cbor.UTF8RejectInvalid,
	}.DecMode()
	if err != nil {
		panic(err) // constant options
	}
	return cborCodec{reader}
}

func (cborCodec) mediaTypes() []string { return []string{"application/cbor"} }

func (cborCodec) contentType() string { return "application/cbor" }

func (cborCodec) serves(operation *contract.Operation) bool { return operation.Stream == nil }

func (c cborCodec) decode(text []byte, into proto.Message) error {
	if len(text) == 0 || text[0]>>5 != 5 {
		return errors.New("the body is not a map of CBOR")
	}
	return c.reader.Unmarshal(text, into)
}

func (cborCodec) encode(message proto.Message) (body, error) {
	encoded, err := cbor.Marshal(message)
	return bytes.NewReader(encoded), err
}

func (cborCodec) problem(text string) body {
	encoded, err := cbor.Marshal(map[string]string{"error": text})
	if err != nil {
		panic(err) // a map of texts
	}
	return bytes.NewReader(encoded)
}

// msgpackCodec is vmihailenco/msgpack on the generated messages, by the names of
// their JSON tags.
type msgpackCodec struct{}

func (msgpackCodec) mediaTypes() []string { return []string{"application/vnd.msgpack"} }

func (msgpackCodec) contentType() string { return "application/vnd.msgpack" }

func (msgpackCodec) serves(operation *contract.Operation) bool { return operation.Stream == nil }

func (msgpackCodec) decode(text []byte, into proto.Message) error {
	if err := checkMsgpack(text, into.ProtoReflect().Descriptor()); err != nil {
		return err
	}
	reader := msgpack.NewDecoder(bytes.NewReader(text))
	reader.SetCustomStructTag("json")
	return reader.Decode(into)
}

// msgpackDepthMax bounds values within values; messages have three levels.
const msgpackDepthMax = 64

// checkMsgpack sees what the library would let pass: something else than one map,
// a text that is not UTF-8, a number that its field cannot hold, and a list of
// more items than a message holds.
func checkMsgpack(text []byte, of protoreflect.MessageDescriptor) error {
	reader := msgpack.NewDecoder(bytes.NewReader(text))
	code, err := reader.PeekCode()
	if err != nil {
		return err
	}
	if !isMap(code) {
		return errors.New("the body is not a map of MessagePack")
	}
	if err := checkMap(reader, of, 0); err != nil {
		return err
	}
	if _, err := reader.PeekCode(); err == nil {
		return errors.New("bytes follow the message")
	}
	return nil
}

// checkMap goes through a map; of is nil where no message is known.
func checkMap(reader *msgpack.Decoder, of protoreflect.MessageDescriptor, depth int) error {
	entries, err := reader.DecodeMapLen()
	for range entries {
		if err != nil {
			return err
		}
		var name string
		if name, err = reader.DecodeString(); err != nil {
			return err
		}
		var field protoreflect.FieldDescriptor
		if of != nil {
			field = of.Fields().ByName(protoreflect.Name(name))
		}
		err = checkValue(reader, field, depth+1)
	}
	return err
}

func checkValue(reader *msgpack.Decoder, of protoreflect.FieldDescriptor, depth int) error {
	code, err := reader.PeekCode()
	if err != nil {
		return err
	}
	if depth > msgpackDepthMax {
		return errors.New("the body is nested too deeply")
	}
	switch {
	case msgpcode.IsString(code):
		text, err := reader.DecodeString()
		if err == nil && !utf8.ValidString(text) {
			return errors.New("a text is not UTF-8")
		}
		return err
	case isArray(code):
		return checkList(reader, of, depth)
	case isMap(code) && of != nil:
		return checkMap(reader, of.Message(), depth)
	case isMap(code):
		return checkMap(reader, nil, depth)
	case of != nil && of.Kind() == protoreflect.Int32Kind:
		number, err := reader.DecodeInt64()
		if err == nil && (code == msgpcode.Uint64 || number != int64(int32(number))) {
			return errors.New("a number is beyond 32 bits")
		}
		return err
	case code == msgpcode.Uint64:
		number, err := reader.DecodeUint64()
		if err == nil && number > math.MaxInt64 {
			return errors.New("a number is beyond 64 bits")
		}
		return err
	}
	return reader.Skip()
}

func checkList(reader *msgpack.Decoder, of protoreflect.FieldDescriptor, depth int) error {
	items, err := reader.DecodeArrayLen()
	if items > contract.ItemsMax {
		return contract.ErrItems
	}
	for range items {
		if err != nil {
			return err
		}
		err = checkValue(reader, of, depth+1)
	}
	return err
}

func isMap(code byte) bool {
	return msgpcode.IsFixedMap(code) || code == msgpcode.Map16 || code == msgpcode.Map32
}

func isArray(code byte) bool {
	return msgpcode.IsFixedArray(code) || code == msgpcode.Array16 || code == msgpcode.Array32
}

func (msgpackCodec) encode(message proto.Message) (body, error) {
	var encoded bytes.Buffer
	writer := msgpack.NewEncoder(&encoded)
	writer.SetCustomStructTag("json")
	writer.UseCompactInts(true)
	err := writer.Encode(message)
	return bytes.NewReader(encoded.Bytes()), err
}

func (msgpackCodec) problem(text string) body {
	encoded, err := msgpack.Marshal(map[string]string{"error": text})
	if err != nil {
		panic(err) // a map of texts
	}
	return bytes.NewReader(encoded)
}
