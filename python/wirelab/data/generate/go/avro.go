package main

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/hamba/avro/v2"

	"service/values"
)

//go:embed service.avsc
var avroSchema []byte

// avroAPI has no bound of its own: checkAvro bounds lengths by the body.
var avroAPI = avro.Config{MaxByteSliceSize: -1}.Freeze()

// avroRecords are the types of the schema by their full names.
var avroRecords = sync.OnceValue(func() *avro.SchemaCache {
	types := new(avro.SchemaCache)
	if _, err := avro.ParseBytesWithCache(avroSchema, "", types); err != nil {
		panic(fmt.Errorf("service.avsc: %w", err))
	}
	return types
})

func avroCodec() codec {
	read := func(record string) func([]byte, any) error {
		return func(text []byte, into any) error {
			schema := avroRecords().Get(record)
			if err := checkAvro(text, schema); err != nil {
				return err
			}
			return avroAPI.Unmarshal(schema, text, into)
		}
	}
	return codec{
		mediaTypes:  []string{"application/avro"},
		contentType: "application/avro",
		isAvro:      true,
		readRequest: read(requestRecord),
		readReply:   read(replyRecord),
		write: func(message any) ([]byte, error) {
			return avroAPI.Marshal(avroRecords().Get(replyRecord), message)
		},
	}
}

// emptyItemsMax bounds the items of a body's lists that have no bytes.
const emptyItemsMax = 1_000_000

var (
	errAvroCut   = errors.New("the body ends within a value")
	errAvroRange = errors.New("a number is beyond its field")
)

// checkAvro passes over the values of a body. It refuses what the library accepts: a body that is
// cut off or goes on, a text that is not UTF-8, a number that its field cannot hold; and what would
// make it allocate or recurse without bound.
func checkAvro(text []byte, of avro.Schema) error {
	check := avroCheck{rest: text, emptyLeft: emptyItemsMax}
	if err := check.value(of); err != nil {
		return err
	}
	if len(check.rest) > 0 {
		return errors.New("bytes follow the message")
	}
	return nil
}

type avroCheck struct {
	rest             []byte
	depth, emptyLeft int
}

func (c *avroCheck) value(of avro.Schema) error {
	switch of := of.(type) {
	case *avro.RefSchema:
		return c.value(of.Schema())
	case *avro.RecordSchema:
		return c.descend(func() error { return c.fields(of) })
	case *avro.ArraySchema:
		return c.descend(func() error { return c.blocks(func() error { return c.value(of.Items()) }) })
	case *avro.MapSchema:
		return c.descend(func() error { return c.blocks(func() error { return c.entry(of) }) })
	case *avro.UnionSchema:
		branch, err := c.index(len(of.Types()))
		if err != nil {
			return err
		}
		return c.value(of.Types()[branch])
	case *avro.EnumSchema:
		_, err := c.index(len(of.Symbols()))
		return err
	case *avro.NullSchema:
		return nil
	case *avro.PrimitiveSchema:
		return c.primitive(of)
	}
	return fmt.Errorf("service.avsc has a type %s", of.Type())
}

func (c *avroCheck) descend(check func() error) error {
	if c.depth == values.DepthMax {
		return fmt.Errorf("the body is nested more than %d deep", values.DepthMax)
	}
	c.depth++
	defer func() { c.depth-- }()
	return check()
}

func (c *avroCheck) fields(of *avro.RecordSchema) error {
	for _, field := range of.Fields() {
		if err := c.value(field.Type()); err != nil {
			return fmt.Errorf("%s: %w", field.Name(), err)
		}
	}
	return nil
}

// blocks are the items of a list or a map.
func (c *avroCheck) blocks(item func() error) error {
	for {
		count, err := c.long()
		if err != nil || count == 0 {
			return err
		}
		if count < 0 {
			// The block's length in bytes follows.
			if _, err := c.long(); err != nil {
				return err
			}
		}
		for left := magnitude(count); left > 0; left-- {
			before := len(c.rest)
			if err := item(); err != nil {
				return err
			}
			if len(c.rest) < before {
				continue
			}
			if c.emptyLeft--; c.emptyLeft < 0 {
				return fmt.Errorf("the body has more than %d items without bytes", emptyItemsMax)
			}
		}
	}
}

// magnitude: the least integer has none that is an integer.
func magnitude(of int64) uint64 {
	if of < 0 {
		return -uint64(of)
	}
	return uint64(of)
}

func (c *avroCheck) entry(of *avro.MapSchema) error {
	key, err := c.text()
	if err != nil {
		return err
	}
	if kind, isNoText := of.Prop("protoKeys").(string); isNoText {
		if err := checkKey(kind, string(key)); err != nil {
			return err
		}
	}
	return c.value(of.Values())
}

// checkKey sees that a key is the text of a value of its type.
func checkKey(kind, key string) error {
	var text string
	switch kind {
	case "bool":
		is, _ := strconv.ParseBool(key)
		text = strconv.FormatBool(is)
	case "int32", "int64":
		number, _ := strconv.ParseInt(key, 10, bitsOf(kind))
		text = strconv.FormatInt(number, 10)
	default:
		number, _ := strconv.ParseUint(key, 10, bitsOf(kind))
		text = strconv.FormatUint(number, 10)
	}
	if text != key {
		return fmt.Errorf("%.40q is not a key of type %s", key, kind)
	}
	return nil
}

func bitsOf(kind string) int {
	if kind == "int32" || kind == "uint32" {
		return 32
	}
	return 64
}

func (c *avroCheck) primitive(of *avro.PrimitiveSchema) error {
	switch of.Type() {
	case avro.Boolean:
		if len(c.rest) > 0 && c.rest[0] > 1 {
			return errors.New("a boolean is neither 0 nor 1")
		}
		return c.skip(1)
	case avro.Float:
		return c.skip(4)
	case avro.Double:
		return c.skip(8)
	case avro.String:
		_, err := c.text()
		return err
	case avro.Bytes:
		_, err := c.bytes()
		return err
	}
	number, err := c.long()
	if err != nil {
		return err
	}
	isInt32 := of.Type() == avro.Int
	isUint32 := of.Prop("proto") == "uint32"
	if isInt32 && number != int64(int32(number)) || isUint32 && (number < 0 || number > math.MaxUint32) {
		return errAvroRange
	}
	return nil
}

func (c *avroCheck) text() ([]byte, error) {
	text, err := c.bytes()
	if err == nil && !utf8.Valid(text) {
		return nil, errors.New("a text is not UTF-8")
	}
	return text, err
}

func (c *avroCheck) bytes() ([]byte, error) {
	length, err := c.long()
	if err != nil {
		return nil, err
	}
	begun := c.rest
	if err := c.skip(length); err != nil {
		return nil, err
	}
	return begun[:length], nil
}

func (c *avroCheck) skip(count int64) error {
	if count < 0 || count > int64(len(c.rest)) {
		return errAvroCut
	}
	c.rest = c.rest[count:]
	return nil
}

// index is that of a branch or a symbol.
func (c *avroCheck) index(count int) (int, error) {
	index, err := c.long()
	if err == nil && (index < 0 || index >= int64(count)) {
		return 0, fmt.Errorf("the union or enum has no member %d", index)
	}
	return int(index), err
}

// long reads an integer: zigzag, seven bits a byte, as encoding/binary has it.
func (c *avroCheck) long() (int64, error) {
	number, length := binary.Varint(c.rest)
	switch {
	case length == 0:
		return 0, errAvroCut
	case length < 0:
		return 0, errAvroRange
	}
	c.rest = c.rest[length:]
	return number, nil
}
