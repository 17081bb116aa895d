package xmlmap

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "wirelab/services/go/recordspb" // registers the messages of the vectors
)

// encodings is contracts/vectors/encodings.json.
type encodings struct {
	Accepted []struct {
		Contract, Message, Name, JSON, Protobuf, XML string
		XMLVariants                                  []string `json:"xml_variants"`
	}
	RefusedXML []struct{ Message, Why, Input string } `json:"refused_xml"`
}

func readEncodings(t *testing.T) (vectors encodings) {
	t.Helper()
	text, err := os.ReadFile("../../../../contracts/vectors/encodings.json")
	if err == nil {
		err = json.Unmarshal(text, &vectors)
	}
	if err != nil {
		t.Fatal(err)
	}
	return vectors
}

// newMessage finds a message by its name in any contract.
func newMessage(t *testing.T, name string) (proto.Message, string) {
	t.Helper()
	for _, contract := range []string{"transfer", "charging", "calendar", "records"} {
		full := protoreflect.FullName("wirelab." + contract + ".v1." + name)
		if found, err := protoregistry.GlobalTypes.FindMessageByName(full); err == nil {
			return found.New().Interface(), "urn:wirelab:" + contract + ":v1"
		}
	}
	t.Fatalf("no contract has a message %s", name)
	return nil, ""
}

// TestEncodingVectors: every message of every contract is written as the vectors
// have it, and read from all of its forms.
func TestEncodingVectors(t *testing.T) {
	vectors := readEncodings(t)
	if len(vectors.Accepted) < 70 {
		t.Errorf("only %d vectors", len(vectors.Accepted))
	}
	for _, vector := range vectors.Accepted {
		t.Run(vector.Message+": "+vector.Name, func(t *testing.T) {
			want, namespace := newMessage(t, vector.Message)
			binary, err := hex.DecodeString(vector.Protobuf)
			if err == nil {
				err = proto.Unmarshal(binary, want)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := string(Marshal(want, namespace)); got != vector.XML {
				t.Errorf("wrote %.500s\nwant  %.500s", got, vector.XML)
			}
			for _, text := range append(vector.XMLVariants, vector.XML) {
				got, _ := newMessage(t, vector.Message)
				if err := Unmarshal([]byte(text), got, namespace); err != nil || !proto.Equal(got, want) {
					t.Errorf("%v: %v, want %v from %.500s", err, got, want, text)
				}
			}
		})
	}
}

// TestJSONVectorsAreTheMessages: encoding/json reads a generated message, and
// writes it with every field, by its tags.
func TestJSONVectorsAreTheMessages(t *testing.T) {
	for _, vector := range readEncodings(t).Accepted {
		want, _ := newMessage(t, vector.Message)
		got := proto.Clone(want)
		binary, err := hex.DecodeString(vector.Protobuf)
		if err == nil {
			err = proto.Unmarshal(binary, want)
		}
		if err == nil {
			err = json.Unmarshal([]byte(vector.JSON), got)
		}
		if err != nil || !proto.Equal(got, want) {
			t.Errorf("%s, %s: %v, %v", vector.Message, vector.Name, err, got)
		}
		text, err := json.Marshal(got)
		if err != nil || strings.Count(string(text), `":`) < strings.Count(vector.JSON, `":`) {
			t.Errorf("%s, %s: %v, %s for %s", vector.Message, vector.Name, err, text, vector.JSON)
		}
	}
}

func TestRefusedXMLVectors(t *testing.T) {
	vectors := readEncodings(t).RefusedXML
	if len(vectors) < 20 {
		t.Errorf("only %d vectors", len(vectors))
	}
	for _, vector := range vectors {
		message, namespace := newMessage(t, vector.Message)
		if err := Unmarshal([]byte(vector.Input), message, namespace); err == nil {
			t.Errorf("%s: taken for %v", vector.Why, message)
		}
	}
}
