package service

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	manifest "wirelab/services/go"
	"wirelab/services/go/internal/codec"
)

// offer is an entry of `serves` in service.json. A binding may have several, with
// codecs that go with different contracts.
type offer struct {
	Binding string `json:"binding"`
	// Codecs of an entry that states none are those of REST that carry every message.
	Codecs       []string `json:"codecs"`
	Transports   []string `json:"transports"`
	SOAP         []string `json:"soap"`
	Compression  []string `json:"compression"`
	Security     []string `json:"security"`
	EndOfMessage []string `json:"end_of_message"`
	HTTPCache    []string `json:"http_cache"`
	Flushes      []string `json:"flushes"`
	Contracts    []string `json:"contracts"`
	Stores       []string `json:"stores"`
	CodecTimes   bool     `json:"codec_times"`
}

// offers are what service.json declares: what it does not name is refused.
var offers = readOffers(manifest.JSON)

func readOffers(text []byte) []offer {
	var document struct {
		Defaults json.RawMessage   `json:"defaults"`
		Serves   []json.RawMessage `json:"serves"`
	}
	mustUnmarshal(text, &document)
	read := make([]offer, len(document.Serves))
	for i, stated := range document.Serves {
		// What an entry does not state is as in the defaults.
		mustUnmarshal(document.Defaults, &read[i])
		mustUnmarshal(stated, &read[i])
		if read[i].Codecs == nil {
			read[i].Codecs = codec.Full()
		}
	}
	return read
}

func mustUnmarshal(text []byte, into any) {
	if err := json.Unmarshal(text, into); err != nil {
		panic(fmt.Errorf("service.json, which is part of this binary, cannot be read: %w", err))
	}
}

// listOffered returns the words of one axis in the order of service.json, over the entries
// of a binding; "" means every binding.
func listOffered(binding string, axis func(offer) []string) (words []string) {
	for _, entry := range offers {
		if binding != "" && entry.Binding != binding {
			continue
		}
		for _, word := range axis(entry) {
			if !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	return words
}

func listBindings() []string {
	return listOffered("", func(o offer) []string { return []string{o.Binding} })
}

func listContracts() []string { return listOffered("", func(o offer) []string { return o.Contracts }) }

func listCodecs(binding string) []string {
	return listOffered(binding, func(o offer) []string { return o.Codecs })
}

// codecsFor are the codecs of a binding that carry a contract.
func codecsFor(binding, contract string) []string {
	return listOffered(binding, func(o offer) []string {
		if !slices.Contains(o.Contracts, contract) {
			return nil
		}
		return o.Codecs
	})
}

// checkCodecTimes refuses to time a codec that has no messages, and those of the other
// bindings.
func (c *Config) checkCodecTimes() *Refusal {
	timed := slices.ContainsFunc(offers, func(o offer) bool {
		return o.CodecTimes && o.Binding == c.Stack.Binding &&
			slices.Contains(o.Codecs, c.Stack.Codec) && slices.Contains(o.Contracts, c.Contract)
	})
	if c.CodecTimes && !timed {
		return &Refusal{"codec_times", fmt.Sprintf("%s@go does not time codec %s", c.Stack.Binding, c.Stack.Codec),
			"leave it out, or use binding=rest with another codec than text"}
	}
	return nil
}

// unserved are bindings that other services have, and why this one has not.
var unserved = map[string]string{
	"iiop": "there is no well-kept ORB for Go",
	"raw":  "no library in Go offers length-prefixed messages",
}

func (c *Config) checkStack() *Refusal {
	if refusal := c.checkWord("contract", c.Contract, listContracts()...); refusal != nil {
		return refusal
	}
	if reason, known := unserved[c.Stack.Binding]; known {
		return &Refusal{"stack.binding", "the Go service does not serve " + c.Stack.Binding + ": " + reason,
			"use " + c.Stack.Binding + "@rust, or binding=rest, soap or grpc"}
	}
	if refusal := c.checkWord("stack.binding", c.Stack.Binding, listBindings()...); refusal != nil {
		return refusal
	}
	if c.Stack.Codec == "soap-encoded" && c.Stack.Binding == "soap" {
		return &Refusal{"stack.codec", "soap@go does not serve soap-encoded: Go has no library for rpc/encoded",
			"use codec=soap-rpc or codec=soap-literal, or soap@rust or soap@java"}
	}
	if refusal := c.checkWord("stack.codec", c.Stack.Codec, listCodecs(c.Stack.Binding)...); refusal != nil {
		return refusal
	}
	if refusal := c.checkCarried(); refusal != nil {
		return refusal
	}
	for _, axis := range []struct {
		option, value string
		words         func(offer) []string
	}{
		{"stack.transport", c.Stack.Transport, func(o offer) []string { return o.Transports }},
		{"stack.compression", c.Stack.Compression, func(o offer) []string { return o.Compression }},
		{"stack.flush", c.Stack.Flush, func(o offer) []string { return o.Flushes }},
		{"stack.security", c.Stack.Security, func(o offer) []string { return o.Security }},
	} {
		if refusal := c.checkWord(axis.option, axis.value, c.listOffered(axis.words)...); refusal != nil {
			return refusal
		}
	}
	return nil
}

// listOffered are the words of one axis over the entries that have the configuration's
// binding, codec and contract.
func (c *Config) listOffered(axis func(offer) []string) []string {
	return listOffered(c.Stack.Binding, func(o offer) []string {
		if !slices.Contains(o.Codecs, c.Stack.Codec) || !slices.Contains(o.Contracts, c.Contract) {
			return nil
		}
		return axis(o)
	})
}

// checkCarried refuses a codec that carries no operation of the contract.
func (c *Config) checkCarried() *Refusal {
	legal := codecsFor(c.Stack.Binding, c.Contract)
	if len(legal) == 0 {
		return &Refusal{"contract", c.Stack.Binding + "@go does not serve contract " + c.Contract,
			"use another binding, or another contract"}
	}
	if !slices.Contains(legal, c.Stack.Codec) {
		return &Refusal{"stack.codec", fmt.Sprintf("codec %s carries no operation of contract %s", c.Stack.Codec, c.Contract),
			"use codec=" + strings.Join(legal, " or codec=")}
	}
	return nil
}

// checkWord refuses a value that is none of the legal words, the first of
// which is the remedy.
func (c *Config) checkWord(option, value string, legal ...string) *Refusal {
	if slices.Contains(legal, value) {
		return nil
	}
	who := "the Go service"
	if slices.Contains(listBindings(), c.Stack.Binding) {
		who = c.Stack.Binding + "@go"
	}
	axis := option[strings.LastIndex(option, ".")+1:]
	return &Refusal{option, fmt.Sprintf("%s serves %s, not %q", who, strings.Join(legal, " and "), value),
		fmt.Sprintf("use %s=%s", axis, strings.Join(legal, " or "+axis+"="))}
}
