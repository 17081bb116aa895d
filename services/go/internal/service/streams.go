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
	if err == nil {
		err = messages.end()
	}
	switch {
	case err == nil:
		return nil
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
	lines   *bufio.Reader
	line    []byte
	flusher *http.ResponseController
	// packed compresses messages into w; nil: they are written as they are.
	packed compression.Writer
	// received: the client's only message was handed out.
	received bool
	sent     int
	event    bytes.Buffer
}

func (r *rest) openMessages(w http.ResponseWriter, request *http.Request,
	operation *contract.Operation) (*httpMessages, error) {
	messages := &httpMessages{rest: r, operation: operation, w: w, request: request,
		flusher: http.NewResponseController(w)}
	if operation.Stream.FromClient {
		unpacked, err := r.unpack(request, request.Body)
		if err != nil {
			return messages, err
		}
		messages.lines = bufio.NewReader(unpacked)
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
	return m.readLine()
}

// readLine is the next line, the last of which may lack its end. It is valid until the next call.
func (m *httpMessages) readLine() ([]byte, error) {
	m.line = m.line[:0]
	for {
		part, err := m.lines.ReadSlice('\n')
		m.line = append(m.line, part...)
		switch {
		case len(m.line) > lineBytesMax:
			return nil, &httpError{http.StatusRequestEntityTooLarge,
				"a line has at most " + strconv.Itoa(lineBytesMax) + " bytes"}
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(m.line) > 0:
			err = nil
		}
		return m.line, err
	}
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
	if m.sent == 0 {
		m.beginReply()
	}
	if err := m.encodeEvent(encoded); err != nil {
		return err
	}
	m.sent++
	return m.write(m.event.Bytes())
}

func (m *httpMessages) beginReply() {
	header := m.w.Header()
	header.Set("Content-Type", streamFormats[m.rest.binding].mediaType)
	header.Set("Cache-Control", "no-store")
	if m.rest.choosesCoding(header, m.request) {
		m.packed = m.rest.coding.Writer(m.w)
	}
}

// write sends a message, with flush=library when the buffers of net/http are full: 2 kB per
// reply and 4 kB per connection of HTTP/1.1, 4 kB per stream of HTTP/2.
func (m *httpMessages) write(message []byte) error {
	if m.packed != nil {
		if _, err := m.packed.Write(message); err != nil {
			return err
		}
		if err := m.packed.Flush(); err != nil {
			return err
		}
	} else if _, err := m.w.Write(message); err != nil {
		return err
	}
	if !m.rest.flushes {
		return nil
	}
	return m.flusher.Flush()
}

// end writes what ends a compressed stream. A stream that fails gives no compressor back.
func (m *httpMessages) end() error {
	if m.packed == nil {
		return nil
	}
	return m.packed.Close()
}

// encodeEvent makes one piece of a message and what the binding has around it: a line of JSON, or an event of SSE.
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

// firstMessage is the first message of a reply that is a stream.
func (f streamFormat) firstMessage(body []byte) []byte {
	first, _, _ := strings.Cut(string(body), f.after)
	if f.before != nil {
		first = strings.TrimPrefix(first, f.before(0))
	}
	return []byte(first)
}
