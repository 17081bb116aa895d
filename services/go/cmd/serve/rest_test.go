package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"wirelab/services/go/internal/transfer"
)

// reply is an answer over HTTP, its body as sent.
type reply struct {
	*http.Response
	body []byte
}

func dialer(p *process) func(context.Context) (net.Conn, error) {
	network, where := "tcp", p.Address
	if path, isUnix := strings.CutPrefix(p.Address, "unix:"); isUnix {
		network, where = "unix", path
	}
	return func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, where)
	}
}

// newHTTPClient reaches a service over a version of HTTP; its connections are its own.
func newHTTPClient(p *process, transport string) *http.Transport {
	dial := dialer(p)
	client := &http.Transport{
		DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		DisableCompression: true,
		Protocols:          new(http.Protocols),
		TLSClientConfig:    p.security,
	}
	client.Protocols.SetHTTP1(transport != "http/2")
	client.Protocols.SetHTTP2(transport == "http/2" && p.security != nil)
	client.Protocols.SetUnencryptedHTTP2(transport == "http/2" && p.security == nil)
	return client
}

// call makes one request on a connection of its own; header holds name and
// value in turn.
func call(p *process, transport, method, path string, body []byte, header ...string) (*reply, error) {
	client := newHTTPClient(p, transport)
	defer client.CloseIdleConnections()
	scheme := "http"
	if p.security != nil {
		scheme = "https"
	}
	request, err := http.NewRequest(method, scheme+"://localhost"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Add(header[i], header[i+1])
	}
	response, err := client.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(response.Body)
	return &reply{response, text}, errors.Join(err, response.Body.Close())
}

func mustCall(t *testing.T, p *process, transport, method, path string, body []byte, header ...string) *reply {
	t.Helper()
	answer, err := call(p, transport, method, path, body, header...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", method, path, err, p.stderr)
	}
	return answer
}

// hello calls Hello over whatever the service's binding.
func hello(p *process, config options) error {
	if config["stack.binding"] == "grpc" {
		return helloGRPC(p, config)
	}
	if config["stack.binding"] == "connect" {
		return helloConnect(p, config)
	}
	if config["contract"] == "stream" {
		return helloStream(p, config)
	}
	transport := config["stack.transport"].(string)
	method, path, body, header := "GET", "/transfer/hello", "", []string(nil)
	if config["stack.binding"] == "soap" {
		method, path, body, header = helloSOAP(config)
	}
	answer, err := call(p, transport, method, path, []byte(body), header...)
	if err != nil {
		return err
	}
	if answer.StatusCode != 200 || !bytes.Contains(answer.body, []byte("Hello, wirelab")) {
		return fmt.Errorf("status %d, body %q", answer.StatusCode, answer.body)
	}
	return nil
}

func TestHelloAsText(t *testing.T) {
	for _, bytes := range []int{0, 1, 14, 2047, 2048, 150_000, 3_000_000} {
		for _, transport := range []string{"http/1.1", "http/2"} {
			p := start(t, stack("rest", "text", transport).with("store.hello_bytes", bytes))
			answer := mustCall(t, p, transport, "GET", "/transfer/hello", nil)
			if string(answer.body) != transfer.Text(bytes) {
				t.Errorf("%d bytes over %s: another text, of %d bytes", bytes, transport, len(answer.body))
			}
			if kind := answer.Header.Get("Content-Type"); kind != "text/plain; charset=utf-8" {
				t.Errorf("content type %q", kind)
			}
			if answer.ContentLength != int64(bytes) || answer.TransferEncoding != nil {
				t.Errorf("content-length %d, coding %v", answer.ContentLength, answer.TransferEncoding)
			}
		}
	}
}

// TestEndOfMessageChunked: net/http sets the length of a body that it can hold
// back, and `set` states up to which size.
func TestEndOfMessageChunked(t *testing.T) {
	for bytes, chunked := range map[int]bool{14: false, 2048: false, 2049: true, 3_000_000: true} {
		p := start(t, restText.with("stack.end_of_message", "chunked").with("store.hello_bytes", bytes))
		if p.Set["end_of_message"] != "chunked" || p.Set["chunked_above_bytes"] != 2048.0 {
			t.Errorf("set %v", p.Set)
		}
		answer := mustCall(t, p, "http/1.1", "GET", "/transfer/hello", nil)
		if (answer.TransferEncoding != nil) != chunked || string(answer.body) != transfer.Text(bytes) {
			t.Errorf("%d bytes: coding %v, %d bytes", bytes, answer.TransferEncoding, len(answer.body))
		}
	}
}

