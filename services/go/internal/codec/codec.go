// Package codec is the table of REST's codecs. A codec is one row of the table
// with its functions in this file; service.json offers all of them, or names some.
package codec

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/fxamacker/cbor/v2"
	"github.com/hamba/avro/v2"
	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"wirelab/contracts"
	"wirelab/services/go/internal/contract"
	"wirelab/services/go/internal/xmlmap"
	transferpb "wirelab/services/go/transferpb"
)

// Own names code of this project in Libraries, where no maintained library does
// the work.
const Own = "lab's own"

// XMLLibraries are the packages that read and write the contracts' XML: encoding/xml
// reads tokens, internal/xmlmap writes them and reaches the fields of messages by
// reflection. SOAP uses the same ones.
var XMLLibraries = []string{"encoding/xml", "google.golang.org/protobuf/reflect/protoreflect", Own}

// Codec is the form of messages in REST: one row of the table.
type Codec struct {
	// Name is the value of the axis `codec`.
	Name string
	// MediaTypes are those that are read; the first is that of replies.
	MediaTypes []string
	// ContentType is declared by replies; "" stands for the first of MediaTypes.
	ContentType string
	// Libraries are the packages on the request path, as the ready line names them.
	Libraries []string
	// Serves states whether the codec can carry an operation; nil: every unary one.
	Serves func(*contract.Operation) bool
	Decode func(text []byte, into proto.Message) error
	Encode func(proto.Message) (Body, error)
	// EncodeList encodes a message whose only field is a list as that list alone; nil:
	// such a message is encoded like every other one.
	EncodeList func(proto.Message) (Body, error)
	// ErrorBody is the body of an error.
	ErrorBody func(text string) Body
}

// table has one row per codec. Only XML depends on the contract's namespace.
func table(namespace string) []Codec {
	return []Codec{
		{
			Name: "text", MediaTypes: []string{"text/plain"}, ContentType: "text/plain; charset=utf-8",
			Libraries: []string{Own},
			Serves:    func(operation *contract.Operation) bool { return operation.Name == "Hello" },
			Decode:    decodeText, Encode: encodeText,
			ErrorBody: func(text string) Body { return Text(text) },
		},
		{
			Name: "json", MediaTypes: []string{"application/json"}, Libraries: []string{"encoding/json"},
			Decode: decodeJSON, Encode: adaptMarshal(func(message any) ([]byte, error) { return json.Marshal(message) }),
			EncodeList: encodeJSONList, ErrorBody: jsonError,
		},
		{
			Name: "protobuf", MediaTypes: []string{"application/x-protobuf"},
			Libraries: []string{"google.golang.org/protobuf/proto"},
			Decode:    decodeProtobuf, Encode: encodeProtobuf, ErrorBody: protobufError,
		},
		{
			Name: "xml", MediaTypes: []string{"application/xml", "text/xml"}, Libraries: XMLLibraries,
			Decode: func(text []byte, into proto.Message) error { return xmlmap.Unmarshal(text, into, namespace) },
			Encode: func(message proto.Message) (Body, error) {
				return bytes.NewReader(xmlmap.Marshal(message, namespace)), nil
			},
			ErrorBody: func(text string) Body { return bytes.NewReader(xmlmap.ErrorElement(text, namespace)) },
		},
		{
			Name: "cbor", MediaTypes: []string{"application/cbor"}, Libraries: []string{"github.com/fxamacker/cbor/v2"},
			Decode: decodeCBOR, Encode: adaptMarshal(cbor.Marshal), ErrorBody: errorMap(cbor.Marshal),
		},
		{
			Name: "msgpack", MediaTypes: []string{"application/vnd.msgpack"},
			Libraries: []string{"github.com/vmihailenco/msgpack/v5"},
			Decode:    decodeMsgpack, Encode: adaptMarshal(marshalMsgpack), ErrorBody: errorMap(marshalMsgpack),
		},
		{
			Name: "avro", MediaTypes: []string{"application/avro"}, Libraries: []string{"github.com/hamba/avro/v2"},
			Decode: decodeAvro, Encode: adaptMarshal(marshalAvro), ErrorBody: avroError,
		},
	}
}

