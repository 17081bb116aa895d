package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/coder/websocket"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	calendarpb "wirelab/services/go/calendarpb"
	chargingpb "wirelab/services/go/chargingpb"
	"wirelab/services/go/internal/codec"
	"wirelab/services/go/internal/contract"
	"wirelab/services/go/internal/soap"
	petclinicpb "wirelab/services/go/petclinicpb"
	recordspb "wirelab/services/go/recordspb"
	streampb "wirelab/services/go/streampb"
	transferpb "wirelab/services/go/transferpb"
)

// selfCallTimeout comes on top of the injected delay.
const selfCallTimeout = 20 * time.Second

// selfCalls are the requests that a service makes to itself; they change nothing.
var selfCalls = map[string]struct {
	operation string
	request   proto.Message
}{
	"petclinic": {"GetPetType", &petclinicpb.GetPetTypeRequest{Id: 1}},
	"transfer":  {"Hello", &transferpb.HelloRequest{}},
	"charging":  {"CreditControl", &chargingpb.CreditControlRequest{Id: 1}},
	"calendar":  {"Entries", &calendarpb.EntriesRequest{Owner: "nobody", Day: 1}},
	"records":   {"CountAllocations", &recordspb.CountAllocationsRequest{}},
	"stream":    {"Feed", &streampb.FeedRequest{Count: 1, Pattern: "constant"}},
}

// caller calls one operation over a stack, like any other client.
type caller func(ctx context.Context, operation *contract.Operation, request proto.Message) (proto.Message, error)

// callSelf makes one call over the service's own address and stack, so that
// `ready` is printed by a service that has answered a real call.
func callSelf(ctx context.Context, config *Config, of *contract.Contract, at string, security *security) error {
	timeout := selfCallTimeout
	if delay := config.Faults.DelayUs; delay != nil {
		timeout += time.Duration(*delay) * time.Microsecond
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	own := selfCalls[of.Name]
	operation := &of.Operations[of.Index(own.operation)]
	call := bindings[config.Stack.Binding].caller(config, of, at, security)
	answer, err := call(ctx, operation, own.request)
	if err != nil {
		return fmt.Errorf("the service could not call itself: %w", err)
	}
	if operation.Stream != nil {
		return nil // the item has times, which no other call would answer
	}
	expected, err := operation.Answer(own.request)
	if err == nil && !proto.Equal(answer, expected) {
		err = errors.New("the service answered its own call with another message than its contract does")
	}
	return err
}

// newTransport reaches the service at its address, over its transport.
func newTransport(config *Config, at string, security *security) *http.Transport {
	kind, where := network(at)
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, kind, where)
		},
		Protocols: new(http.Protocols),
	}
	if security != nil {
		transport.TLSClientConfig = security.client
	}
	http2 := config.Stack.Transport == "http/2"
	transport.Protocols.SetHTTP1(!http2)
	transport.Protocols.SetHTTP2(http2 && security != nil)
	transport.Protocols.SetUnencryptedHTTP2(http2 && security == nil)
	return transport
}

// locate is the URL of a path of the service.
func locate(transport *http.Transport, path string) string {
	if transport.TLSClientConfig != nil {
		return "https://localhost" + path
	}
	return "http://localhost" + path
}

// encodeRequest returns the bytes of a message.
func encodeRequest(form codec.Codec, request proto.Message) ([]byte, error) {
	encoded, err := form.Encode(request)
	if err != nil {
		return nil, err
	}
	var content bytes.Buffer
	_, err = encoded.WriteTo(&content)
	return content.Bytes(), err
}

// exchange makes one request and reads its reply, which must be of status 200.
func exchange(ctx context.Context, transport *http.Transport, method, path string, header http.Header, content []byte) ([]byte, error) {
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, method, locate(transport, path), bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	request.Header = header
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(response.Body)
	err = errors.Join(err, response.Body.Close())
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %s: %.200s", response.Status, text)
	}
	return text, err
}

