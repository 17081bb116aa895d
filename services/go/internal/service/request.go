package service

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
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
// (RFC 9110 section 12.5.3). Without the field, any coding would be allowed,
// but a client that does not ask for one is not given it.
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
