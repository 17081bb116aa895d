package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"wirelab/services/go/internal/transfer"
	pb "wirelab/services/go/transferpb"
)

// codings are the compressions with a writer and a reader of each.
var codings = map[string]struct {
	writer func(io.Writer) (io.WriteCloser, error)
	reader func(io.Reader) (io.Reader, error)
}{
	"gzip": {
		func(to io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(to), nil },
		func(from io.Reader) (io.Reader, error) { return gzip.NewReader(from) },
	},
	"zstd": {
		func(to io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(to) },
		func(from io.Reader) (io.Reader, error) { return zstd.NewReader(from) },
	},
}

func pack(t *testing.T, coding, text string) []byte {
	t.Helper()
	var packed bytes.Buffer
	writer, err := codings[coding].writer(&packed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(writer, text); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func unpack(t *testing.T, coding string, packed []byte) string {
	t.Helper()
	reader, err := codings[coding].reader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestCompressedReplies(t *testing.T) {
	for coding := range codings {
		other := map[string]string{"gzip": "zstd", "zstd": "gzip"}[coding]
		p := start(t, restText.with("stack.compression", coding).with("store.hello_bytes", 150_000))
		for accept, packed := range map[string]bool{coding: true, "br, " + coding + ";q=0.5": true, "*": true,
			"identity": false, coding + ";q=0, *": false, "": false, other: false} {
			answer := mustCall(t, p, "http/1.1", "GET", "/transfer/hello", nil, "Accept-Encoding", accept)
			if isPacked := answer.Header.Get("Content-Encoding") == coding; isPacked != packed {
				t.Errorf("Accept-Encoding %q: packed %v", accept, isPacked)
			}
			if answer.ContentLength != int64(len(answer.body)) || answer.Header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("content-length %d of %d, %v", answer.ContentLength, len(answer.body), answer.Header)
			}
			text := string(answer.body)
			if packed {
				// Six bits a letter.
				if len(answer.body) > 150_000*4/5 {
					t.Errorf("%s made %d bytes of 150000 letters of base64", coding, len(answer.body))
				}
				text = unpack(t, coding, answer.body)
			}
			if text != transfer.Text(150_000) {
				t.Errorf("Accept-Encoding %q: another text", accept)
			}
		}
	}
}

func TestNoCompressionUnlessConfigured(t *testing.T) {
	p := start(t, restText)
	answer := mustCall(t, p, "http/1.1", "GET", "/transfer/hello", nil, "Accept-Encoding", "gzip, zstd")
	if answer.Header.Get("Content-Encoding") != "" || string(answer.body) != "Hello, wirelab" {
		t.Errorf("%v %q", answer.Header, answer.body)
	}
}

// batches are the same request in every codec that has one.
var batches = map[string]string{
	"application/json": `{"batch":"b"}`,
	"application/xml":  `<SubmitRequest xmlns="urn:wirelab:transfer:v1"><batch>b</batch></SubmitRequest>`,
	"text/xml": `<S:Envelope xmlns:S="http://schemas.xmlsoap.org/soap/envelope/"><S:Body>` +
		`<SubmitRequest xmlns="urn:wirelab:transfer:v1"><batch>b</batch></SubmitRequest></S:Body></S:Envelope>`,
}

func TestCompressedRequests(t *testing.T) {
	stacks := map[string]options{"application/json": restJSON, "application/xml": stack("rest", "xml", "http/1.1"), "text/xml": soapOnly}
	for mediaType, config := range stacks {
		path, malformed := "/transfer/submit", 400
		if mediaType == "text/xml" {
			path, malformed = "/transfer/soap", 500
		}
		for coding := range codings {
			p := start(t, config.with("stack.compression", coding))
			for name, row := range map[string]struct {
				body   []byte
				coding string
				status int
			}{
				"packed":       {pack(t, coding, batches[mediaType]), coding, 200},
				"packed again": {pack(t, coding, batches[mediaType]), strings.ToUpper(coding), 200},
				"plain":        {[]byte(batches[mediaType]), "identity", 200},
				"not packed":   {[]byte(batches[mediaType]), coding, malformed},
				"cut off":      {pack(t, coding, batches[mediaType])[:20], coding, malformed},
				"brotli":       {[]byte(batches[mediaType]), "br", 415},
			} {
				t.Run(mediaType+" "+coding+" "+name, func(t *testing.T) {
					answer := mustCall(t, p, "http/1.1", "POST", path, row.body, "Content-Type", mediaType, "Content-Encoding", row.coding)
					if answer.StatusCode != row.status {
						t.Errorf("status %d, want %d: %s", answer.StatusCode, row.status, answer.body)
					}
				})
			}
		}
	}
}

// TestBombs: what unpacks to more than a body may have is refused, and the
// service stays up.
func TestBombs(t *testing.T) {
	for coding := range codings {
		bomb := pack(t, coding, strings.Repeat(" ", 160<<20))
		p := start(t, restJSON.with("stack.compression", coding))
		answer := mustCall(t, p, "http/1.1", "POST", "/transfer/submit", bomb, "Content-Type", "application/json", "Content-Encoding", coding)
		if answer.StatusCode != 413 {
			t.Errorf("%s: status %d: %s", coding, answer.StatusCode, answer.body)
		}
		if err := hello(p, restJSON); err != nil {
			t.Errorf("%s: %v", coding, err)
		}
		client := connect(t, start(t, grpcOnly.with("stack.compression", coding)))
		_, err := client.Upload(t.Context(), &pb.UploadRequest{Data: make([]byte, 160<<20)}, grpc.UseCompressor(coding))
		checkStatus(t, err, codes.ResourceExhausted, "larger than max")
		if _, err := client.Hello(t.Context(), &pb.HelloRequest{}); err != nil {
			t.Errorf("%s: %v", coding, err)
		}
	}
}
