package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"service/compression"
	"service/values"
)

// bodyBytesMax bounds a request's body, as received and decompressed.
const bodyBytesMax = values.BodyBytesMax

// web serves REST and SOAP on net/http.
type web struct {
	server *http.Server
	path   string
	format codec
	coding compression.Coding // nil: none
	answer exchange
	isSOAP bool
}

func newWeb(of *options, answer exchange) *web {
	w := &web{path: "/call", format: codecs[of.codec], coding: compression.New(of.compression), answer: answer,
		isSOAP: of.binding == "soap"}
	if w.isSOAP {
		w.path = "/soap"
	}
	w.server = &http.Server{Handler: w, Protocols: new(http.Protocols)}
	if of.transport == "http/2" {
		w.server.Protocols.SetUnencryptedHTTP2(true)
	} else {
		w.server.Protocols.SetHTTP1(true)
	}
	return w
}

// ServeHTTP implements http.Handler.
func (s *web) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	reply, err := s.call(w, request)
	if err == nil {
		s.reply(w, request, http.StatusOK, s.format.contentType, reply)
		return
	}
	status, rejected := http.StatusBadRequest, new(httpError)
	if errors.As(err, &rejected) {
		status = rejected.status
	} else if s.isSOAP {
		s.reply(w, request, http.StatusInternalServerError, s.format.contentType, writeFault(err))
		return
	}
	s.reply(w, request, status, "text/plain; charset=utf-8", []byte(err.Error()))
}

// call is the body of the reply.
func (s *web) call(w http.ResponseWriter, request *http.Request) ([]byte, error) {
	switch {
	case request.URL.Path != s.path:
		return nil, &httpError{http.StatusNotFound, "no such path: " + request.URL.Path}
	case request.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		return nil, &httpError{http.StatusMethodNotAllowed, s.path + " takes POST only"}
	case !accepts(request.Header, s.format.mediaTypes[0]):
		return nil, &httpError{http.StatusNotAcceptable, "this service answers in " + s.format.mediaTypes[0]}
	case !hasMediaType(request.Header, s.format.mediaTypes...):
		return nil, &httpError{http.StatusUnsupportedMediaType, "this service reads " + strings.Join(s.format.mediaTypes, " and ")}
	}
	body, err := s.readBody(w, request)
	if err != nil {
		return nil, err
	}
	if s.isSOAP {
		if err := checkAction(request.Header); err != nil {
			return nil, err
		}
	}
	return s.answer(body)
}

// readBody is the request's body, its content coding undone.
func (s *web) readBody(w http.ResponseWriter, request *http.Request) ([]byte, error) {
	limited := http.MaxBytesReader(w, request.Body, bodyBytesMax)
	var body bytes.Buffer
	body.Grow(int(min(max(request.ContentLength, 0), bodyBytesMax)) + bytes.MinRead)
	unpacked, err := s.unpack(request, limited)
	if err == nil {
		_, err = body.ReadFrom(io.LimitReader(unpacked, bodyBytesMax+1))
	}
	if errors.As(err, new(*http.MaxBytesError)) || body.Len() > bodyBytesMax {
		return nil, &httpError{http.StatusRequestEntityTooLarge, "a body has at most " + strconv.Itoa(bodyBytesMax) + " bytes"}
	}
	return body.Bytes(), err
}

func (s *web) unpack(request *http.Request, packed io.Reader) (io.Reader, error) {
	// x-gzip is gzip by an older name (RFC 9110 section 8.4.1.3).
	name := strings.TrimPrefix(strings.ToLower(request.Header.Get("Content-Encoding")), "x-")
	switch {
	case name == "" || name == "identity":
		return packed, nil
	case s.coding == nil || name != s.coding.Name():
		return nil, &httpError{http.StatusUnsupportedMediaType, "this service does not read content coding " + name}
	}
	return s.coding.Reader(packed)
}

// reply sends a body, compressed where service and request allow it.
func (s *web) reply(w http.ResponseWriter, request *http.Request, status int, contentType string, body []byte) {
	header := w.Header()
	header.Set("Content-Type", contentType)
	if s.coding != nil {
		header.Set("Vary", "Accept-Encoding")
		if acceptsCoding(request.Header, s.coding.Name()) {
			packed, err := compression.Compress(s.coding, bytes.NewReader(body))
			if err != nil {
				log.Printf("reply not sent: %v", err)
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			header.Set("Content-Encoding", s.coding.Name())
			body = packed.Bytes()
		}
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil && !errors.Is(err, http.ErrBodyNotAllowed) {
		log.Printf("reply not sent: %v", err)
	}
}

func (s *web) serveOn(listener net.Listener) error {
	if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (s *web) stop(grace time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if s.server.Shutdown(ctx) != nil {
		_ = s.server.Close() // what is cut off here has had its grace
	}
}

// httpError is an error that HTTP has a status of its own for.
type httpError struct {
	status int
	text   string
}

func (e *httpError) Error() string { return e.text }

// accepts reports whether the Accept fields of a request allow a media type such
// as application/json; none at all allow every type. Of several ranges that
// match, the most specific decides (RFC 9110 section 12.5.1).
func accepts(header http.Header, mediaType string) bool {
	fields := header.Values("Accept")
	if len(fields) == 0 {
		return true
	}
	kind, _, _ := strings.Cut(mediaType, "/")
	best, allowed := 0, false
	for name, quality := range parseWeights(fields) {
		specificity := 0
		switch name {
		case mediaType:
			specificity = 3
		case kind + "/*":
			specificity = 2
		case "*/*":
			specificity = 1
		}
		if specificity > best {
			best, allowed = specificity, quality > 0
		}
	}
	return allowed
}

// acceptsCoding reports whether a request allows a reply in a content coding
// (RFC 9110 section 12.5.3).
func acceptsCoding(header http.Header, coding string) bool {
	qualities := parseWeights(header.Values("Accept-Encoding"))
	for _, name := range []string{coding, "x-" + coding, "*"} {
		if quality, named := qualities[name]; named {
			return quality > 0
		}
	}
	return false
}

// parseWeights reads a list such as `a, b;q=0.5` into names, in lower case, with
// their weights.
func parseWeights(fields []string) map[string]float64 {
	qualities := map[string]float64{}
	for _, field := range fields {
		for part := range strings.SplitSeq(field, ",") {
			name, parameters, _ := strings.Cut(part, ";")
			if name = strings.ToLower(strings.TrimSpace(name)); name != "" {
				qualities[name] = quality(parameters)
			}
		}
	}
	return qualities
}

// quality is the weight among parameters; 1 when there is none that can be read.
func quality(parameters string) float64 {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
		if weight, err := strconv.ParseFloat(value, 64); strings.EqualFold(name, "q") && err == nil {
			return weight
		}
	}
	return 1
}

// hasMediaType reports whether the request's body is declared to be of one of
// these types, parameters aside.
func hasMediaType(header http.Header, types ...string) bool {
	declared, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && slices.Contains(types, declared)
}