// New returns the codec of that name for a contract with that XML namespace.
func New(name, namespace string) (Codec, error) {
	for _, row := range table(namespace) {
		if row.Name != name {
			continue
		}
		if row.ContentType == "" {
			row.ContentType = row.MediaTypes[0]
		}
		if row.Serves == nil {
			row.Serves = func(operation *contract.Operation) bool { return operation.Stream == nil }
		}
		return row, nil
	}
	return Codec{}, fmt.Errorf("internal/codec has no row for codec %q: add it, or remove it from service.json", name)
}

// All are the rows of the table for that XML namespace.
func All(namespace string) []Codec { return table(namespace) }

// Full are the names of the codecs that carry every message, in the order of the table.
func Full() (names []string) {
	for _, row := range table("") {
		if row.Serves == nil {
			names = append(names, row.Name)
		}
	}
	return names
}

// Body is the body of a reply; *bytes.Reader and *bytes.Buffer implement it.
type Body interface {
	io.WriterTo
	Len() int
}

// Text is written by fmt.Fprint, which copies it once. io.WriteString would feed it
// to net/http in pieces of 2 KiB, each of which costs system calls: at 3 MB that took
// about three times the CPU. The study does not print what its service called; the
// rate it reached at 3 MB supports this way.
type Text string

// Len implements Body.
func (t Text) Len() int { return len(t) }

// WriteTo implements io.WriterTo.
func (t Text) WriteTo(w io.Writer) (int64, error) {
	n, err := fmt.Fprint(w, string(t))
	return int64(n), err
}

// adaptMarshal makes Encode from a library's function that returns bytes.
func adaptMarshal(marshal func(any) ([]byte, error)) func(proto.Message) (Body, error) {
	return func(message proto.Message) (Body, error) {
		text, err := marshal(message)
		return bytes.NewReader(text), err
	}
}

// errorMap is ErrorBody as a map with the key `error`.
func errorMap(marshal func(any) ([]byte, error)) func(string) Body {
	return func(text string) Body {
		encoded, err := marshal(map[string]string{"error": text})
		if err != nil {
			panic(err) // a map of strings
		}
		return bytes.NewReader(encoded)
	}
}

// decodeText and encodeText carry the reply of Hello as a string, like the
// study's service.
func decodeText(text []byte, into proto.Message) error {
	hello, ok := into.(*transferpb.HelloReply)
	if !ok {
		return fmt.Errorf("%T is not a text alone", into)
	}
	hello.Text = string(text)
	return nil
}

func encodeText(message proto.Message) (Body, error) {
	hello, ok := message.(*transferpb.HelloReply)
	if !ok {
		return nil, fmt.Errorf("%T is not a text alone", message)
	}
	return Text(hello.GetText()), nil
}

// decodeJSON uses encoding/json on the generated messages, whose tags state the
// contracts' mapping: it keeps all digits of an int64 and writes []byte as base64.
func decodeJSON(text []byte, into proto.Message) error {
	// encoding/json replaces what is not UTF-8 by U+FFFD, which nobody sent.
	if !utf8.Valid(text) {
		return errors.New("the body is not UTF-8")
	}
	if err := contract.CheckJSON(text); err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

func encodeJSONList(message proto.Message) (Body, error) {
	text, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	// The message is {"name":[…]}: the list is between the first colon and
	// the last brace.
	return bytes.NewReader(text[bytes.IndexByte(text, ':')+1 : len(text)-1]), nil
}

func jsonError(text string) Body {
	quoted, err := json.Marshal(text)
	if err != nil {
		quoted = []byte(strconv.QuoteToASCII(text))
	}
	return Text(`{"error":` + string(quoted) + `}`)
}

// ErrorInfo is the body of an error in JSON as Spring PetClinic has it.
func ErrorInfo(className, text string) Body {
	info, err := json.Marshal(struct {
		ClassName string `json:"className"`
		ExMessage string `json:"exMessage"`
	}{className, text})
	if err != nil {
		panic(err) // two texts
	}
	return bytes.NewReader(info)
}

func decodeProtobuf(text []byte, into proto.Message) error {
	if err := contract.CheckProtobuf(into, text); err != nil {
		return err
	}
	return proto.Unmarshal(text, into)
}

func encodeProtobuf(message proto.Message) (Body, error) {
	text, err := proto.Marshal(message)
	return bytes.NewReader(text), err
}

// protobufError is the message { string error = 1; }.
func protobufError(text string) Body {
	return bytes.NewReader(protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), text))
}