func TestHTTP10IsAnswered(t *testing.T) {
	p := start(t, restText.with("store.hello_bytes", 150_000))
	conn, err := dialer(p)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /transfer/hello HTTP/1.0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(answer, []byte("Content-Length: 150000\r\n")) || !bytes.HasSuffix(answer, []byte(transfer.Text(150_000))) {
		t.Errorf("%.300q", answer)
	}
}

func TestHelloAsJSON(t *testing.T) {
	for _, transport := range []string{"http/1.1", "http/2"} {
		p := start(t, stack("rest", "json", transport).with("store.hello_bytes", 150_000))
		for path, want := range map[string]string{
			"/transfer/hello":       transfer.Text(150_000),
			"/transfer/hello-bytes": base64.StdEncoding.EncodeToString([]byte(transfer.Text(150_000))),
		} {
			answer := mustCall(t, p, transport, "GET", path, nil, "Accept", "application/json")
			if string(answer.body) != `{"text":"`+want+`"}` {
				t.Errorf("%s: %.60s", path, answer.body)
			}
			if kind := answer.Header.Get("Content-Type"); kind != "application/json" {
				t.Errorf("content type %q", kind)
			}
			if answer.ContentLength != int64(len(answer.body)) {
				t.Errorf("content-length %d of %d", answer.ContentLength, len(answer.body))
			}
		}
	}
}

// jsonRow is one request in JSON and what must come back.
type jsonRow struct {
	path, body string
	status     int
	want       string
}

var jsonRows = map[string]jsonRow{
	"accepted and refused": {"/transfer/submit",
		`{"batch":"b<1>","records":[{"id":9223372036854775807,"quantity":2147483647,"item":"ü","remark":""},` +
			`{"id":-9223372036854775808,"quantity":0,"item":"","remark":"r"},{"id":3,"quantity":1,"item":""},` +
			`{"id":4,"quantity":-5,"item":"x"},{"id":5,"quantity":2147483647,"item":"y","unknown":[1]}]}`,
		200, `{"batch":"b<1>","accepted":2,"quantity_total":4294967294,"refused":[` +
			`{"id":-9223372036854775808,"reason":"quantity must be positive"},` +
			`{"id":3,"reason":"item must not be empty"},{"id":4,"reason":"quantity must be positive"}]}`},
	"no records":            {"/transfer/submit", `{"batch":"b"}`, 200, `{"batch":"b","accepted":0,"quantity_total":0,"refused":[]}`},
	"empty batch":           {"/transfer/submit", `{"batch":"","records":[]}`, 400, `{"error":"batch must not be empty"}`},
	"nothing given":         {"/transfer/submit", `{}`, 400, `{"error":"batch must not be empty"}`},
	"too many records":      {"/transfer/submit", `{"batch":"b","records":[` + strings.Repeat("{},", 100_000) + `{}]}`, 400, `{"error":"at most 100000 records"}`},
	"empty batch, too many": {"/transfer/submit", `{"records":[` + strings.Repeat("{},", 100_000) + `{}]}`, 400, `{"error":"batch must not be empty"}`},
	"too long a list":       {"/transfer/submit", `{"batch":"b","records":[` + strings.Repeat("{},", 200_000) + `{}]}`, 400, `{"error":"a list holds at most 200000 items"}`},
	"a file": {"/transfer/upload", `{"data":"aGVsbG8="}`, 200,
		`{"length":5,"sha256":"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"}`},
	"an empty file": {"/transfer/upload", `{}`, 200,
		`{"length":0,"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}`},
	"not JSON":           {"/transfer/submit", `{"batch":`, 400, ""},
	"empty body":         {"/transfer/submit", ``, 400, ""},
	"more than JSON":     {"/transfer/submit", `{"batch":"b"} x`, 400, ""},
	"not UTF-8":          {"/transfer/submit", "{\"batch\":\"\xff\"}", 400, ""},
	"int32 overflow":     {"/transfer/submit", `{"batch":"b","records":[{"quantity":2147483648}]}`, 400, ""},
	"int64 overflow":     {"/transfer/submit", `{"batch":"b","records":[{"id":9223372036854775808}]}`, 400, ""},
	"fraction":           {"/transfer/submit", `{"batch":"b","records":[{"quantity":1.5}]}`, 400, ""},
	"number as a string": {"/transfer/submit", `{"batch":"b","records":[{"id":"1"}]}`, 400, ""},
	"not base64":         {"/transfer/upload", `{"data":"%%%"}`, 400, ""},
	"base64, no padding": {"/transfer/upload", `{"data":"aGVsbG8"}`, 400, ""},
}

