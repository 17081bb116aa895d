package service

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"wirelab/services/go/internal/transfer"
)

// requestBytesMax bounds a request's body, as received and decompressed. It
// lets the largest upload through, in base64, and one that is too large by the
// contract be answered by the contract.
const requestBytesMax = 128 << 20

// The messages by the JSON mapping of contracts/README.md: encoding/json keeps
// all digits of an int64 and writes []byte as base64.
type (
	jsonHello struct {
		Text string `json:"text"`
	}
	jsonHelloBytes struct {
		Text []byte `json:"text"`
	}
	jsonRecord struct {
		ID       int64  `json:"id"`
		Quantity int32  `json:"quantity"`
		Item     string `json:"item"`
		Remark   string `json:"remark"`
	}
	jsonSubmit struct {
		Batch   string       `json:"batch"`
		Records []jsonRecord `json:"records"`
	}
	jsonRefusal struct {
		ID     int64  `json:"id"`
		Reason string `json:"reason"`
	}
	jsonSubmitted struct {
		Batch         string        `json:"batch"`
		Accepted      int32         `json:"accepted"`
		QuantityTotal int64         `json:"quantity_total"`
		Refused       []jsonRefusal `json:"refused"`
	}
	jsonUpload struct {
		Data []byte `json:"data"`
	}
	jsonUploaded struct {
		Length int64  `json:"length"`
		SHA256 string `json:"sha256"`
	}
)

// helloJSON encodes the text at every call: that is the codec's work.
func (r *rest) helloJSON(w http.ResponseWriter, request *http.Request) error {
	return r.replyJSON(w, request, jsonHello{r.text})
}

func (r *rest) helloBytes(w http.ResponseWriter, request *http.Request) error {
	return r.replyJSON(w, request, jsonHelloBytes{r.textBytes})
}

func (r *rest) submit(w http.ResponseWriter, request *http.Request) error {
	var batch jsonSubmit
	if err := r.readJSON(w, request, &batch); err != nil {
		return err
	}
	if err := transfer.CheckBatch(batch.Batch, len(batch.Records)); err != nil {
		return err
	}
	// Not nil, which would be written as null.
	reply := jsonSubmitted{Batch: batch.Batch, Refused: []jsonRefusal{}}
	for _, record := range batch.Records {
		if reason := transfer.RefusalReason(record.Quantity, record.Item); reason != "" {
			reply.Refused = append(reply.Refused, jsonRefusal{record.ID, reason})
			continue
		}
		reply.Accepted++
		reply.QuantityTotal += int64(record.Quantity)
	}
	return r.replyJSON(w, request, reply)
}

func (r *rest) upload(w http.ResponseWriter, request *http.Request) error {
	var file jsonUpload
	if err := r.readJSON(w, request, &file); err != nil {
		return err
	}
	length := int64(len(file.Data))
	if err := transfer.CheckUpload(length); err != nil {
		return err
	}
	return r.replyJSON(w, request, jsonUploaded{length, transfer.SHA256(file.Data)})
}

func (r *rest) replyJSON(w http.ResponseWriter, request *http.Request, message any) error {
	encoded, err := json.Marshal(message)
	if err != nil {
		return &httpError{http.StatusInternalServerError, err.Error()}
	}
	r.reply(w, request, http.StatusOK, bytes.NewReader(encoded))
	return nil
}

// errorJSON is the body of an error.
func errorJSON(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		quoted = []byte(strconv.QuoteToASCII(text))
	}
	return `{"error":` + string(quoted) + `}`
}

// readJSON decodes the request's body into message.
func (r *rest) readJSON(w http.ResponseWriter, request *http.Request, message any) error {
	text, err := r.readBody(w, request)
	if err != nil {
		return err
	}
	// encoding/json would put U+FFFD for what is not UTF-8 and go on with a
	// text that nobody sent.
	if !utf8.Valid(text) {
		return errors.New("the body is not UTF-8")
	}
	return json.Unmarshal(text, message)
}

func (r *rest) readBody(w http.ResponseWriter, request *http.Request) ([]byte, error) {
	limited := http.MaxBytesReader(w, request.Body, requestBytesMax)
	var text bytes.Buffer
	text.Grow(int(min(max(request.ContentLength, 0), requestBytesMax)) + bytes.MinRead)
	unpacked, err := r.unpack(request, limited)
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
func (r *rest) unpack(request *http.Request, packed io.Reader) (io.Reader, error) {
	switch coding := strings.ToLower(request.Header.Get("Content-Encoding")); {
	case coding == "" || coding == "identity":
		return packed, nil
	case r.gzip == nil || coding != "gzip" && coding != "x-gzip":
		return nil, &httpError{http.StatusUnsupportedMediaType,
			"this service does not read content coding " + coding}
	}
	unpacked, err := r.gzip.reader(packed)
	if err != nil {
		return nil, err
	}
	return unpacked, nil
}
