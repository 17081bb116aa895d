package main

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// TestUploadsInXML: large files, and the limit; in the body, in both styles of
// an envelope, and compressed.
func TestUploadsInXML(t *testing.T) {
	rest, rpc := stack("rest", "xml", "http/1.1"), stack("soap", "soap-rpc", "http/2").with("stack.soap", "1.2").with("stack.compression", "zstd")
	for _, row := range []struct {
		config options
		bytes  int
	}{{rest, 25_000_000}, {rest, 64<<20 + 1}, {rpc, 5_000_000}} {
		data := pattern(row.bytes)
		answer := uploadXML(t, start(t, row.config), row.config, base64.StdEncoding.EncodeToString(data))
		want, status := fmt.Sprintf("<length>%d</length><sha256>%s</sha256>", row.bytes, digest(data)), 200
		if row.bytes > 64<<20 {
			want, status = "at most 67108864 bytes", 400
		}
		if answer.StatusCode != status || !strings.Contains(string(answer.body), want) {
			t.Errorf("%d bytes: status %d, %.300s", row.bytes, answer.StatusCode, answer.body)
		}
	}
}

func uploadXML(t *testing.T, p *process, config options, data string) *reply {
	t.Helper()
	if config["stack.binding"] == "rest" {
		return mustCall(t, p, p.transport, "POST", "/transfer/upload",
			[]byte(`<UploadRequest xmlns="urn:wirelab:transfer:v1"><data>`+data+`</data></UploadRequest>`), "Content-Type", "application/xml")
	}
	body := pack(t, "zstd", makeEnvelope("1.2", "", `<n:upload xmlns:n="urn:wirelab:transfer:v1"><data>`+data+`</data></n:upload>`))
	return mustCall(t, p, p.transport, "POST", "/transfer/soap", body,
		append(soapHeader("1.2", "urn:wirelab:transfer:v1#Upload"), "Content-Encoding", "zstd")...)
}

// TestHostileXML: refused with the binding's own error, and the service stays up.
func TestHostileXML(t *testing.T) {
	const ns = `xmlns="urn:wirelab:transfer:v1"`
	config := stack("rest", "xml", "http/1.1")
	web, soap := start(t, config), start(t, soapOnly)
	for name, inner := range map[string]string{
		"depth bomb":    strings.Repeat("<a>", 1_000_000),
		"attributes":    "<a" + strings.Repeat(` b=""`, 1_000_000) + "/>",
		"entity":        "<batch>&lol;</batch>",
		"document type": "<!DOCTYPE a><batch>b</batch>",
		"cut off":       "<batch>b",
	} {
		text := "<SubmitRequest " + ns + ">" + inner + "</SubmitRequest>"
		answer := mustCall(t, web, "http/1.1", "POST", "/transfer/submit", []byte(text), "Content-Type", "application/xml")
		if answer.StatusCode != 400 || parseXML(t, answer.body).XMLName.Local != "Error" {
			t.Errorf("%s: status %d, %.200s", name, answer.StatusCode, answer.body)
		}
		answer = mustCall(t, soap, "http/1.1", "POST", "/transfer/soap", []byte(makeEnvelope("1.1", "", text)), soapHeader("1.1", "")...)
		if fault := readFault(t, answer, "1.1"); answer.StatusCode != 500 || fault.code != "Client" {
			t.Errorf("%s: status %d, %+v", name, answer.StatusCode, fault)
		}
	}
	if err := hello(web, config); err != nil {
		t.Error(err)
	}
	if err := hello(soap, soapOnly); err != nil {
		t.Error(err)
	}
}

// TestWeightsThatAreNotFinite: XML can say them, and the contract refuses them.
func TestWeightsThatAreNotFinite(t *testing.T) {
	p := start(t, stack("rest", "xml", "http/1.1").with("contract", "calendar"))
	for _, weight := range []string{"INF", "-INF", "NaN"} {
		text := `<BookRequest xmlns="urn:wirelab:calendar:v1"><owner>o</owner><day>1</day><title>t</title><weight>` + weight + `</weight></BookRequest>`
		answer := mustCall(t, p, "http/1.1", "POST", "/calendar/book", []byte(text), "Content-Type", "application/xml")
		if answer.StatusCode != 400 || !strings.Contains(string(answer.body), "weight must be finite") {
			t.Errorf("%s: status %d, %s", weight, answer.StatusCode, answer.body)
		}
	}
}