// cborReader reads CBOR (RFC 8949) into the generated messages, by the names of
// their JSON tags.
var cborReader = newCBORReader()

func newCBORReader() cbor.DecMode {
	reader, err := cbor.DecOptions{
		DupMapKey:        cbor.DupMapKeyEnforcedAPF,
		MaxArrayElements: contract.ItemsMax,
		UTF8:             cbor.UTF8RejectInvalid,
	}.DecMode()
	if err != nil {
		panic(err) // constant options
	}
	return reader
}

func decodeCBOR(text []byte, into proto.Message) error {
	if len(text) == 0 || text[0]>>5 != 5 {
		return errors.New("the body is not a map of CBOR")
	}
	return cborReader.Unmarshal(text, into)
}

// decodeMsgpack reads by the names of the JSON tags.
func decodeMsgpack(text []byte, into proto.Message) error {
	if err := checkMsgpack(text, into.ProtoReflect().Descriptor()); err != nil {
		return err
	}
	reader := msgpack.NewDecoder(bytes.NewReader(text))
	reader.SetCustomStructTag("json")
	return reader.Decode(into)
}

func marshalMsgpack(message any) ([]byte, error) {
	var encoded bytes.Buffer
	writer := msgpack.NewEncoder(&encoded)
	writer.SetCustomStructTag("json")
	writer.UseCompactInts(true)
	err := writer.Encode(message)
	return encoded.Bytes(), err
}

// msgpackDepthMax bounds values within values; messages have three levels.
const msgpackDepthMax = 64

// checkMsgpack refuses input that the library accepts: anything but one map, a
// text that is not UTF-8, a number that its field cannot hold, and a list of more
// items than a message holds.
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

// checkMap checks every entry of a map; of is nil where the message is unknown.
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

// avroAPI reads and writes the generated messages, by the names of their JSON tags.
var avroAPI = avro.Config{
	TagKey: "json",
	// skipAvro has bounded them by the message.
	MaxByteSliceSize:  -1,
	MaxSliceAllocSize: contract.ItemsMax,
}.Freeze()

// avroRecords are the records of contracts/avro by their full names, which are those of the
// messages in the .proto.
var avroRecords = readAvroRecords()

func readAvroRecords() map[string]avro.Schema {
	records := map[string]avro.Schema{}
	files, err := fs.Glob(contracts.Avro, "avro/*.avsc")
	if err != nil {
		panic(err) // a constant pattern
	}
	for _, file := range files {
		text, err := contracts.Avro.ReadFile(file)
		if err != nil {
			panic(err) // a file that was found
		}
		union, err := avro.ParseBytesWithCache(text, "", &avro.SchemaCache{})
		if err != nil {
			panic(fmt.Errorf("contracts/%s: %w", file, err))
		}
		for _, schema := range union.(*avro.UnionSchema).Types() {
			if record, ok := schema.(*avro.RecordSchema); ok {
				records[record.FullName()] = record
			}
		}
	}
	return records
}

func avroRecord(of any) (avro.Schema, error) {
	message, ok := of.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is not a message", of)
	}
	name := string(message.ProtoReflect().Descriptor().FullName())
	record, ok := avroRecords[name]
	if !ok {
		return nil, fmt.Errorf("contracts/avro has no record %s", name)
	}
	return record, nil
}

