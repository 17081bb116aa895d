package call

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/stats"
	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/transfer"
	transferpb "wirelab/services/go/transferpb"
)

// client makes the calls of one user, one at a time.
type client interface {
	// call makes one call and stamps it; it returns why the call failed.
	call(ctx context.Context, at *stamps) error
	close()
}

// reportedStamps are those that a library reports from goroutines of its own, of
// which some may still run when the call has ended.
type reportedStamps struct{ sent, flushed, firstByte atomic.Int64 }

func (r *reportedStamps) copyTo(at *stamps) {
	at.sent, at.flushed, at.firstByte = r.sent.Load(), r.flushed.Load(), r.firstByte.Load()
}

// library is how the calls of a stack are made.
type library struct {
	packages []string
	// stamps: where each one comes from.
	stamps map[string]string
	client func(group *Group, sockets *sockets) client
}

// defaultCodec is that of rest in the axis table.
const defaultCodec = "json"

// libraryOf finds it, and refuses a stack that it does not speak.
func libraryOf(group *Group) (*library, error) {
	stack := group.Stack
	if stack["binding"] == "rest" && stack["codec"] == "" {
		stack["codec"] = defaultCodec
	}
	for axis, able := range map[string][]string{
		"binding":     {"rest", "grpc"},
		"codec":       {"", "json", "protobuf", "text"},
		"transport":   {"", "http/1.1", "http/2"},
		"connection":  {"", "keep", "close"},
		"compression": {"", "none"}, "in_flight": {"", "1"}, "security": {"", "none"}, "socket": {"", "tcp"},
		"work": {"", "decode"}, "reply": {"", "two-way"},
	} {
		if !slices.Contains(able, stack[axis]) {
			return nil, fmt.Errorf("stack.%s: this caller has no %q", axis, stack[axis])
		}
	}
	if stack["binding"] == "grpc" {
		return &library{
			packages: []string{"google.golang.org/grpc", "google.golang.org/protobuf"},
			stamps: map[string]string{
				"intended": "schedule", "sent": "stats.OutHeader", "flushed": "stats.OutPayload",
				"first_byte": "stats.InHeader", "done": "the stub returned",
			},
			client: newGRPCClient,
		}, nil
	}
	used := []string{"net/http"}
	switch stack["codec"] {
	case "json":
		used = append(used, "encoding/json")
	case "protobuf":
		used = append(used, "google.golang.org/protobuf")
	}
	return &library{
		packages: used,
		stamps: map[string]string{
			"intended": "schedule", "sent": "httptrace.GotConn", "flushed": "httptrace.WroteRequest",
			"first_byte": "httptrace.GotFirstResponseByte", "done": "the body was read and decoded",
		},
		client: newRESTClient,
	}, nil
}

func closes(group *Group) bool { return group.Stack["connection"] == "close" }

// restClient is an http.Client of one user, with one connection.
type restClient struct {
	http   *http.Client
	url    string
	accept string
	text   string
	decode func(body []byte) (string, error)
	body   bytes.Buffer
}

func newRESTClient(group *Group, sockets *sockets) client {
	transport := &http.Transport{
		DialContext:        sockets.dial,
		MaxConnsPerHost:    1,
		DisableCompression: true,
		DisableKeepAlives:  closes(group),
		Protocols:          new(http.Protocols),
	}
	// h2c with prior knowledge (RFC 9113 section 3.3).
	transport.Protocols.SetUnencryptedHTTP2(group.Stack["transport"] == "http/2")
	transport.Protocols.SetHTTP1(group.Stack["transport"] != "http/2")
	path := map[string]string{"Hello": "hello", "HelloBytes": "hello-bytes"}[group.Workload.Operation]
	codec := group.Stack["codec"]
	accept := map[string]string{"json": "application/json", "protobuf": "application/x-protobuf"}[codec]
	if accept == "" {
		accept = "text/plain"
	}
	return &restClient{
		http:   &http.Client{Transport: transport},
		url:    "http://" + group.Target + "/transfer/" + path,
		accept: accept,
		text:   transfer.Text(group.Workload.Bytes),
		decode: decoder(codec, group.Workload.Operation),
	}
}

