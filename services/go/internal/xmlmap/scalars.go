package xmlmap

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// readScalar reads the text of a field of the profile.
func readScalar(field protoreflect.FieldDescriptor, text []byte) (value protoreflect.Value, err error) {
	switch field.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(string(text)), nil
	case protoreflect.BytesKind:
		return readBytes(field, text)
	case protoreflect.Int32Kind, protoreflect.Int64Kind:
		return readInteger(field, trim(text))
	case protoreflect.BoolKind:
		return readBool(field, trim(text))
	case protoreflect.DoubleKind:
		return readDouble(field, trim(text))
	}
	return value, fmt.Errorf("%s: kind %s is not of the contracts' profile", field.Name(), field.Kind())
}

func trim(text []byte) string { return string(bytes.Trim(text, space)) }

func readInteger(field protoreflect.FieldDescriptor, text string) (value protoreflect.Value, err error) {
	bits := 64
	if field.Kind() == protoreflect.Int32Kind {
		bits = 32
	}
	number, err := strconv.ParseInt(text, 10, bits)
	if err != nil {
		return value, wrongText(field, text)
	}
	if bits == 32 {
		return protoreflect.ValueOfInt32(int32(number)), nil
	}
	return protoreflect.ValueOfInt64(number), nil
}

func readBool(field protoreflect.FieldDescriptor, text string) (value protoreflect.Value, err error) {
	switch text {
	case "true", "1":
		return protoreflect.ValueOfBool(true), nil
	case "false", "0":
		return protoreflect.ValueOfBool(false), nil
	}
	return value, wrongText(field, text)
}

// readDouble takes the texts of xsd:double (XML Schema part 2, section 3.2.5).
func readDouble(field protoreflect.FieldDescriptor, text string) (value protoreflect.Value, err error) {
	switch text {
	case "INF":
		return protoreflect.ValueOfFloat64(math.Inf(1)), nil
	case "-INF":
		return protoreflect.ValueOfFloat64(math.Inf(-1)), nil
	case "NaN":
		return protoreflect.ValueOfFloat64(math.NaN()), nil
	}
	number, err := strconv.ParseFloat(text, 64)
	// ParseFloat also takes hexadecimal digits and words, which XML has not.
	if err != nil || strings.Trim(text, "+-.0123456789eE") != "" {
		return value, wrongText(field, text)
	}
	return protoreflect.ValueOfFloat64(number), nil
}

// readBytes takes base64 with white space anywhere, as xsd:base64Binary may have it.
func readBytes(field protoreflect.FieldDescriptor, text []byte) (value protoreflect.Value, err error) {
	if bytes.ContainsAny(text, " \t") { // the decoder passes over line ends itself
		text = bytes.Join(bytes.Fields(text), nil)
	}
	data := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(data, text)
	if err != nil {
		return value, fmt.Errorf("%s: %w", field.Name(), err)
	}
	return protoreflect.ValueOfBytes(data[:n]), nil
}

func wrongText(field protoreflect.FieldDescriptor, text string) error {
	return fmt.Errorf("%s: %.40q is not a value of %s", field.Name(), text, field.Kind())
}

// appendScalar writes a value of the profile.
func appendScalar(into []byte, kind protoreflect.Kind, value protoreflect.Value) []byte {
	switch kind {
	case protoreflect.StringKind:
		return AppendText(into, value.String())
	case protoreflect.BytesKind:
		return base64.StdEncoding.AppendEncode(into, value.Bytes())
	case protoreflect.Int32Kind, protoreflect.Int64Kind:
		return strconv.AppendInt(into, value.Int(), 10)
	case protoreflect.BoolKind:
		return strconv.AppendBool(into, value.Bool())
	case protoreflect.DoubleKind:
		return appendDouble(into, value.Float())
	}
	panic("kind " + kind.String() + " is not of the contracts' profile")
}

// appendDouble writes the shortest text that is read as the same number; a
// whole one has a decimal point, as the vectors have it.
func appendDouble(into []byte, number float64) []byte {
	switch {
	case math.IsInf(number, 1):
		return append(into, "INF"...)
	case math.IsInf(number, -1):
		return append(into, "-INF"...)
	}
	before := len(into)
	into = strconv.AppendFloat(into, number, 'g', -1, 64)
	if !bytes.ContainsAny(into[before:], ".eN") {
		into = append(into, ".0"...)
	}
	return into
}
