package service

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/codec"
	"wirelab/services/go/internal/contract"
)

// closeTime is the part of the grace that is kept for telling clients that the service ends.
const closeTime = 100 * time.Millisecond

// messageKinds are the kinds of messages by codec.
var messageKinds = map[string]websocket.MessageType{
	"json":     websocket.MessageText,
	"protobuf": websocket.MessageBinary,
}

var (
	// errEnd is the end of a client's stream. It is not io.EOF, which the library wraps
	// where a connection breaks.
	errEnd = errors.New("the end of a stream")
	// errOver is not the end of a stream for its operation, whatever broke the connection.
	errOver = errors.New("the connection is over")
	// errNoRequest answers an end where a request is due.
	errNoRequest = errors.New("a stream begins with its request, not with an end")
)

// texts are buffers for messages of clients; a connection that waits has none.
var texts = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// websocketServer serves the streams of a contract, each at a path of its own, on connections
// that carry any number of them one after another.
type websocketServer struct {
	// rest answers what is not upgraded, in JSON whatever the messages' codec is.
	*rest
	messages codec.Codec
	kind     websocket.MessageType
	accepted *websocket.AcceptOptions

	mu   sync.Mutex
	open map[*websocketConnection]struct{}
	// stopping is closed when the service is to end.
	stopping chan struct{}
}

func newWebsocket(config *Config, of *contract.Contract, calls *Calls,
	security *tls.Config) *websocketServer {
	json, err := codec.New("json", of.Namespace())
	if err != nil {
		panic(err) // the table has that row
	}
	s := &websocketServer{messages: restCodec(config, of), kind: messageKinds[config.Stack.Codec],
		accepted: acceptOptions(config.Stack.Compression),
		open:     map[*websocketConnection]struct{}{}, stopping: make(chan struct{})}
	s.rest = &rest{binding: config.Stack.Binding, codec: json, calls: calls,
		errorBody: func(_ int, text string) codec.Body { return json.ErrorBody(text) }}
	mux := http.NewServeMux()
	mux.HandleFunc("/", s.notFound)
	for i := range of.Operations {
		if of.Operations[i].Stream != nil {
			mux.HandleFunc(websocketPath(of, &of.Operations[i]), s.upgrade(of, i))
		}
	}
	s.web = newWeb(config, security, s.onlyCleanPaths(mux))
	return s
}

// acceptOptions agree to permessage-deflate where the stack has it. Messages of every length are
// then compressed: by default the library leaves those below 128 bytes as they are, which most
// items are.
func acceptOptions(compression string) *websocket.AcceptOptions {
	if compression != "permessage-deflate" {
		return &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled}
	}
	return &websocket.AcceptOptions{CompressionMode: websocket.CompressionContextTakeover,
		CompressionThreshold: 1}
}

func websocketPath(of *contract.Contract, operation *contract.Operation) string {
	return "/" + of.Name + "/" + hyphenate(operation.Name)
}

// upgrade makes a connection of WebSocket of a request, and serves it to its end.
func (s *websocketServer) upgrade(of *contract.Contract, index int) http.HandlerFunc {
	return func(w http.ResponseWriter, request *http.Request) {
		if request.Method != http.MethodGet {
			s.refuseMethod(w, request, http.MethodGet)
			return
		}
		shaken := &handshake{ResponseWriter: w}
		conn, err := websocket.Accept(shaken, request, s.accepted)
		if err != nil {
			s.fail(w, request, &httpError{shaken.status, err.Error()})
			return
		}
		conn.SetReadLimit(lineBytesMax)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		c := &websocketConnection{server: s, conn: conn, index: index,
			operation: &of.Operations[index], ctx: ctx, cancel: cancel, turn: make(chan struct{}, 1)}
		status := websocket.CloseError{Code: websocket.StatusGoingAway}
		if s.add(c) {
			status = closeStatus(c.serve())
			s.remove(c)
		}
		_ = conn.Close(status.Code, status.Reason) // of no effect where the client is gone
	}
}

// handshake keeps the status with which the library refuses a request, and drops its text,
// which is not JSON.
type handshake struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (h *handshake) WriteHeader(status int) {
	if status == http.StatusSwitchingProtocols {
		h.ResponseWriter.WriteHeader(status)
		return
	}
	h.status = status
}

// Write implements http.ResponseWriter.
func (h *handshake) Write(text []byte) (int, error) { return len(text), nil }

// Unwrap is how the library reaches the connection.
func (h *handshake) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// add reports false when the service is to end.
func (s *websocketServer) add(c *websocketConnection) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.stopping:
		return false
	default:
		s.open[c] = struct{}{}
		return true
	}
}

func (s *websocketServer) remove(c *websocketConnection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
}

// stop closes every connection when its stream has ended, or shortly before the grace has:
// net/http does not know of them any more.
func (s *websocketServer) stop(grace time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	cutOff, cancelCutOff := context.WithTimeout(ctx, grace-closeTime)
	defer cancelCutOff()
	var ending sync.WaitGroup
	ending.Go(func() { s.web.stop(grace) })
	s.mu.Lock()
	close(s.stopping)
	for c := range s.open {
		ending.Go(func() { c.goAway(cutOff) })
	}
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		ending.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done(): // a client that does not answer is cut off
	}
}

// check refuses a message by its kind and its characters, which the library does not check.
func (s *websocketServer) check(kind websocket.MessageType, text []byte) error {
	switch {
	case kind == websocket.MessageText && len(text) == 0:
		return errEnd
	case kind != s.kind:
		return websocket.CloseError{Code: websocket.StatusUnsupportedData,
			Reason: "messages of codec " + s.messages.Name + " are of kind " + s.kind.String()}
	case kind == websocket.MessageText && !utf8.Valid(text):
		return websocket.CloseError{Code: websocket.StatusInvalidFramePayloadData,
			Reason: "the text is not UTF-8"}
	}
	return nil
}

