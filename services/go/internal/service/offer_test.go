package service

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"wirelab/services/go/internal/codec"
)

// binding is a row of stack.json's bindings.
type binding struct {
	Name               string
	Codecs, Transports []string
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// TestOffersAreInTheTable holds service.json to the lab's table of stacks.
func TestOffersAreInTheTable(t *testing.T) {
	var table struct{ Bindings []binding }
	readJSON(t, "../../../../python/wirelab/data/stack.json", &table)
	for _, row := range table.Bindings {
		codecs := listCodecs(row.Name)
		if _, reason := unserved[row.Name]; len(codecs) > 0 == reason {
			t.Errorf("%s is neither served nor named as unserved, or both", row.Name)
		}
		for _, codec := range codecs {
			if !slices.Contains(row.Codecs, codec) {
				t.Errorf("%s serves codec %s, which stack.json does not have", row.Name, codec)
			}
		}
		for _, transport := range listOffered(row.Name, func(o offer) []string { return o.Transports }) {
			if !slices.Contains(row.Transports, transport) {
				t.Errorf("%s serves transport %s, which stack.json does not have", row.Name, transport)
			}
		}
	}
}

// TestEveryCodecOfRESTHasARow and no row is without an offer: what service.json offers without a
// list of codecs are the rows here, and those of stack.json where wirelab plans.
func TestEveryCodecOfRESTHasARow(t *testing.T) {
	var table struct{ Bindings []binding }
	readJSON(t, "../../../../python/wirelab/data/stack.json", &table)
	planned := table.Bindings[slices.IndexFunc(table.Bindings, func(b binding) bool { return b.Name == "rest" })].Codecs
	var rows []string
	for _, row := range codec.All("") {
		rows = append(rows, row.Name)
	}
	for _, want := range [][]string{listCodecs("rest"), planned} {
		if got, want := sortWords(rows), sortWords(want); !slices.Equal(got, want) {
			t.Errorf("rows of internal/codec %v, offered %v", got, want)
		}
	}
}

// TestRefusalsListCodecsInTheOrderOfServiceJSON.
func TestRefusalsListCodecsInTheOrderOfServiceJSON(t *testing.T) {
	config := Config{Contract: "transfer", Stack: Stack{Binding: "rest", Codec: "asn.1"}}
	refusal := config.checkStack()
	want := "use codec=json or codec=protobuf or codec=xml or codec=cbor or codec=msgpack or codec=avro or codec=text"
	if refusal == nil || refusal.Option != "stack.codec" || refusal.Remedy != want {
		t.Errorf("refused with %v, want remedy %q", refusal, want)
	}
}

func sortWords(words []string) []string { return slices.Sorted(slices.Values(words)) }
