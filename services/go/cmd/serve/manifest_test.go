package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"wirelab/services/go/internal/codec"
)

// offer is one entry of service.json.
type offer struct {
	Binding                                         string
	Codecs, Transports, Compression, SOAP, Security []string
	Sockets, EndOfMessage, Contracts, ServerOptions []string
}

// stack is one of the entry's, of contract stream where it has no other, else of transfer.
func (o offer) stack(codec, transport string) options {
	of := stack(o.Binding, codec, transport)
	if slices.Equal(o.Contracts, []string{"stream"}) {
		return of.with("contract", "stream")
	}
	return of
}

func readManifest(t *testing.T) []offer {
	t.Helper()
	text, err := os.ReadFile("../../service.json")
	if err != nil {
		t.Fatal(err)
	}
	var offers []offer
	document := decodeExactly(t, text).(map[string]any)
	for _, entry := range document["serves"].([]any) {
		fields := maps.Clone(document["defaults"].(map[string]any))
		maps.Copy(fields, entry.(map[string]any))
		list := func(key string) (words []string) {
			values, _ := fields[key].([]any)
			for _, value := range values {
				words = append(words, value.(string))
			}
			return words
		}
		codecs := list("codecs")
		if codecs == nil {
			codecs = codec.Full()
		}
		offers = append(offers, offer{Binding: fields["binding"].(string), Codecs: codecs,
			Transports: list("transports"), Compression: list("compression"), SOAP: list("soap"),
			Security: list("security"), Sockets: list("sockets"), EndOfMessage: list("end_of_message"),
			Contracts: list("contracts"), ServerOptions: list("server_options")})
	}
	return offers
}

// TestManifestIsTrue starts stacks with every word that service.json offers,
// and calls them.
func TestManifestIsTrue(t *testing.T) {
	authority := newAuthority(t)
	for _, offer := range readManifest(t) {
		for _, codec := range offer.Codecs {
			for _, transport := range offer.Transports {
				checkServes(t, nil, offer.stack(codec, transport))
			}
		}
		base := offer.stack(offer.Codecs[0], offer.Transports[0])
		for key, words := range map[string][]string{"stack.soap": offer.SOAP, "stack.compression": offer.Compression,
			"stack.end_of_message": offer.EndOfMessage} {
			for _, word := range words {
				checkServes(t, nil, base.with(key, word))
			}
		}
		for _, security := range offer.Security {
			if security != "none" {
				checkServes(t, authority, authority.configure(t, base, security))
			}
		}
		for _, contract := range offer.Contracts {
			stop(t, start(t, base.with("contract", contract)))
		}
		checkServes(t, nil, base.with("listen", "unix:"+filepath.Join(t.TempDir(), "s")))
		offer.checkOptions(t, base)
		if !slices.Equal(offer.Sockets, []string{"tcp", "unix"}) {
			t.Errorf("sockets %v", offer.Sockets)
		}
	}
}

// checkOptions tries every option with a transport that has it.
func (o offer) checkOptions(t *testing.T, base options) {
	t.Helper()
	rows := map[string]options{
		"nagle":       base.with("socket.nagle", true),
		"tcp_window":  base.with("socket.tcp_window", 65_536),
		"h2_window":   base.with("stack.transport", "http/2").with("socket.h2_window", 1<<20),
		"close_delay": base.with("stack.close_delay_ms", 1),
	}
	for _, name := range o.ServerOptions {
		config, known := rows[name]
		if !known {
			t.Fatalf("no test for option %s", name)
		}
		checkServes(t, nil, config)
	}
}

func checkServes(t *testing.T, authority *authority, config options) {
	t.Helper()
	p := start(t, config)
	if authority != nil {
		p.security = authority.client(t, config["stack.security"].(string))
	}
	if err := hello(p, config); err != nil {
		t.Errorf("%v: %v", config, err)
	}
	stop(t, p)
}
