package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
	"google.golang.org/protobuf/proto"

	"service/values"
)

// codec is the form of messages over HTTP.
type codec struct {
	// mediaTypes are those that are read; the first is that of replies.
	mediaTypes  []string
	contentType string
	// isProtobuf: messages are those of package pb; isAvro: of package records.
	isProtobuf, isAvro     bool
	readRequest, readReply func(text []byte, into any) error
	write                  func(message any) ([]byte, error)
}

// codecs are the codecs by name.
var codecs = map[string]codec{
	"json":     codecOf(readJSON, json.Marshal, "application/json"),
	"cbor":     codecOf(readCBOR, values.CBORWriter.Marshal, "application/cbor"),
	"msgpack":  codecOf(readMsgpack, writeMsgpack, "application/vnd.msgpack"),
	"avro":     avroCodec(),
	"protobuf": protobufCodec(),
	"xml": {
		mediaTypes:  []string{"application/xml", "text/xml"},
		contentType: "application/xml",
		readRequest: func(text []byte, into any) error { return readXML(text, requestElement, into) },
		readReply:   func(text []byte, into any) error { return readXML(text, replyElement, into) },
		write:       writeXML,
	},
	"soap-literal": {
		mediaTypes:  []string{"text/xml"},
		contentType: "text/xml; charset=utf-8",
		readRequest: readEnvelope,
		readReply:   func(text []byte, into any) error { return readXML(text, replyElement, into) },
		write:       writeEnvelope,
	},
}

func codecOf(read func([]byte, any) error, write func(any) ([]byte, error), mediaType string) codec {
	return codec{mediaTypes: []string{mediaType}, contentType: mediaType, readRequest: read, readReply: read, write: write}
}

func protobufCodec() codec {
	format := codecOf(
		func(text []byte, into any) error { return proto.Unmarshal(text, into.(proto.Message)) },
		func(message any) ([]byte, error) { return proto.Marshal(message.(proto.Message)) },
		"application/x-protobuf",
	)
	format.isProtobuf = true
	return format
}

// readJSON refuses what encoding/json replaces by U+FFFD, which nobody sent.
func readJSON(text []byte, into any) error {
	if !utf8.Valid(text) {
		return errors.New("the body is not UTF-8")
	}
	if start := bytes.TrimLeft(text, " \t\r\n"); len(start) == 0 || start[0] != '{' {
		return errors.New("the body is not an object of JSON")
	}
	return json.Unmarshal(text, into)
}

func readCBOR(text []byte, into any) error {
	if len(text) == 0 || text[0]>>5 != 5 {
		return errors.New("the body is not a map of CBOR")
	}
	return values.CBORReader.Unmarshal(text, into)
}

// readMsgpack refuses what the library accepts or recurses into without bound: anything but one
// map, bytes after it, texts that are not UTF-8, deep nesting.
func readMsgpack(text []byte, into any) error {
	if len(text) == 0 || !msgpcode.IsFixedMap(text[0]) && text[0] != msgpcode.Map16 && text[0] != msgpcode.Map32 {
		return errors.New("the body is not a map of MessagePack")
	}
	if err := checkMsgpack(text); err != nil {
		return err
	}
	return msgpack.Unmarshal(text, into)
}

func writeMsgpack(message any) ([]byte, error) {
	var into bytes.Buffer
	writer := msgpack.NewEncoder(&into)
	writer.UseCompactInts(true)
	err := writer.Encode(message)
	return into.Bytes(), err
}
