package main

import (
	"strings"
	"testing"
)

const mixed = `<?xml version="1.0" encoding="UTF-8"?>
<!-- comment --><?target data?>
<a:root xmlns:a="urn:a" xmlns="urn:b" plain="1&amp;2" a:own="é">
  <child>text <![CDATA[<raw>]]> more &lt;&#x20AC;&gt;</child><child/>日本😀
  <inner xmlns=""><leaf a:b="c">  </leaf></inner>
</a:root>
`

func TestParsersSeeTheSameElementsAttributesAndTexts(t *testing.T) {
	tokens, err := xmlParser(readTokens).fingerprint("", []byte(mixed))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := xmlParser(readTree).fingerprint("", []byte(mixed))
	if err != nil {
		t.Fatal(err)
	}
	if tokens != tree {
		t.Errorf("encoding/xml saw %s, etree %s", tokens, tree)
	}
}

func TestHostileAndBrokenDocumentsAreErrors(t *testing.T) {
	for _, document := range []string{
		"", "<a>", "<a><b></a></b>", "<a/><b/>", "<a>&unknown;</a>",
		`<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/hostname">]><a>&e;</a>`,
		`<!DOCTYPE a [<!ENTITY x "` + strings.Repeat("lol", 1000) + `">]><a/>`,
	} {
		for _, parser := range []xmlParser{readTokens, readTree} {
			if _, err := parser.parse("", []byte(document)); err == nil {
				t.Errorf("%q was read", document[:min(len(document), 40)])
			}
		}
	}
}

func TestFormatsDecodeTheSameFields(t *testing.T) {
	documents := map[string]string{
		"json":     `{"id":2,"am":520}`,
		"protobuf": "\x08\x02\x10\x88\x04",
		"cbor":     "\xa2\x62id\x02\x62am\x19\x02\x08",
	}
	for format, document := range documents {
		sum, err := parsers[format].make().parse("reserve", []byte(document))
		if err != nil || sum != 522 {
			t.Errorf("%s: %d, %v", format, sum, err)
		}
	}
}

func TestAMeasurementHasEveryBlock(t *testing.T) {
	documents := []document{{"a", []byte("<a>1</a>")}, {"b", []byte("<b>22</b>")}}
	timed, err := measure(parsers["encoding-xml"].make, documents, plan{warmupNS: 1, windowNS: 1e6, blocks: 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range timed.Documents {
		if len(one.BlockNS) != 4 || one.Parses < 4 || one.ElapsedNS <= 0 {
			t.Errorf("%+v", one)
		}
	}
	if timed.FirstNS <= 0 {
		t.Errorf("first parse: %d ns", timed.FirstNS)
	}
}

func TestCalmEndsAWarmUpOfEnoughParsesAndTime(t *testing.T) {
	bounds := plan{warmupNS: 2000}
	for _, one := range []struct {
		parses, elapsedNS int64
		warm              bool
	}{{20_000, 1000, true}, {19_999, 2000, false}, {20_000, 999, false}} {
		if bounds.isWarm(one.parses, one.elapsedNS) != one.warm {
			t.Errorf("%+v", one)
		}
	}
}