// closeStatus is with what a connection is closed after an error. The library has then sent
// the status of most errors, but not where a frame of the client is not masked.
func closeStatus(err error) (status websocket.CloseError) {
	switch {
	case errors.As(err, &status):
	case errors.Is(err, websocket.ErrMessageTooBig):
		status.Code = websocket.StatusMessageTooBig
	default:
		status.Code = websocket.StatusProtocolError
	}
	return status
}

// received is a message of the client, or errEnd, or why the connection is over.
type received struct {
	text *bytes.Buffer
	err  error
}

func (r received) isOver() bool { return r.err != nil && !errors.Is(r.err, errEnd) }

// websocketConnection carries streams of one operation. It reads a message when one is asked
// for, so that the kernel holds up a client that is too fast. While the service sends a feed,
// it reads one message ahead, and so learns at once of a client that is gone.
type websocketConnection struct {
	server    *websocketServer
	conn      *websocket.Conn
	index     int
	operation *contract.Operation
	// ctx ends with the connection.
	ctx    context.Context
	cancel context.CancelFunc
	// turn holds a token while a stream runs.
	turn chan struct{}
	// ahead has the next message, or will have it; nil: it is not read yet.
	ahead chan received
	// hasEnd: the end of the client's stream has been read.
	hasEnd bool
	// broken is why the connection can be used no more.
	broken error
}

// serve carries streams until the connection is over; it returns why.
func (c *websocketConnection) serve() error {
	for {
		err := c.serveStream()
		if err == nil {
			err = c.dropRest()
		}
		if err != nil {
			return err
		}
	}
}

// serveStream waits for the first message of a stream and carries it. The call begins with
// that message, and has ended when the client has the stream's end.
func (c *websocketConnection) serveStream() error {
	first := c.next()
	if first.isOver() {
		return first.err
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-c.server.stopping:
		return websocket.CloseError{Code: websocket.StatusGoingAway}
	}
	c.ahead = make(chan received, 1)
	c.ahead <- first
	call := c.server.calls.Begin(c.index)
	err := c.operation.Stream.Serve(c)
	call.End(err)
	switch {
	case c.broken != nil:
		return c.broken
	case c.ctx.Err() != nil:
		return c.next().err // the message ahead
	}
	return c.end(err)
}

// end ends the service's side of a stream, which may have failed.
func (c *websocketConnection) end(problem error) error {
	if problem != nil {
		answer := c.server.codec.ErrorBody(problem.Error())
		if err := c.write(websocket.MessageText, answer); err != nil {
			return err
		}
	}
	return c.conn.Write(context.Background(), websocket.MessageText, nil)
}

// dropRest reads what the client still sends of a stream that was refused.
func (c *websocketConnection) dropRest() error {
	for c.operation.Stream.FromClient && !c.hasEnd {
		message := c.next()
		if message.isOver() {
			return message.err
		}
		c.hasEnd = message.err != nil
		recycle(message.text)
	}
	c.hasEnd = false
	return nil
}

// Context implements contract.Messages.
func (c *websocketConnection) Context() context.Context { return c.ctx }

// RecvMsg implements contract.Messages.
func (c *websocketConnection) RecvMsg(into any) error {
	message := c.next()
	switch {
	case message.isOver():
		c.broken = message.err
		return errOver
	case message.err == nil:
	case c.operation.Stream.FromClient:
		c.hasEnd = true
		return io.EOF
	default:
		return errNoRequest
	}
	err := c.server.messages.Decode(message.text.Bytes(), into.(proto.Message))
	recycle(message.text)
	if err == nil && !c.operation.Stream.FromClient {
		c.readAhead()
	}
	return err
}

// SendMsg implements contract.Messages: it returns when the kernel has taken the message.
func (c *websocketConnection) SendMsg(message any) error {
	encoded, err := c.server.messages.Encode(message.(proto.Message))
	if err != nil {
		return err
	}
	c.broken = c.write(c.server.kind, encoded)
	return c.broken
}

// write sends a message in one frame.
func (c *websocketConnection) write(kind websocket.MessageType, body codec.Body) error {
	text := texts.Get().(*bytes.Buffer)
	defer texts.Put(text)
	text.Reset()
	if _, err := body.WriteTo(text); err != nil {
		return err
	}
	return c.conn.Write(context.Background(), kind, text.Bytes())
}

// next is the next message.
func (c *websocketConnection) next() received {
	if ahead := c.ahead; ahead != nil {
		c.ahead = nil
		return <-ahead
	}
	return c.read()
}

func (c *websocketConnection) readAhead() {
	ahead := make(chan received, 1)
	c.ahead = ahead
	go func() {
		message := c.read()
		if message.isOver() {
			c.cancel()
		}
		ahead <- message
	}()
}

// read waits for a message. The library closes a connection whose context ends, so that it
// gets none that does.
func (c *websocketConnection) read() received {
	kind, message, err := c.conn.Reader(context.Background())
	if err != nil {
		return received{err: err}
	}
	text := texts.Get().(*bytes.Buffer)
	text.Reset()
	if _, err = text.ReadFrom(message); err == nil {
		err = c.server.check(kind, text.Bytes())
	}
	if err != nil {
		recycle(text)
		return received{err: err}
	}
	return received{text: text}
}

func recycle(text *bytes.Buffer) {
	if text != nil {
		texts.Put(text)
	}
}

// goAway closes the connection when no stream runs, or at the latest when ctx ends.
func (c *websocketConnection) goAway(ctx context.Context) {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
	}
	_ = c.conn.Close(websocket.StatusGoingAway, "") // of no effect where the client is gone
}