func TestJSONOperations(t *testing.T) {
	for _, transport := range []string{"http/1.1", "http/2"} {
		p := start(t, stack("rest", "json", transport))
		for name, row := range jsonRows {
			t.Run(name, func(t *testing.T) {
				answer := mustCall(t, p, transport, "POST", row.path, []byte(row.body), "Content-Type", "application/json")
				checkJSON(t, answer, row)
			})
		}
	}
}

func checkJSON(t *testing.T, answer *reply, row jsonRow) {
	t.Helper()
	if answer.StatusCode != row.status {
		t.Errorf("status %d, want %d: %.200s", answer.StatusCode, row.status, answer.body)
	}
	if kind := answer.Header.Get("Content-Type"); kind != "application/json" {
		t.Errorf("content type %q", kind)
	}
	if row.want == "" {
		var problem struct{ Error string }
		if err := json.Unmarshal(answer.body, &problem); err != nil || problem.Error == "" {
			t.Errorf("no error in %s", answer.body)
		}
		return
	}
	var got, want any
	if err := json.Unmarshal(answer.body, &got); err != nil {
		t.Fatalf("%v in %.200s", err, answer.body)
	}
	if err := json.Unmarshal([]byte(row.want), &want); err != nil {
		t.Fatal(err)
	}
	// Compared as text too: a float64 does not hold every int64.
	if fmt.Sprint(got) != fmt.Sprint(want) || len(unescape(answer.body)) != len(row.want) {
		t.Errorf("got  %s\nwant %s", answer.body, row.want)
	}
}

// unescape undoes what encoding/json escapes for the sake of HTML.
func unescape(text []byte) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(text))
}

func TestUploadLimits(t *testing.T) {
	p := start(t, restJSON)
	for _, row := range []struct {
		bytes, status int
		want          string
	}{
		{25_000_000, 200, `{"length":25000000,`},
		{64 << 20, 200, `{"length":67108864,`},
		{64<<20 + 1, 400, `{"error":"at most 67108864 bytes"}`},
		{110 << 20, 413, `{"error":"a body has at most 134217728 bytes"}`},
	} {
		body := `{"data":"` + base64.StdEncoding.EncodeToString(make([]byte, row.bytes)) + `"}`
		answer := mustCall(t, p, "http/1.1", "POST", "/transfer/upload", []byte(body), "Content-Type", "application/json")
		if answer.StatusCode != row.status || !strings.HasPrefix(string(answer.body), row.want) {
			t.Errorf("%d bytes: status %d, %s", row.bytes, answer.StatusCode, answer.body)
		}
	}
}