func decodeAvro(text []byte, into proto.Message) error {
	record, err := avroRecord(into)
	if err != nil {
		return err
	}
	rest, err := skipAvro(text, record)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return errors.New("bytes follow the message")
	}
	return avroAPI.Unmarshal(record, text, into)
}

func marshalAvro(message any) ([]byte, error) {
	record, err := avroRecord(message)
	if err != nil {
		return nil, err
	}
	return avroAPI.Marshal(record, message)
}

// avroError is the record with an error's text, which all contracts have alike.
func avroError(text string) Body {
	encoded, err := avroAPI.Marshal(avroRecords["wirelab.transfer.v1.Error"], map[string]any{"error": text})
	if err != nil {
		panic(err) // a text
	}
	return bytes.NewReader(encoded)
}

var errAvroCut = errors.New("the message is cut off")

// skipAvro passes over a value and returns what follows it. It refuses what the library
// accepts: a message that is cut off, a text that is not UTF-8, a number that its field
// cannot hold; and what would make it allocate without bound.
func skipAvro(text []byte, of avro.Schema) ([]byte, error) {
	switch of := of.(type) {
	case *avro.RefSchema:
		return skipAvro(text, of.Schema())
	case *avro.RecordSchema:
		var err error
		for _, field := range of.Fields() {
			if text, err = skipAvro(text, field.Type()); err != nil {
				return nil, fmt.Errorf("%s: %w", field.Name(), err)
			}
		}
		return text, nil
	case *avro.ArraySchema:
		return skipAvroBlocks(text, of.Items())
	case *avro.PrimitiveSchema:
		return skipAvroPrimitive(text, of.Type())
	}
	return nil, fmt.Errorf("contracts/avro has no %s", of.Type())
}

func skipAvroBlocks(text []byte, items avro.Schema) ([]byte, error) {
	left := int64(contract.ItemsMax)
	for {
		count, rest, err := avroLong(text)
		if err != nil || count == 0 {
			return rest, err
		}
		if count < 0 {
			// The block's length in bytes follows.
			if _, rest, err = avroLong(rest); err != nil {
				return nil, err
			}
			count = -count
		}
		// The least integer is its own negative.
		if count < 0 || count > left {
			return nil, contract.ErrItems
		}
		left -= count
		for range count {
			if rest, err = skipAvro(rest, items); err != nil {
				return nil, err
			}
		}
		text = rest
	}
}

func skipAvroPrimitive(text []byte, kind avro.Type) ([]byte, error) {
	switch kind {
	case avro.Boolean:
		if len(text) > 0 && text[0] > 1 {
			return nil, errors.New("a boolean is neither 0 nor 1")
		}
		return skipBytes(text, 1)
	case avro.Double:
		return skipBytes(text, 8)
	}
	number, rest, err := avroLong(text)
	switch {
	case err != nil:
		return nil, err
	case kind == avro.Int && number != int64(int32(number)):
		return nil, errors.New("a number is beyond 32 bits")
	case kind == avro.Int || kind == avro.Long:
		return rest, nil
	}
	after, err := skipBytes(rest, number)
	if err == nil && kind == avro.String && !utf8.Valid(rest[:number]) {
		return nil, errors.New("a text is not UTF-8")
	}
	return after, err
}

func skipBytes(text []byte, count int64) ([]byte, error) {
	if count < 0 || count > int64(len(text)) {
		return nil, errAvroCut
	}
	return text[count:], nil
}

// avroLong reads an integer: zigzag, seven bits a byte, as encoding/binary has it.
func avroLong(text []byte) (int64, []byte, error) {
	number, length := binary.Varint(text)
	switch {
	case length == 0:
		return 0, nil, errAvroCut
	case length < 0:
		return 0, nil, errors.New("a number is beyond 64 bits")
	}
	return number, text[length:], nil
}
