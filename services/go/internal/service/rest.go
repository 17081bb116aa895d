package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"wirelab/services/go/internal/transfer"
)

// Media types of the codecs, and what Content-Type says of them.
const (
	textType     = "text/plain"
	textTypeFull = "text/plain; charset=utf-8"
	jsonType     = "application/json"
)

// chunkedAboveBytes: without Content-Length, a larger body goes out in chunks;
// net/http holds that much back and sets the length where it has seen the end.
const chunkedAboveBytes = 2048

// rest serves the contract with package net/http.
type rest struct {
	server    *http.Server
	mux       *http.ServeMux
	mediaType string
	// setLength: Content-Length is set on every reply; else net/http sets it
	// where it can see the end of a short body, and sends chunks otherwise.
	setLength bool
	gzip      *gzipPool // nil: no compression
	calls     *Calls
	text      string
	textBytes []byte // the text again, for HelloBytes
}

func newREST(config *Config, calls *Calls, text string) *rest {
	r := &rest{
		mediaType: textType,
		setLength: config.Stack.EndOfMessage == "content-length",
		calls:     calls,
		text:      text,
	}
	if config.Stack.Codec == "json" {
		r.mediaType, r.textBytes = jsonType, []byte(text)
	}
	if config.Stack.Compression == "gzip" {
		r.gzip = &gzipPool{}
	}
	r.routes()
	r.server = &http.Server{Handler: r, Protocols: new(http.Protocols)}
	if config.Stack.Transport == "http/2" {
		r.server.Protocols.SetUnencryptedHTTP2(true)
		r.server.HTTP2 = http2Windows(config.Socket)
	} else {
		r.server.Protocols.SetHTTP1(true)
	}
	return r
}

func http2Windows(socket Socket) *http.HTTP2Config {
	windows := &http.HTTP2Config{}
	if socket.H2Window != nil {
		windows.MaxReceiveBufferPerStream = *socket.H2Window
		windows.MaxReceiveBufferPerConnection = *socket.H2Window
	}
	return windows
}

func (r *rest) routes() {
	r.mux = http.NewServeMux()
	r.mux.HandleFunc("/", r.notFound)
	if r.mediaType == textType {
		r.route(http.MethodGet, "/transfer/hello", transfer.Hello, r.helloText)
		return
	}
	r.route(http.MethodGet, "/transfer/hello", transfer.Hello, r.helloJSON)
	r.route(http.MethodGet, "/transfer/hello-bytes", transfer.HelloBytes, r.helloBytes)
	r.route(http.MethodPost, "/transfer/submit", transfer.Submit, r.submit)
	r.route(http.MethodPost, "/transfer/upload", transfer.Upload, r.upload)
}

// operation answers one request, or says with which error it is to be answered.
type operation func(http.ResponseWriter, *http.Request) error

func (r *rest) route(method, path string, name transfer.Operation, serve operation) {
	r.mux.HandleFunc(path, func(w http.ResponseWriter, request *http.Request) {
		if request.Method != method {
			w.Header().Set("Allow", method)
			r.fail(w, request, http.StatusMethodNotAllowed, path+" takes "+method+" only")
			return
		}
		call := r.calls.Begin(name)
		call.End(r.serve(w, request, serve))
	})
}

// ServeHTTP answers a path that ServeMux would redirect to a cleaner spelling
// as unknown, which is what the contract says of it.
func (r *rest) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if path := request.URL.Path; strings.Contains(path, "//") || strings.Contains(path, "/.") {
		r.notFound(w, request)
		return
	}
	r.mux.ServeHTTP(w, request)
}

func (r *rest) notFound(w http.ResponseWriter, request *http.Request) {
	r.fail(w, request, http.StatusNotFound, "no such path: "+request.URL.Path)
}

func (r *rest) serve(w http.ResponseWriter, request *http.Request, serve operation) error {
	err := r.negotiate(request)
	if err == nil {
		err = serve(w, request)
	}
	if err == nil {
		return nil
	}
	status := http.StatusBadRequest
	if rejected := new(httpError); errors.As(err, &rejected) {
		status = rejected.status
	}
	r.fail(w, request, status, err.Error())
	return err
}

// httpError is an error that HTTP has a status of its own for.
type httpError struct {
	status int
	text   string
}

func (e *httpError) Error() string { return e.text }

func (r *rest) negotiate(request *http.Request) error {
	if !accepts(request.Header, r.mediaType) {
		return &httpError{http.StatusNotAcceptable, "this service answers in " + r.mediaType}
	}
	if request.Method == http.MethodPost && !hasMediaType(request.Header, r.mediaType) {
		return &httpError{http.StatusUnsupportedMediaType, "this service reads " + r.mediaType}
	}
	return nil
}

// body is what a reply carries; *bytes.Reader and *bytes.Buffer are bodies.
type body interface {
	io.WriterTo
	Len() int
}

// textBody is written by fmt.Fprint, which copies it once. io.WriteString would
// feed it to net/http in pieces of 2 KiB, each of which costs system calls: at
// 3 MB that took about three times the CPU. What the study's service called is
// not printed; the rate it reached at 3 MB speaks for this one.
type textBody string

func (t textBody) Len() int { return len(t) }

// WriteTo implements io.WriterTo.
func (t textBody) WriteTo(w io.Writer) (int64, error) {
	n, err := fmt.Fprint(w, string(t))
	return int64(n), err
}

// helloText writes the text as a string, as the study's service did.
func (r *rest) helloText(w http.ResponseWriter, request *http.Request) error {
	r.reply(w, request, http.StatusOK, textBody(r.text))
	return nil
}

// fail answers with an error in the service's codec.
func (r *rest) fail(w http.ResponseWriter, request *http.Request, status int, text string) {
	if r.mediaType == jsonType {
		text = errorJSON(text)
	}
	r.reply(w, request, status, textBody(text))
}

// reply sends a body in the service's media type. A reply that cannot be sent
// any more is logged: its caller has seen the connection break.
func (r *rest) reply(w http.ResponseWriter, request *http.Request, status int, content body) {
	header := w.Header()
	header.Set("Content-Type", r.mediaType)
	if r.mediaType == textType {
		header.Set("Content-Type", textTypeFull)
	}
	content, err := r.pack(header, request, content)
	if err == nil {
		if r.setLength {
			header.Set("Content-Length", strconv.Itoa(content.Len()))
		}
		w.WriteHeader(status)
		_, err = content.WriteTo(w)
	}
	if err != nil && !errors.Is(err, http.ErrBodyNotAllowed) {
		log.Printf("%s %s: reply not sent: %v", request.Method, request.URL.Path, err)
	}
}

// pack compresses a body where service and request allow it.
func (r *rest) pack(header http.Header, request *http.Request, content body) (body, error) {
	if r.gzip == nil {
		return content, nil
	}
	header.Set("Vary", "Accept-Encoding")
	if !acceptsGzip(request.Header) {
		return content, nil
	}
	header.Set("Content-Encoding", "gzip")
	return r.gzip.compress(content)
}

func (r *rest) serveOn(listener net.Listener) error {
	if err := r.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (r *rest) stop(grace time.Duration) {
	patience, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if r.server.Shutdown(patience) != nil {
		_ = r.server.Close() // what is cut off here has had its grace
	}
}
