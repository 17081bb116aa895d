package service

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/contract"
)

// connectServer serves a contract with connect-go. Its handlers would answer gRPC and gRPC-Web
// and both codecs; what the stack does not have is refused before.
type connectServer struct {
	*web
	calls *Calls
	codec connectCodec
}

func newConnect(config *Config, of *contract.Contract, calls *Calls, security *tls.Config) *connectServer {
	s := &connectServer{calls: calls, codec: connectCodecs[config.Stack.Codec]}
	options := []connect.HandlerOption{
		connect.WithReadMaxBytes(messageBytesMax),
		connect.WithCodec(s.codec),
	}
	if config.Stack.Compression == "none" {
		// By default, handlers read and write gzip.
		options = append(options, connect.WithCompression("gzip", nil, nil))
	}
	mux := http.NewServeMux()
	for i := range of.Operations {
		if operation := &of.Operations[i]; connectServes(operation) {
			procedure := connectPath(of, operation)
			mux.Handle(procedure, s.onlyOwnType(operation, s.handler(procedure, i, operation, options)))
		}
	}
	s.web = newWeb(config, security, mux)
	return s
}

// connectServes reports whether an operation is served: the streams of transfer are not.
func connectServes(operation *contract.Operation) bool {
	return operation.Stream == nil || operation.NewRequest != nil
}

func connectPath(of *contract.Contract, operation *contract.Operation) string {
	return "/" + of.GRPCService() + "/" + operation.Name
}

// contentType is that of an operation's requests and replies.
func (s *connectServer) contentType(operation *contract.Operation) string {
	if operation.Stream != nil {
		return "application/connect+" + s.codec.name
	}
	return "application/" + s.codec.name
}

// onlyOwnType refuses what is not of the stack's codec (Connect protocol, Unary-Request and
// Streaming-Request).
func (s *connectServer) onlyOwnType(operation *contract.Operation, handler http.Handler) http.Handler {
	own := s.contentType(operation)
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if request.Method == http.MethodPost && !hasMediaType(request.Header, own) {
			w.Header().Set("Accept-Post", own)
			w.WriteHeader(http.StatusUnsupportedMediaType)
			return
		}
		handler.ServeHTTP(w, request)
	})
}

// handler is what protoc-gen-connect-go would generate, made from the contract's table.
func (s *connectServer) handler(procedure string, index int, operation *contract.Operation,
	options []connect.HandlerOption) http.Handler {
	options = append(options[:len(options):len(options)],
		connect.WithRequestInitializer(func(_ connect.Spec, message any) error {
			message.(*anyMessage).Message = operation.NewRequest()
			return nil
		}))
	stream := operation.Stream
	switch {
	case stream == nil:
		return connect.NewUnaryHandler(procedure, s.unary(index, operation), options...)
	case !stream.FromClient:
		return connect.NewServerStreamHandler(procedure, s.serverStream(index, stream), options...)
	case !stream.FromServer:
		return connect.NewClientStreamHandler(procedure, s.clientStream(index, stream), options...)
	}
	return connect.NewBidiStreamHandler(procedure, s.bidiStream(index, stream), options...)
}

func (s *connectServer) unary(index int, operation *contract.Operation) func(context.Context,
	*connect.Request[anyMessage]) (*connect.Response[anyMessage], error) {
	return func(_ context.Context, request *connect.Request[anyMessage]) (*connect.Response[anyMessage], error) {
		call := s.calls.Begin(index)
		reply, err := operation.Answer(request.Msg.Message)
		call.End(err)
		if err != nil {
			return nil, connectError(err)
		}
		return connect.NewResponse(&anyMessage{reply}), nil
	}
}

func (s *connectServer) serverStream(index int, stream *contract.Stream) func(context.Context,
	*connect.Request[anyMessage], *connect.ServerStream[anyMessage]) error {
	return func(ctx context.Context, request *connect.Request[anyMessage],
		replies *connect.ServerStream[anyMessage]) error {
		return s.serveStream(index, stream, &connectMessages{ctx: ctx, conn: replies.Conn(),
			request: request.Msg.Message, hasOneRequest: true})
	}
}

func (s *connectServer) clientStream(index int, stream *contract.Stream) func(context.Context,
	*connect.ClientStream[anyMessage]) (*connect.Response[anyMessage], error) {
	return func(ctx context.Context, requests *connect.ClientStream[anyMessage]) (*connect.Response[anyMessage], error) {
		messages := &connectMessages{ctx: ctx, conn: requests.Conn(), hasOneReply: true}
		if err := s.serveStream(index, stream, messages); err != nil {
			return nil, err
		}
		return connect.NewResponse(&anyMessage{messages.reply}), nil
	}
}

func (s *connectServer) bidiStream(index int, stream *contract.Stream) func(context.Context,
	*connect.BidiStream[anyMessage, anyMessage]) error {
	return func(ctx context.Context, messages *connect.BidiStream[anyMessage, anyMessage]) error {
		return s.serveStream(index, stream, &connectMessages{ctx: ctx, conn: messages.Conn()})
	}
}

