package codec

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	// The vectors are messages of every contract.
	_ "wirelab/services/go/calendarpb"
	_ "wirelab/services/go/chargingpb"
	_ "wirelab/services/go/recordspb"
	_ "wirelab/services/go/transferpb"
)

// binaryVectors is the part of contracts/vectors/encodings.json that is of these codecs.
type binaryVectors struct {
	Accepted []struct {
		Contract, Message, Name, JSON, CBOR, Msgpack string
	}
	RefusedCBOR    []refusedVector `json:"refused_cbor"`
	RefusedMsgpack []refusedVector `json:"refused_msgpack"`
}

type refusedVector struct{ Message, Why, Input string }

func readBinaryVectors(t *testing.T) binaryVectors {
	t.Helper()
	text, err := os.ReadFile("../../../../contracts/vectors/encodings.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors binaryVectors
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	return vectors
}

func newCodec(t *testing.T, name string) Codec {
	t.Helper()
	row, err := New(name, "")
	if err != nil {
		t.Fatal(err)
	}
	return row
}

func newMessage(t *testing.T, name string) proto.Message {
	t.Helper()
	for _, contract := range []string{"transfer", "charging", "calendar", "records"} {
		full := protoreflect.FullName("wirelab." + contract + ".v1." + name)
		if kind, err := protoregistry.GlobalTypes.FindMessageByName(full); err == nil {
			return kind.New().Interface()
		}
	}
	t.Fatalf("no contract has %s", name)
	return nil
}

func TestBinaryVectorsAreReadAndWritten(t *testing.T) {
	for _, vector := range readBinaryVectors(t).Accepted {
		want := newMessage(t, vector.Message)
		// INF and NaN exist in XML, CDR and these codecs, and not in JSON.
		if err := json.Unmarshal([]byte(vector.JSON), want); err != nil {
			continue
		}
		for _, of := range []struct {
			codec string
			hex   string
		}{{"cbor", vector.CBOR}, {"msgpack", vector.Msgpack}} {
			row := newCodec(t, of.codec)
			encoded, err := hex.DecodeString(of.hex)
			if err != nil {
				t.Fatal(err)
			}
			found := newMessage(t, vector.Message)
			if err := row.Decode(encoded, found); err != nil || !proto.Equal(found, want) {
				t.Errorf("%s %s: %v, %v", of.codec, vector.Name, found, err)
			}
			written, err := row.Encode(want)
			if err != nil {
				t.Fatal(err)
			}
			again := newMessage(t, vector.Message)
			bytes, err := io.ReadAll(written.(io.Reader))
			if err != nil {
				t.Fatal(err)
			}
			if err := row.Decode(bytes, again); err != nil || !proto.Equal(again, want) {
				t.Errorf("%s %s: written and read again: %v, %v", of.codec, vector.Name, again, err)
			}
		}
	}
}

func TestBinaryRefusals(t *testing.T) {
	vectors := readBinaryVectors(t)
	for _, of := range []struct {
		codec   string
		refused []refusedVector
	}{{"cbor", vectors.RefusedCBOR}, {"msgpack", vectors.RefusedMsgpack}} {
		row := newCodec(t, of.codec)
		for _, vector := range of.refused {
			input, err := hex.DecodeString(vector.Input)
			if err != nil {
				t.Fatal(err)
			}
			if err := row.Decode(input, newMessage(t, vector.Message)); err == nil {
				t.Errorf("%s took %s: %s", of.codec, vector.Message, vector.Why)
			}
		}
	}
}
