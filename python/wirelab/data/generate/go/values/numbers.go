package values

import (
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// Int64 is a number in JSON. It may be read from a string of digits, which JSON made from Protocol
// Buffers has.
type Int64 int64

// UnmarshalJSON implements json.Unmarshaler.
func (v *Int64) UnmarshalJSON(text []byte) error {
	digits, present := unquote(text)
	if !present {
		return nil
	}
	number, err := strconv.ParseInt(digits, 10, 64)
	*v = Int64(number)
	return err
}

// Uint64 is Int64 without a sign.
type Uint64 uint64

// UnmarshalJSON implements json.Unmarshaler.
func (v *Uint64) UnmarshalJSON(text []byte) error {
	digits, present := unquote(text)
	if !present {
		return nil
	}
	number, err := strconv.ParseUint(digits, 10, 64)
	*v = Uint64(number)
	return err
}

// unquote is a JSON value without its quotes; null is none.
func unquote(text []byte) (digits string, present bool) {
	if len(text) > 1 && text[0] == '"' {
		text = text[1 : len(text)-1]
	}
	return string(text), string(text) != "null"
}

// Int32 is read from MessagePack within its range; the library cuts off what is beyond.
type Int32 int32

// Uint32 is Int32 without a sign.
type Uint32 uint32

// Float32 is xsd:float in XML. It is read from any number of MessagePack; the library reads its own
// length only.
type Float32 float32

// Float64 is xsd:double in XML.
type Float64 float64

// DecodeMsgpack implements msgpack.CustomDecoder.
func (v *Int32) DecodeMsgpack(from *msgpack.Decoder) error { return decodeInteger(from, v) }

// DecodeMsgpack implements msgpack.CustomDecoder.
func (v *Uint32) DecodeMsgpack(from *msgpack.Decoder) error { return decodeInteger(from, v) }

// DecodeMsgpack implements msgpack.CustomDecoder.
func (v *Int64) DecodeMsgpack(from *msgpack.Decoder) error { return decodeInteger(from, v) }

// DecodeMsgpack implements msgpack.CustomDecoder.
func (v *Uint64) DecodeMsgpack(from *msgpack.Decoder) error { return decodeInteger(from, v) }

// DecodeMsgpack implements msgpack.CustomDecoder.
func (v *Float32) DecodeMsgpack(from *msgpack.Decoder) error {
	number, err := from.DecodeFloat64()
	*v = Float32(number)
	if err == nil && math.IsInf(float64(*v), 0) && !math.IsInf(number, 0) {
		return errRange
	}
	return err
}

// MarshalXML implements xml.Marshaler.
func (v Float32) MarshalXML(into *xml.Encoder, start xml.StartElement) error {
	return into.EncodeElement(formatFloat(float64(v), 32), start)
}

// UnmarshalXML implements xml.Unmarshaler.
func (v *Float32) UnmarshalXML(from *xml.Decoder, start xml.StartElement) error {
	number, err := readFloat(from, start, 32)
	*v = Float32(number)
	return err
}

// MarshalXML implements xml.Marshaler.
func (v Float64) MarshalXML(into *xml.Encoder, start xml.StartElement) error {
	return into.EncodeElement(formatFloat(float64(v), 64), start)
}

// UnmarshalXML implements xml.Unmarshaler.
func (v *Float64) UnmarshalXML(from *xml.Decoder, start xml.StartElement) error {
	number, err := readFloat(from, start, 64)
	*v = Float64(number)
	return err
}

// formatFloat is a text of xsd:float or xsd:double (XML Schema part 2, sections 3.2.4 and 3.2.5).
func formatFloat(number float64, bits int) string {
	switch {
	case math.IsInf(number, 1):
		return "INF"
	case math.IsInf(number, -1):
		return "-INF"
	}
	return strconv.FormatFloat(number, 'g', -1, bits)
}

// readFloat reads an element with such a text.
func readFloat(from *xml.Decoder, start xml.StartElement, bits int) (float64, error) {
	var text string
	if err := from.DecodeElement(&text, &start); err != nil {
		return 0, err
	}
	switch text = strings.Trim(text, " \t\r\n"); text {
	case "INF":
		return math.Inf(1), nil
	case "-INF":
		return math.Inf(-1), nil
	case "NaN":
		return math.NaN(), nil
	}
	// ParseFloat also takes hexadecimal digits and words, which XML has not.
	if strings.Trim(text, "+-.0123456789eE") != "" {
		return 0, fmt.Errorf("%.40q is not a number", text)
	}
	return strconv.ParseFloat(text, bits)
}

var errRange = errors.New("a number is beyond its field")

// decodeInteger reads an integer of any length.
func decodeInteger[T ~int32 | ~int64 | ~uint32 | ~uint64](from *msgpack.Decoder, into *T) error {
	code, err := from.PeekCode()
	if err != nil {
		return err
	}
	if code == msgpcode.Uint64 {
		number, err := from.DecodeUint64()
		*into = T(number)
		if err == nil && (*into < 0 || uint64(*into) != number) {
			return errRange
		}
		return err
	}
	number, err := from.DecodeInt64()
	*into = T(number)
	if err == nil && (int64(*into) != number || (*into < 0) != (number < 0)) {
		return errRange
	}
	return err
}