// decoder reads a reply as the contract's message, and returns its text.
func decoder(codec, operation string) func([]byte) (string, error) {
	var reply func() (proto.Message, func() string)
	if operation == "HelloBytes" {
		reply = func() (proto.Message, func() string) {
			m := &transferpb.HelloBytesReply{}
			return m, func() string { return string(m.GetText()) }
		}
	} else {
		reply = func() (proto.Message, func() string) {
			m := &transferpb.HelloReply{}
			return m, m.GetText
		}
	}
	unmarshal := map[string]func([]byte, proto.Message) error{
		"json":     func(body []byte, into proto.Message) error { return json.Unmarshal(body, into) },
		"protobuf": proto.Unmarshal,
	}[codec]
	return func(body []byte) (string, error) {
		if unmarshal == nil {
			return string(body), nil
		}
		message, text := reply()
		if err := unmarshal(body, message); err != nil {
			return "", err
		}
		return text(), nil
	}
}

func (c *restClient) call(ctx context.Context, at *stamps) error {
	reported := &reportedStamps{}
	defer reported.copyTo(at)
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:              func(httptrace.GotConnInfo) { reported.sent.Store(nowNS()) },
		WroteRequest:         func(httptrace.WroteRequestInfo) { reported.flushed.Store(nowNS()) },
		GotFirstResponseByte: func() { reported.firstByte.Store(nowNS()) },
	})
	request, err := http.NewRequestWithContext(traced, http.MethodGet, c.url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", c.accept)
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	c.body.Reset()
	if _, err := io.Copy(&c.body, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return application(response.Status)
	}
	text, err := c.decode(c.body.Bytes())
	if err != nil {
		return wrong("the reply cannot be decoded: %v", err)
	}
	return compare(text, c.text)
}

func (c *restClient) close() { c.http.CloseIdleConnections() }

// compare is the check of a decoded reply against the contract's text.
func compare(text, expected string) error {
	if len(text) != len(expected) {
		return wrong("the reply has a text of %d bytes, not %d", len(text), len(expected))
	}
	if text != expected {
		return wrong("the reply's text of %d bytes is not the contract's", len(text))
	}
	return nil
}

// grpcClient is the generated stub of one user, with one connection.
type grpcClient struct {
	dial       func() (*grpc.ClientConn, error)
	connection *grpc.ClientConn
	keep       bool
	raw        bool
	text       string
}

func newGRPCClient(group *Group, sockets *sockets) client {
	c := &grpcClient{
		keep: !closes(group),
		raw:  group.Workload.Operation == "HelloBytes",
		text: transfer.Text(group.Workload.Bytes),
	}
	c.dial = func() (*grpc.ClientConn, error) {
		return grpc.NewClient("passthrough:///"+group.Target,
			grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithStatsHandler(grpcStamps{}),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(replyBytesMax)),
			grpc.WithDisableRetry(),
			grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
				return sockets.dial(ctx, "tcp", address)
			}))
	}
	return c
}

// replyBytesMax is above every reply; grpc-go's own limit is 4 MiB.
const replyBytesMax = 1 << 30

func (c *grpcClient) call(ctx context.Context, at *stamps) error {
	if c.connection == nil {
		opened, err := c.dial()
		if err != nil {
			return err
		}
		c.connection = opened
	}
	if !c.keep {
		defer c.close()
	}
	stub := transferpb.NewTransferClient(c.connection)
	reported := &reportedStamps{}
	defer reported.copyTo(at)
	ctx = context.WithValue(ctx, stampsKey{}, reported)
	if c.raw {
		reply, err := stub.HelloBytes(ctx, &transferpb.HelloRequest{})
		if err != nil {
			return err
		}
		return compare(string(reply.GetText()), c.text)
	}
	reply, err := stub.Hello(ctx, &transferpb.HelloRequest{})
	if err != nil {
		return err
	}
	return compare(reply.GetText(), c.text)
}

func (c *grpcClient) close() {
	if c.connection != nil {
		c.connection.Close()
		c.connection = nil
	}
}

type stampsKey struct{}

// grpcStamps is the stats.Handler that stamps calls.
type grpcStamps struct{}

func (grpcStamps) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

func (grpcStamps) HandleRPC(ctx context.Context, event stats.RPCStats) {
	at, ok := ctx.Value(stampsKey{}).(*reportedStamps)
	if !ok {
		return
	}
	switch event.(type) {
	case *stats.OutHeader:
		at.sent.Store(nowNS())
	case *stats.OutPayload:
		at.flushed.Store(nowNS())
	case *stats.InHeader:
		at.firstByte.Store(nowNS())
	}
}

func (grpcStamps) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

func (grpcStamps) HandleConn(context.Context, stats.ConnStats) {}
