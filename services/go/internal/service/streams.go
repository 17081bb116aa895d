package service

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/codec"
	"wirelab/services/go/internal/compression"
	"wirelab/services/go/internal/contract"
)

// lineBytesMax bounds a line of a request: a text of the greatest length, each byte of
// which is escaped with six characters, and the other fields.
const lineBytesMax = 6*65_536 + 1024

// streamFormat is how the messages of a stream are written into the body of a reply.
type streamFormat struct {
	mediaType string
	// before and after are around every message; nil: nothing is before it.
	before func(index int) string
	after  string
}

// streamFormats by binding. A message in JSON has no line feed.
var streamFormats = map[string]streamFormat{
	"rest": {mediaType: "application/x-ndjson", after: "\n"},
	"sse": {mediaType: "text/event-stream", after: "\n\n",
		before: func(index int) string { return "id: " + strconv.Itoa(index) + "\ndata: " }},
}

// serves reports whether the binding can carry an operation. Messages of the client are
// lines, which only REST has.
func (r *rest) serves(operation *contract.Operation) bool {
	if stream := operation.Stream; stream != nil && stream.OverHTTP {
		return !stream.FromClient || r.binding == "rest"
	}
	return r.codec.Serves(operation)
}

// mediaTypes are those of an operation's reply, and of its request.
func (r *rest) mediaTypes(operation *contract.Operation) (reply string, request []string) {
	reply, request = r.codec.MediaTypes[0], r.codec.MediaTypes
	if stream := operation.Stream; stream != nil {
		if stream.FromServer {
			reply = streamFormats[r.binding].mediaType
		}
		if stream.FromClient {
			request = []string{streamFormats[r.binding].mediaType}
		}
	}
	return reply, request
}

// serveStream carries a stream; it returns the error with which the stream ended.
func (r *rest) serveStream(w http.ResponseWriter, request *http.Request, operation *contract.Operation) error {
	if err := r.negotiate(request, operation); err != nil {
		r.fail(w, request, err)
		return err
	}
	messages, err := r.openMessages(w, request, operation)
	if err == nil {
		err = operation.Stream.Serve(messages)
	}
	switch {
	case err == nil:
		return messages.close()
	case messages.sent == 0 && request.Context().Err() == nil:
		r.fail(w, request, err)
		return err
	}
	// The client must not take what it has for the whole.
	panic(http.ErrAbortHandler)
}

// httpMessages are the messages of a stream in the bodies of a request and its reply.
type httpMessages struct {
	rest      *rest
	operation *contract.Operation
	w         http.ResponseWriter
	request   *http.Request
	// lines of the client; nil where its only message is the whole body.
	lines *bufio.Reader
	// body takes the messages of the service; nil before the first.
	body streamWriter
	// received: the client's only message was handed out.
	received bool
	sent     int
	event    bytes.Buffer
}

// streamWriter hands over what was written when it is flushed.
type streamWriter interface {
	io.Writer
	Flush() error
}

// responseWriter is a body without a content coding.
type responseWriter struct {
	http.ResponseWriter
	*http.ResponseController
}

func (r *rest) openMessages(w http.ResponseWriter, request *http.Request,
	operation *contract.Operation) (*httpMessages, error) {
	messages := &httpMessages{rest: r, operation: operation, w: w, request: request}
	if operation.Stream.FromClient {
		unpacked, err := r.unpack(request, request.Body)
		if err != nil {
			return messages, err
		}
		messages.lines = bufio.NewReaderSize(unpacked, lineBytesMax)
	}
	return messages, nil
}

// Context implements contract.Messages.
func (m *httpMessages) Context() context.Context { return m.request.Context() }

// RecvMsg implements contract.Messages.
func (m *httpMessages) RecvMsg(into any) error {
	text, err := m.receive()
	if err != nil {
		return err
	}
	return m.rest.codec.Decode(text, into.(proto.Message))
}

func (m *httpMessages) receive() ([]byte, error) {
	if m.lines == nil {
		if m.received {
			return nil, io.EOF
		}
		m.received = true
		return m.rest.readBody(m.w, m.request)
	}
	line, err := m.lines.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, &httpError{http.StatusRequestEntityTooLarge,
			"a line has at most " + strconv.Itoa(lineBytesMax) + " bytes"}
	}
	if errors.Is(err, io.EOF) && len(line) > 0 {
		err = nil // the last line without its end
	}
	return line, err
}

// SendMsg implements contract.Messages: it returns when the kernel, or the window of the
// client's HTTP/2 stream, has taken the message.
func (m *httpMessages) SendMsg(message any) error {
	encoded, err := m.rest.codec.Encode(message.(proto.Message))
	if err != nil {
		return err
	}
	if !m.operation.Stream.FromServer {
		m.sent++
		m.rest.reply(m.w, m.request, http.StatusOK, m.rest.codec.ContentType, encoded)
		return nil
	}
	if m.body == nil {
		m.begin()
	}
	if err := m.encodeEvent(encoded); err != nil {
		return err
	}
	m.sent++
	if _, err := m.body.Write(m.event.Bytes()); err != nil {
		return err
	}
	return m.body.Flush()
}

// encodeEvent makes one piece of a message and what is around it, so that it is written at once.
func (m *httpMessages) encodeEvent(message codec.Body) error {
	format := streamFormats[m.rest.binding]
	m.event.Reset()
	if format.before != nil {
		m.event.WriteString(format.before(m.sent))
	}
	if _, err := message.WriteTo(&m.event); err != nil {
		return err
	}
	m.event.WriteString(format.after)
	return nil
}

func (m *httpMessages) begin() {
	header := m.w.Header()
	header.Set("Content-Type", streamFormats[m.rest.binding].mediaType)
	header.Set("Cache-Control", "no-store")
	m.body = responseWriter{m.w, http.NewResponseController(m.w)}
	if coding := m.rest.chooseCoding(header, m.request); coding != nil {
		m.body = codedWriter{coding.Writer(m.body), m.body}
	}
}

// close ends the body of a stream that ended well.
func (m *httpMessages) close() error {
	if coded, ok := m.body.(codedWriter); ok {
		return coded.Close()
	}
	return nil
}

// codedWriter compresses; what is flushed can be decompressed by itself.
type codedWriter struct {
	compression.WriteFlushCloser
	to streamWriter
}

// Flush implements streamWriter.
func (w codedWriter) Flush() error {
	if err := w.WriteFlushCloser.Flush(); err != nil {
		return err
	}
	return w.to.Flush()
}

// firstMessage is the first message of a reply that is a stream.
func (f streamFormat) firstMessage(body []byte) []byte {
	first, _, _ := strings.Cut(string(body), f.after)
	if f.before != nil {
		first = strings.TrimPrefix(first, f.before(0))
	}
	return []byte(first)
}
