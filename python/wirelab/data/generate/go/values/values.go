// Package values has the types of fields whose text is not what Go's packages write by themselves.
package values

import (
	"encoding"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/vmihailenco/msgpack/v5"
)

// Bytes are base64 in JSON and XML, bytes in CBOR and MessagePack.
type Bytes []byte

// MarshalText implements encoding.TextMarshaler.
func (v Bytes) MarshalText() ([]byte, error) { return base64.StdEncoding.AppendEncode(nil, v), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (v *Bytes) UnmarshalText(text []byte) (err error) {
	*v, err = base64.StdEncoding.AppendDecode(make([]byte, 0, base64.StdEncoding.DecodedLen(len(text))), text)
	return err
}

// MarshalBinary implements encoding.BinaryMarshaler.
func (v Bytes) MarshalBinary() ([]byte, error) { return v, nil }

// UnmarshalBinary implements encoding.BinaryUnmarshaler.
func (v *Bytes) UnmarshalBinary(data []byte) error {
	*v = append(make([]byte, 0, len(data)), data...)
	return nil
}

// EncodeMsgpack implements msgpack.CustomEncoder.
func (v Bytes) EncodeMsgpack(into *msgpack.Encoder) error {
	if v == nil {
		v = Bytes{}
	}
	return into.EncodeBytes(v)
}

// DecodeMsgpack implements msgpack.CustomDecoder.
func (v *Bytes) DecodeMsgpack(from *msgpack.Decoder) (err error) {
	*v, err = from.DecodeBytes()
	return err
}

// Timestamp is a point in time, written as RFC 3339; in Avro it is the record.
type Timestamp struct {
	Seconds int64 `avro:"seconds"` // since 1970
	Nanos   int32 `avro:"nanos"`
}

// GetSeconds is the whole seconds.
func (v *Timestamp) GetSeconds() int64 { return v.Seconds }

// GetNanos is the rest.
func (v *Timestamp) GetNanos() int32 { return v.Nanos }

// MarshalText implements encoding.TextMarshaler.
func (v Timestamp) MarshalText() ([]byte, error) {
	text := time.Unix(v.Seconds, 0).UTC().AppendFormat(nil, "2006-01-02T15:04:05")
	return append(appendFraction(text, v.Nanos), 'Z'), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (v *Timestamp) UnmarshalText(text []byte) error {
	moment, err := time.Parse(time.RFC3339, string(text))
	*v = Timestamp{moment.Unix(), int32(moment.Nanosecond())}
	return err
}

// EncodeMsgpack implements msgpack.CustomEncoder.
func (v Timestamp) EncodeMsgpack(into *msgpack.Encoder) error { return EncodeText(into, v) }

// DecodeMsgpack implements msgpack.CustomDecoder.
func (v *Timestamp) DecodeMsgpack(from *msgpack.Decoder) error { return DecodeText(from, v) }

// Duration is a length of time, written as seconds: `3.500s`; in Avro it is the record.
type Duration struct {
	Seconds int64 `avro:"seconds"`
	Nanos   int32 `avro:"nanos"` // of the same sign
}

// GetSeconds is the whole seconds.
func (v *Duration) GetSeconds() int64 { return v.Seconds }

// GetNanos is the rest.
func (v *Duration) GetNanos() int32 { return v.Nanos }

// MarshalText implements encoding.TextMarshaler.
func (v Duration) MarshalText() ([]byte, error) {
	var text []byte
	seconds, nanos := v.Seconds, v.Nanos
	if seconds < 0 || nanos < 0 {
		text, seconds, nanos = append(text, '-'), -seconds, -nanos
	}
	text = strconv.AppendInt(text, seconds, 10)
	return append(appendFraction(text, nanos), 's'), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (v *Duration) UnmarshalText(text []byte) error {
	digits, isSeconds := strings.CutSuffix(string(text), "s")
	digits, isNegative := strings.CutPrefix(digits, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	seconds, err := strconv.ParseUint(whole, 10, 62)
	nanos, fractionErr := strconv.ParseUint((fraction + "000000000")[:9], 10, 32)
	if !isSeconds || err != nil || fractionErr != nil || len(fraction) > 9 {
		return fmt.Errorf("%.40q is not a duration", text)
	}
	*v = Duration{int64(seconds), int32(nanos)}
	if isNegative {
		*v = Duration{-v.Seconds, -v.Nanos}
	}
	return nil
}

// EncodeMsgpack implements msgpack.CustomEncoder.
func (v Duration) EncodeMsgpack(into *msgpack.Encoder) error { return EncodeText(into, v) }

// DecodeMsgpack implements msgpack.CustomDecoder.
func (v *Duration) DecodeMsgpack(from *msgpack.Decoder) error { return DecodeText(from, v) }

// appendFraction writes nanoseconds with 0, 3, 6 or 9 digits.
func appendFraction(text []byte, nanos int32) []byte {
	switch {
	case nanos == 0:
		return text
	case nanos%1_000_000 == 0:
		return fmt.Appendf(text, ".%03d", nanos/1_000_000)
	case nanos%1_000 == 0:
		return fmt.Appendf(text, ".%06d", nanos/1_000)
	}
	return fmt.Appendf(text, ".%09d", nanos)
}

// EncodeText writes a value as a text of MessagePack, for which the library would use bytes.
func EncodeText(into *msgpack.Encoder, of encoding.TextMarshaler) error {
	text, err := of.MarshalText()
	if err != nil {
		return err
	}
	return into.EncodeString(string(text))
}

// DecodeText reads a value from a text of MessagePack.
func DecodeText(from *msgpack.Decoder, into encoding.TextUnmarshaler) error {
	text, err := from.DecodeString()
	if err != nil {
		return err
	}
	return into.UnmarshalText([]byte(text))
}

// Map is one element with key and value per entry in XML, for which encoding/xml has no maps.
type Map[K comparable, V any] map[K]V

type entry[K comparable, V any] struct {
	Key   K `xml:"key"`
	Value V `xml:"value"`
}

// MarshalXML implements xml.Marshaler.
func (v Map[K, V]) MarshalXML(into *xml.Encoder, start xml.StartElement) error {
	for key, value := range v {
		if err := into.EncodeElement(entry[K, V]{key, value}, start); err != nil {
			return err
		}
	}
	return nil
}

// UnmarshalXML implements xml.Unmarshaler. It is called for each entry.
func (v *Map[K, V]) UnmarshalXML(from *xml.Decoder, start xml.StartElement) error {
	var read entry[K, V]
	if err := from.DecodeElement(&read, &start); err != nil {
		return err
	}
	if *v == nil {
		*v = Map[K, V]{}
	}
	(*v)[read.Key] = read.Value
	return nil
}
