package values

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/fxamacker/cbor/v2"
	"github.com/vmihailenco/msgpack/v5"
)

// Member is a field of a message with a name that struct tags cannot express.
type Member struct {
	Name  string
	Field any // points to it
}

// isAbsent: only fields that may be absent are pointers.
func (m Member) isAbsent() bool {
	field := reflect.ValueOf(m.Field).Elem()
	return field.Kind() == reflect.Pointer && field.IsNil()
}

func present(members []Member) (written []Member) {
	for _, member := range members {
		if !member.isAbsent() {
			written = append(written, member)
		}
	}
	return written
}

// MarshalJSON writes the members that are present as an object.
func MarshalJSON(members []Member) ([]byte, error) {
	into := bytes.NewBufferString("{")
	for i, member := range present(members) {
		if i > 0 {
			into.WriteByte(',')
		}
		name, err := json.Marshal(member.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(member.Field)
		if err != nil {
			return nil, err
		}
		into.Write(append(append(name, ':'), value...))
	}
	into.WriteByte('}')
	return into.Bytes(), nil
}

// UnmarshalJSON reads the members from an object.
func UnmarshalJSON(text []byte, members []Member) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(text, &values); err != nil {
		return err
	}
	for _, member := range members {
		if value, isPresent := values[member.Name]; isPresent {
			if err := json.Unmarshal(value, member.Field); err != nil {
				return err
			}
		}
	}
	return nil
}

// MarshalCBOR writes the members that are present as a map.
func MarshalCBOR(members []Member) ([]byte, error) {
	values := map[string]any{}
	for _, member := range present(members) {
		values[member.Name] = member.Field
	}
	return CBORWriter.Marshal(values)
}

// UnmarshalCBOR reads the members from a map.
func UnmarshalCBOR(data []byte, members []Member) error {
	var values map[string]cbor.RawMessage
	if err := CBORReader.Unmarshal(data, &values); err != nil {
		return err
	}
	for _, member := range members {
		if value, isPresent := values[member.Name]; isPresent {
			if err := CBORReader.Unmarshal(value, member.Field); err != nil {
				return err
			}
		}
	}
	return nil
}

// EncodeMsgpack writes the members that are present as a map.
func EncodeMsgpack(into *msgpack.Encoder, members []Member) error {
	written := present(members)
	if err := into.EncodeMapLen(len(written)); err != nil {
		return err
	}
	for _, member := range written {
		if err := into.EncodeString(member.Name); err != nil {
			return err
		}
		if err := into.Encode(reflect.ValueOf(member.Field).Elem().Interface()); err != nil {
			return err
		}
	}
	return nil
}

// DecodeMsgpack reads the members from a map.
func DecodeMsgpack(from *msgpack.Decoder, members []Member) error {
	length, err := from.DecodeMapLen()
	if err != nil {
		return err
	}
	fields := make(map[string]any, len(members))
	for _, member := range members {
		fields[member.Name] = member.Field
	}
	for range length {
		name, err := from.DecodeString()
		if err != nil {
			return err
		}
		if field, isKnown := fields[name]; isKnown {
			err = from.Decode(field)
		} else {
			err = from.Skip()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
