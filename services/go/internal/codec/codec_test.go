package codec

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	// The vectors are messages of every contract.
	_ "wirelab/services/go/calendarpb"
	_ "wirelab/services/go/chargingpb"
	"wirelab/services/go/internal/contract"
	_ "wirelab/services/go/recordspb"
	"wirelab/services/go/transferpb"
)

// binaryVectors is the part of contracts/vectors/encodings.json that is of these codecs.
type binaryVectors struct {
	Accepted []struct {
		Contract, Message, Name, JSON, CBOR, Msgpack, Avro string
	}
	RefusedCBOR    []refusedVector `json:"refused_cbor"`
	RefusedMsgpack []refusedVector `json:"refused_msgpack"`
	RefusedAvro    []refusedVector `json:"refused_avro"`
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
		}{{"cbor", vector.CBOR}, {"msgpack", vector.Msgpack}, {"avro", vector.Avro}} {
			if _, err := avroRecord(want); of.codec == "avro" && err != nil {
				continue // Messages of streams, which REST does not carry, have no record.
			}
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
			text, err := io.ReadAll(written.(io.Reader))
			if err != nil {
				t.Fatal(err)
			}
			if err := row.Decode(text, again); err != nil || !proto.Equal(again, want) {
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
	}{
		{"cbor", vectors.RefusedCBOR},
		{"msgpack", vectors.RefusedMsgpack},
		{"avro", vectors.RefusedAvro},
	} {
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

// An array may come in any number of blocks, each with its length in bytes or without.
func TestAvroArraysComeInBlocks(t *testing.T) {
	row := newCodec(t, "avro")
	const batch, record, size = "0261", "0202026200", "0a"
	for _, blocks := range []string{"04" + record + record, "02" + record + "02" + record, "03" + "14" + record + record,
		"01" + size + record + "02" + record} {
		text, err := hex.DecodeString(batch + blocks + "00")
		if err != nil {
			t.Fatal(err)
		}
		var found transferpb.SubmitRequest
		if err := row.Decode(text, &found); err != nil || len(found.Records) != 2 || found.Records[1].Item != "b" {
			t.Errorf("%s: %v, %v", blocks, &found, err)
		}
	}
}

// A length that is a lie costs neither time nor memory.
func TestAvroLengthsAreNotTrusted(t *testing.T) {
	row := newCodec(t, "avro")
	items := append(binary.AppendVarint([]byte("\x02a"), contract.ItemsMax+1), bytes.Repeat([]byte{0}, 4*(contract.ItemsMax+1)+1)...)
	if err := row.Decode(items, &transferpb.SubmitRequest{}); !errors.Is(err, contract.ErrItems) {
		t.Errorf("too many items: %v", err)
	}
	for _, length := range []int64{1 << 30, 1 << 62, math.MinInt64} {
		text := binary.AppendVarint(nil, length)
		allocated := testing.AllocsPerRun(10, func() {
			if err := row.Decode(text, &transferpb.UploadRequest{}); err == nil {
				t.Errorf("%d bytes were read", length)
			}
		})
		if allocated > 20 {
			t.Errorf("%d bytes: %v allocations", length, allocated)
		}
	}
}
