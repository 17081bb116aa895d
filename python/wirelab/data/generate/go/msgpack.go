package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/vmihailenco/msgpack/v5/msgpcode"

	"service/values"
)

// layout is what follows the first byte of a value (MessagePack specification of 2017).
type layout struct {
	lengthBytes int // of a length, most significant byte first
	bytes       int // besides those that the length counts
	values      int // per unit of length; 0: it counts bytes
	isText      bool
}

var layouts = [256]layout{
	0xc4: {lengthBytes: 1}, 0xc5: {lengthBytes: 2}, 0xc6: {lengthBytes: 4}, // bin
	0xc7: {lengthBytes: 1, bytes: 1}, 0xc8: {lengthBytes: 2, bytes: 1}, 0xc9: {lengthBytes: 4, bytes: 1}, // ext
	0xca: {bytes: 4}, 0xcb: {bytes: 8}, // float
	0xcc: {bytes: 1}, 0xcd: {bytes: 2}, 0xce: {bytes: 4}, 0xcf: {bytes: 8}, // uint
	0xd0: {bytes: 1}, 0xd1: {bytes: 2}, 0xd2: {bytes: 4}, 0xd3: {bytes: 8}, // int
	0xd4: {bytes: 2}, 0xd5: {bytes: 3}, 0xd6: {bytes: 5}, 0xd7: {bytes: 9}, 0xd8: {bytes: 17}, // fixext
	0xd9: {lengthBytes: 1, isText: true}, 0xda: {lengthBytes: 2, isText: true}, 0xdb: {lengthBytes: 4, isText: true},
	0xdc: {lengthBytes: 2, values: 1}, 0xdd: {lengthBytes: 4, values: 1}, // array
	0xde: {lengthBytes: 2, values: 2}, 0xdf: {lengthBytes: 4, values: 2}, // map
}

var errTruncated = errors.New("the body ends within a value")

// checkMsgpack follows the values of a body without reading them.
func checkMsgpack(text []byte) error {
	due := append(make([]int, 0, values.DepthMax), 1) // values that are due, by depth
	for len(due) > 0 {
		if due[len(due)-1] == 0 {
			due = due[:len(due)-1]
			continue
		}
		due[len(due)-1]--
		rest, within, err := skipMsgpack(text)
		if err != nil {
			return err
		}
		if text = rest; within > len(text) {
			return errTruncated
		}
		if within > 0 {
			if len(due) == values.DepthMax {
				return fmt.Errorf("the body is nested more than %d deep", values.DepthMax)
			}
			due = append(due, within)
		}
	}
	if len(text) > 0 {
		return errors.New("bytes follow the message")
	}
	return nil
}

// skipMsgpack is what follows a value, and the number of values that it has within.
func skipMsgpack(text []byte) (rest []byte, within int, err error) {
	if len(text) == 0 {
		return nil, 0, errTruncated
	}
	code := text[0]
	of, length := layouts[code], 0
	switch {
	case msgpcode.IsFixedMap(code):
		return text[1:], 2 * int(code&msgpcode.FixedMapMask), nil
	case msgpcode.IsFixedArray(code):
		return text[1:], int(code & msgpcode.FixedArrayMask), nil
	case msgpcode.IsFixedString(code):
		of, length = layout{isText: true}, int(code&msgpcode.FixedStrMask)
	}
	text = text[1:]
	if len(text) < of.lengthBytes {
		return nil, 0, errTruncated
	}
	switch of.lengthBytes {
	case 1:
		length = int(text[0])
	case 2:
		length = int(binary.BigEndian.Uint16(text))
	case 4:
		length = int(binary.BigEndian.Uint32(text))
	}
	text = text[of.lengthBytes:]
	if of.values > 0 {
		return text, of.values * length, nil
	}
	if length += of.bytes; len(text) < length {
		return nil, 0, errTruncated
	}
	if of.isText && !utf8.Valid(text[:length]) {
		return nil, 0, errors.New("a text is not UTF-8")
	}
	return text[length:], 0, nil
}