func restCaller(config *Config, of *contract.Contract, transport *http.Transport) caller {
	form := restCodec(config, of)
	return func(ctx context.Context, operation *contract.Operation, request proto.Message) (proto.Message, error) {
		method, path := restPlace(of, operation)
		path = fillPath(path, request)
		var content []byte
		header := http.Header{"Accept": form.MediaTypes[:1]}
		if operation.Stream != nil {
			header.Set("Accept", streamFormats[config.Stack.Binding].mediaType)
		}
		if method == http.MethodPost {
			encoded, err := encodeRequest(form, request)
			if err != nil {
				return nil, err
			}
			content = encoded
			header.Set("Content-Type", form.ContentType)
		}
		text, err := exchange(ctx, transport, method, path, header, content)
		if err != nil {
			return nil, err
		}
		if operation.Stream != nil {
			text = streamFormats[config.Stack.Binding].firstMessage(text)
		}
		reply := operation.NewReply()
		return reply, form.Decode(text, reply)
	}
}

// websocketCaller makes one feed of one item on a connection of its own.
func websocketCaller(config *Config, of *contract.Contract, transport *http.Transport) caller {
	form, kind := restCodec(config, of), messageKinds[config.Stack.Codec]
	return func(ctx context.Context, operation *contract.Operation, request proto.Message) (proto.Message, error) {
		content, err := encodeRequest(form, request)
		if err != nil {
			return nil, err
		}
		conn, _, err := websocket.Dial(ctx, locate(transport, websocketPath(of, operation)),
			&websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
		if err != nil {
			return nil, err
		}
		defer conn.CloseNow()
		if err := conn.Write(ctx, kind, content); err != nil {
			return nil, err
		}
		item, err := readOnlyMessage(ctx, conn)
		if err != nil {
			return nil, err
		}
		reply := operation.NewReply()
		return reply, errors.Join(form.Decode(item, reply), conn.Close(websocket.StatusNormalClosure, ""))
	}
}

// readOnlyMessage reads a stream of one message.
func readOnlyMessage(ctx context.Context, conn *websocket.Conn) ([]byte, error) {
	_, message, err := conn.Read(ctx)
	if err != nil {
		return nil, err
	}
	_, end, err := conn.Read(ctx)
	if err == nil && len(end) > 0 {
		err = fmt.Errorf("answered with %.200q, and then %.200q instead of an end", message, end)
	}
	return message, err
}

func soapCaller(config *Config, of *contract.Contract, transport *http.Transport) caller {
	endpoint := newEndpoint(config, of)
	return func(ctx context.Context, operation *contract.Operation, request proto.Message) (proto.Message, error) {
		header := http.Header{"Content-Type": {endpoint.Version.ContentType()}}
		if endpoint.Version == soap.V12 {
			header.Set("Content-Type", endpoint.Version.ContentType()+`; action="`+endpoint.Action(operation)+`"`)
		} else {
			header.Set("SOAPAction", `"`+endpoint.Action(operation)+`"`)
		}
		text, err := exchange(ctx, transport, http.MethodPost, soapPath(of), header, endpoint.Request(operation, request))
		if err != nil {
			return nil, err
		}
		return endpoint.ReadReply(text, operation)
	}
}

func grpcCaller(_ *Config, of *contract.Contract, at string, security *security) caller {
	kind, where := network(at)
	trust := insecure.NewCredentials()
	if security != nil {
		trust = credentials.NewTLS(security.client)
	}
	dial := func(ctx context.Context, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, kind, where)
	}
	return func(ctx context.Context, operation *contract.Operation, request proto.Message) (proto.Message, error) {
		connection, err := grpc.NewClient("passthrough:///localhost", grpc.WithTransportCredentials(trust),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageBytesMax)), grpc.WithContextDialer(dial))
		if err != nil {
			return nil, err
		}
		reply := operation.NewReply()
		err = invoke(ctx, connection, "/"+of.GRPCService()+"/"+operation.Name, operation, request, reply)
		return reply, errors.Join(err, connection.Close())
	}
}

// invoke reads one reply, also of a stream of the service.
func invoke(ctx context.Context, connection *grpc.ClientConn, method string, operation *contract.Operation,
	request, reply proto.Message) error {
	if operation.Stream == nil {
		return connection.Invoke(ctx, method, request, reply)
	}
	stream, err := connection.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method)
	if err == nil {
		err = stream.SendMsg(request)
	}
	if err == nil {
		err = stream.CloseSend()
	}
	if err == nil {
		err = stream.RecvMsg(reply)
	}
	if err == nil {
		err = readEnd(stream)
	}
	return err
}

// readEnd waits for the end of a stream of one message, so that its call has been counted.
func readEnd(stream grpc.ClientStream) error {
	err := stream.RecvMsg(&streampb.Item{})
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil:
		return errors.New("the service answered with more messages than it was asked for")
	}
	return err
}