func TestStatuses(t *testing.T) {
	submit, xmlBatch := []byte(`{"batch":"b"}`), []byte(`<SubmitRequest xmlns="urn:wirelab:transfer:v1"><batch>b</batch></SubmitRequest>`)
	services := map[string]*process{}
	for _, codec := range []string{"text", "json", "protobuf", "xml"} {
		for _, transport := range []string{"http/1.1", "http/2"} {
			services[codec+transport] = start(t, stack("rest", codec, transport))
		}
	}
	for name, row := range map[string]struct {
		codec, method, path string
		body                []byte
		header              []string
		status              int
	}{
		"unknown path":             {"json", "GET", "/transfer/helo", nil, nil, 404},
		"trailing slash":           {"json", "GET", "/transfer/hello/", nil, nil, 404},
		"double slash":             {"json", "GET", "//transfer/hello", nil, nil, 404},
		"dots":                     {"json", "GET", "/transfer/../transfer/hello", nil, nil, 404},
		"root":                     {"text", "GET", "/", nil, nil, 404},
		"no bytes as text":         {"text", "GET", "/transfer/hello-bytes", nil, nil, 404},
		"no batch as text":         {"text", "POST", "/transfer/submit", submit, nil, 404},
		"POST to hello":            {"text", "POST", "/transfer/hello", nil, nil, 405},
		"HEAD of hello":            {"json", "HEAD", "/transfer/hello", nil, nil, 405},
		"GET of submit":            {"json", "GET", "/transfer/submit", nil, nil, 405},
		"PUT to upload":            {"json", "PUT", "/transfer/upload", nil, nil, 405},
		"JSON from text":           {"text", "GET", "/transfer/hello", nil, []string{"Accept", "application/json"}, 406},
		"text from JSON":           {"json", "GET", "/transfer/hello", nil, []string{"Accept", "text/plain"}, 406},
		"weight 0":                 {"json", "GET", "/transfer/hello", nil, []string{"Accept", "application/json;q=0, */*"}, 406},
		"anything":                 {"json", "GET", "/transfer/hello", nil, []string{"Accept", "*/*"}, 200},
		"any text":                 {"text", "GET", "/transfer/hello", nil, []string{"Accept", "text/*;q=0.1"}, 200},
		"one of several":           {"json", "GET", "/transfer/hello", nil, []string{"Accept", "text/html", "Accept", "Application/JSON;q=0.5"}, 200},
		"query":                    {"json", "GET", "/transfer/hello?x=1", nil, nil, 200},
		"no type":                  {"json", "POST", "/transfer/submit", submit, nil, 415},
		"form":                     {"json", "POST", "/transfer/submit", submit, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415},
		"text to JSON":             {"json", "POST", "/transfer/submit", submit, []string{"Content-Type", "text/plain"}, 415},
		"JSON with a charset":      {"json", "POST", "/transfer/submit", submit, []string{"Content-Type", "application/json; charset=utf-8"}, 200},
		"406 before 415":           {"json", "POST", "/transfer/submit", submit, []string{"Accept", "text/xml", "Content-Type", "text/xml"}, 406},
		"XML":                      {"xml", "POST", "/transfer/submit", xmlBatch, []string{"Content-Type", "application/xml; charset=UTF-8"}, 200},
		"XML as text":              {"xml", "POST", "/transfer/submit", xmlBatch, []string{"Content-Type", "text/xml"}, 200},
		"XML to text":              {"xml", "GET", "/transfer/hello", nil, []string{"Accept", "text/xml"}, 406},
		"no type of XML":           {"xml", "POST", "/transfer/submit", xmlBatch, nil, 415},
		"JSON to XML":              {"xml", "POST", "/transfer/submit", submit, []string{"Content-Type", "application/json"}, 415},
		"JSON as XML":              {"xml", "POST", "/transfer/submit", submit, []string{"Content-Type", "application/xml"}, 400},
		"no path of charging":      {"xml", "POST", "/charging/credit", nil, []string{"Content-Type", "application/xml"}, 404},
		"no stream as XML":         {"xml", "POST", "/transfer/download", nil, []string{"Content-Type", "application/xml"}, 404},
		"protobuf":                 {"protobuf", "POST", "/transfer/submit", []byte("\n\x01b"), []string{"Content-Type", "application/x-protobuf"}, 200},
		"empty protobuf":           {"protobuf", "POST", "/transfer/submit", nil, []string{"Content-Type", "application/x-protobuf"}, 400},
		"JSON as protobuf":         {"protobuf", "POST", "/transfer/submit", submit, []string{"Content-Type", "application/x-protobuf"}, 400},
		"protobuf by another name": {"protobuf", "POST", "/transfer/submit", []byte("\n\x01b"), []string{"Content-Type", "application/protobuf"}, 415},
		"JSON from protobuf":       {"protobuf", "GET", "/transfer/hello", nil, []string{"Accept", "application/json"}, 406},
		"gzip where there's none":  {"json", "POST", "/transfer/submit", submit, []string{"Content-Type", "application/json", "Content-Encoding", "gzip"}, 415},
	} {
		for _, transport := range []string{"http/1.1", "http/2"} {
			t.Run(name, func(t *testing.T) {
				p := services[row.codec+transport]
				answer := mustCall(t, p, transport, row.method, row.path, row.body, row.header...)
				if answer.StatusCode != row.status {
					t.Errorf("status %d, want %d: %s", answer.StatusCode, row.status, answer.body)
				}
				if row.status == 405 && answer.Header.Get("Allow") == "" {
					t.Error("405 without Allow (RFC 9110 section 15.5.6)")
				}
				if isJSON := json.Valid(answer.body); row.method != "HEAD" && isJSON != (row.codec == "json") {
					t.Errorf("body %q of codec %s", answer.body, row.codec)
				}
			})
		}
	}
}

// TestOnlyTheConfiguredTransportIsServed: memory figures need that only the
// stack asked for runs.
func TestOnlyTheConfiguredTransportIsServed(t *testing.T) {
	for transport, other := range map[string]string{"http/1.1": "http/2", "http/2": "http/1.1"} {
		p := start(t, stack("rest", "text", transport))
		if answer, err := call(p, other, "GET", "/transfer/hello", nil); err == nil && answer.StatusCode == 200 {
			t.Errorf("a service of %s answered over %s", transport, other)
		}
	}
}
