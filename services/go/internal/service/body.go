package service

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// requestBytesMax bounds a request's body, as received and decompressed. It
// lets the largest upload through, in base64, and one that is too large by the
// contract be answered by the contract.
const requestBytesMax = 128 << 20

// readBody is the request's body, its content coding undone.
func (s *web) readBody(w http.ResponseWriter, request *http.Request) ([]byte, error) {
	limited := http.MaxBytesReader(w, request.Body, requestBytesMax)
	var text bytes.Buffer
	text.Grow(int(min(max(request.ContentLength, 0), requestBytesMax)) + bytes.MinRead)
	unpacked, err := s.unpack(request, limited)
	if err == nil {
		_, err = text.ReadFrom(io.LimitReader(unpacked, requestBytesMax+1))
	}
	if errors.As(err, new(*http.MaxBytesError)) || text.Len() > requestBytesMax {
		return nil, &httpError{http.StatusRequestEntityTooLarge,
			"a body has at most " + strconv.Itoa(requestBytesMax) + " bytes"}
	}
	return text.Bytes(), err
}

// unpack undoes the request's content coding.
func (s *web) unpack(request *http.Request, packed io.Reader) (io.Reader, error) {
	// x-gzip is gzip by an older name (RFC 9110 section 8.4.1.3).
	name := strings.TrimPrefix(strings.ToLower(request.Header.Get("Content-Encoding")), "x-")
	switch {
	case name == "" || name == "identity":
		return packed, nil
	case s.coding == nil || name != s.coding.Name():
		return nil, &httpError{http.StatusUnsupportedMediaType,
			"this service does not read content coding " + name}
	}
	return s.coding.Reader(packed)
}

// httpError is an error that HTTP has a status of its own for.
type httpError struct {
	status int
	text   string
}

func (e *httpError) Error() string { return e.text }

// statusOf is the status that an error has in HTTP.
func statusOf(err error) int {
	if rejected := new(httpError); errors.As(err, &rejected) {
		return rejected.status
	}
	return http.StatusBadRequest
}
