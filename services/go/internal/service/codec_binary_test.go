package service

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
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

func newMessage(t *testing.T, name string) proto.Message {
	t.Helper()
	for _, contract := range []string{"transfer", "charging", "calendar"} {
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
			codec codec
			hex   string
		}{{newCBORCodec(), vector.CBOR}, {msgpackCodec{}, vector.Msgpack}} {
			encoded, err := hex.DecodeString(of.hex)
			if err != nil {
				t.Fatal(err)
			}
			found := newMessage(t, vector.Message)
			if err := of.codec.decode(encoded, found); err != nil || !proto.Equal(found, want) {
				t.Errorf("%T %s: %v, %v", of.codec, vector.Name, found, err)
			}
			written, err := of.codec.encode(want)
			if err != nil {
				t.Fatal(err)
			}
			again := newMessage(t, vector.Message)
			bytes, err := io.ReadAll(written.(io.Reader))
			if err != nil {
				t.Fatal(err)
			}
			if err := of.codec.decode(bytes, again); err != nil || !proto.Equal(again, want) {
				t.Errorf("%T %s: written and read again: %v, %v", of.codec, vector.Name, again, err)
			}
		}
	}
}

func TestBinaryRefusals(t *testing.T) {
	vectors := readBinaryVectors(t)
	for _, of := range []struct {
		codec   codec
		refused []refusedVector
	}{{newCBORCodec(), vectors.RefusedCBOR}, {msgpackCodec{}, vectors.RefusedMsgpack}} {
		for _, vector := range of.refused {
			input, err := hex.DecodeString(vector.Input)
			if err != nil {
				t.Fatal(err)
			}
			if err := of.codec.decode(input, newMessage(t, vector.Message)); err == nil {
				t.Errorf("%T took %s: %s", of.codec, vector.Message, vector.Why)
			}
		}
	}
}
