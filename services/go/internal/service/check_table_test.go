package service

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// binding is a row of stack.json's bindings, or of service.json's serves.
type binding struct {
	Name, Binding      string
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

// TestServedIsThatOfTheManifestAndOfTheTable holds this service's words to
// service.json, and to the lab's table of stacks.
func TestServedIsThatOfTheManifestAndOfTheTable(t *testing.T) {
	var table struct{ Bindings []binding }
	var manifest struct{ Serves []binding }
	readJSON(t, "../../../../python/wirelab/data/stack.json", &table)
	readJSON(t, "../../service.json", &manifest)
	offered := map[string][]string{}
	for _, entry := range manifest.Serves {
		offered[entry.Binding] = append(offered[entry.Binding], entry.Codecs...)
		for _, transport := range entry.Transports {
			if !slices.Contains(served[entry.Binding].transports, transport) {
				t.Errorf("service.json offers %s over %s, which is refused", entry.Binding, transport)
			}
		}
	}
	for _, row := range table.Bindings {
		offer, known := served[row.Name]
		if _, reason := unserved[row.Name]; known == reason {
			t.Errorf("%s is neither served nor named as unserved, or both", row.Name)
		}
		if got, want := sorted(offer.codecs), sorted(offered[row.Name]); !slices.Equal(got, want) {
			t.Errorf("%s: served %v, offered in service.json %v", row.Name, got, want)
		}
		for _, codec := range offer.codecs {
			if !slices.Contains(row.Codecs, codec) {
				t.Errorf("%s serves codec %s, which stack.json does not have", row.Name, codec)
			}
		}
		for _, transport := range offer.transports {
			if !slices.Contains(row.Transports, transport) {
				t.Errorf("%s serves transport %s, which stack.json does not have", row.Name, transport)
			}
		}
	}
}

func sorted(words []string) []string { return slices.Sorted(slices.Values(words)) }
