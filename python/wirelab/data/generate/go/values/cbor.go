package values

import "github.com/fxamacker/cbor/v2"

const (
	// DepthMax bounds values within values.
	DepthMax = 100
	// BodyBytesMax bounds a request's body, as received and decompressed.
	BodyBytesMax = 128 << 20
)

// CBORReader and CBORWriter write enums, times and keys as text.
var (
	CBORReader = must(cbor.DecOptions{
		DupMapKey:        cbor.DupMapKeyEnforcedAPF,
		MaxArrayElements: BodyBytesMax,
		MaxMapPairs:      BodyBytesMax,
		MaxNestedLevels:  DepthMax,
		TextUnmarshaler:  cbor.TextUnmarshalerTextString,
		UTF8:             cbor.UTF8RejectInvalid,
	}.DecMode())
	CBORWriter = must(cbor.EncOptions{TextMarshaler: cbor.TextMarshalerTextString}.EncMode())
)

// must: the options above are constants, and legal ones.
func must[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}