func (s *connectServer) serveStream(index int, stream *contract.Stream, messages *connectMessages) error {
	call := s.calls.Begin(index)
	err := stream.Serve(messages)
	call.End(err)
	return connectError(err)
}

// connectMessages are the messages of a stream.
type connectMessages struct {
	ctx  context.Context
	conn connect.StreamingHandlerConn
	// request is the client's only message, if it sends one, until it is handed out.
	request       proto.Message
	hasOneRequest bool
	// reply is the service's only message, if it sends one.
	reply       proto.Message
	hasOneReply bool
}

// Context implements contract.Messages.
func (m *connectMessages) Context() context.Context { return m.ctx }

// RecvMsg implements contract.Messages.
func (m *connectMessages) RecvMsg(into any) error {
	if !m.hasOneRequest {
		return m.conn.Receive(into)
	}
	if m.request == nil {
		return io.EOF
	}
	proto.Merge(into.(proto.Message), m.request)
	m.request = nil
	return nil
}

// SendMsg implements contract.Messages: it returns when the kernel, or the window of the
// client's HTTP/2 stream, has taken the message.
func (m *connectMessages) SendMsg(message any) error {
	if m.hasOneReply {
		m.reply = message.(proto.Message)
		return nil
	}
	return m.conn.Send(message)
}

// connectError is the error that a call is answered with; those of the library stay as they are.
func connectError(err error) error {
	var application contract.ApplicationError
	switch {
	case errors.Is(err, contract.ErrNotFound):
		return connect.NewError(connect.CodeNotFound, contract.ErrNotFound)
	case errors.As(err, &application):
		return connect.NewError(connect.CodeInvalidArgument, application)
	case errors.Is(err, contract.ErrUnavailable):
		return connect.NewError(connect.CodeUnavailable, contract.ErrUnavailable)
	}
	return err
}

// anyMessage stands for the generated type of a message, which handlers made from a table do
// not have. The codecs see the message within.
type anyMessage struct{ proto.Message }

// connectCodec is a codec of connect-go, but that it counts the items of lists before they are
// decoded.
type connectCodec struct {
	name      string
	check     func(of proto.Message, encoded []byte) error
	marshal   func(to []byte, message proto.Message) ([]byte, error)
	unmarshal func(encoded []byte, into proto.Message) error
}

// connectCodecs by the names of the axis, with the options that connect-go gives the libraries.
var connectCodecs = map[string]connectCodec{
	"protobuf": {"proto", contract.CheckProtobuf, proto.MarshalOptions{}.MarshalAppend, proto.Unmarshal},
	"json": {"json", func(_ proto.Message, encoded []byte) error { return contract.CheckJSON(encoded) },
		protojson.MarshalOptions{}.MarshalAppend, protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal},
}

// Name implements connect.Codec.
func (c connectCodec) Name() string { return c.name }

// Marshal implements connect.Codec.
func (c connectCodec) Marshal(message any) ([]byte, error) { return c.MarshalAppend(nil, message) }

// MarshalAppend lets connect-go write into a buffer of its pool.
func (c connectCodec) MarshalAppend(to []byte, message any) ([]byte, error) {
	of, ok := message.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is not a message", message)
	}
	return c.marshal(to, of)
}

// Unmarshal implements connect.Codec.
func (c connectCodec) Unmarshal(encoded []byte, message any) error {
	into, ok := message.(proto.Message)
	if !ok {
		return fmt.Errorf("%T is not a message", message)
	}
	if err := c.check(into, encoded); err != nil {
		return err
	}
	return c.unmarshal(encoded, into)
}

// connectCaller makes one call, also of a stream of the service with one message.
func connectCaller(config *Config, of *contract.Contract, transport *http.Transport) caller {
	return func(ctx context.Context, operation *contract.Operation, request proto.Message) (proto.Message, error) {
		defer transport.CloseIdleConnections()
		client := connect.NewClient[anyMessage, anyMessage](&http.Client{Transport: transport},
			locate(transport, connectPath(of, operation)), connect.WithCodec(connectCodecs[config.Stack.Codec]),
			connect.WithResponseInitializer(func(_ connect.Spec, message any) error {
				message.(*anyMessage).Message = operation.NewReply()
				return nil
			}))
		only := connect.NewRequest(&anyMessage{request})
		if operation.Stream == nil {
			response, err := client.CallUnary(ctx, only)
			if err != nil {
				return nil, err
			}
			return response.Msg.Message, nil
		}
		return callOnlyMessage(client.CallServerStream(ctx, only))
	}
}

// callOnlyMessage reads a stream of one message to its end, so that its call has been counted.
func callOnlyMessage(stream *connect.ServerStreamForClient[anyMessage], err error) (proto.Message, error) {
	if err != nil {
		return nil, err
	}
	if !stream.Receive() {
		return nil, errors.Join(errors.New("the service answered without a message"), stream.Err(), stream.Close())
	}
	message := stream.Msg().Message
	if stream.Receive() {
		err = errors.New("the service answered with more messages than it was asked for")
	}
	return message, errors.Join(err, stream.Err(), stream.Close())
}
