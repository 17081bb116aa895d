package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	connectrpc "connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	pb "wirelab/services/go/streampb"
	"wirelab/services/go/transferpb"
)

var (
	connectProto = stack("connect", "protobuf", "http/1.1")
	connectJSON  = stack("connect", "json", "http/2")
)

// connectTypes are the names of the codecs in content types.
var connectTypes = map[any]string{"protobuf": "proto", "json": "json"}

func procedure(contract, operation string) string {
	return "/wirelab." + contract + ".v1." + strings.ToUpper(contract[:1]) + contract[1:] + "/" + operation
}

// connectClient is connect-go's own client of an operation.
func connectClient[Q, R any](p *process, config options, operation string,
	more ...connectrpc.ClientOption) *connectrpc.Client[Q, R] {
	if config["stack.codec"] == "json" {
		more = append(more, connectrpc.WithProtoJSON())
	}
	scheme := "http"
	if p.security != nil {
		scheme = "https"
	}
	client := &http.Client{Transport: newHTTPClient(p, config["stack.transport"].(string))}
	return connectrpc.NewClient[Q, R](client,
		scheme+"://localhost"+procedure(config["contract"].(string), operation), more...)
}

// callConnect posts messages as they are: connect-go has a client for each type.
func callConnect(t *testing.T, p *process, contract, operation string, request, _ any) (any, string) {
	t.Helper()
	message, form := protobufRequest(t, contract, operation, request), "application/proto"
	marshal, unmarshal := proto.Marshal, proto.Unmarshal
	if p.codec == "json" {
		form, marshal, unmarshal = "application/json", protojson.Marshal, protojson.Unmarshal
	}
	body, err := marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	answer := mustCall(t, p, p.transport, "POST", procedure(contract, operation), body, "Content-Type", form)
	if answer.StatusCode != http.StatusOK {
		return nil, connectProblem(t, answer)
	}
	if kind := answer.Header.Get("Content-Type"); kind != form {
		t.Errorf("content type %q", kind)
	}
	reply := newMessage(t, contract, operation+"Reply")
	if err := unmarshal(answer.body, reply); err != nil {
		t.Fatal(err)
	}
	return jsonOf(t, reply), ""
}

// connectProblem is the text of an application error (Connect protocol, Error Codes).
func connectProblem(t *testing.T, answer *reply) string {
	t.Helper()
	var problem struct{ Code, Message string }
	err := json.Unmarshal(answer.body, &problem)
	if err != nil || answer.StatusCode != http.StatusBadRequest || problem.Code != "invalid_argument" ||
		answer.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%v: status %d, %s", err, answer.StatusCode, answer.body)
	}
	return problem.Message
}

func helloConnect(p *process, config options) error {
	client := connectClient[transferpb.HelloRequest, transferpb.HelloReply](p, config, "Hello")
	response, err := client.CallUnary(context.Background(), connectrpc.NewRequest(&transferpb.HelloRequest{}))
	if err == nil && response.Msg.GetText() != "Hello, wirelab" {
		err = fmt.Errorf("%q", response.Msg.GetText())
	}
	return err
}

// openConnectFeed begins a Feed.
func openConnectFeed(t *testing.T, ctx context.Context, p *process, config options,
	request *pb.FeedRequest, close func()) (*feed, error) {
	t.Helper()
	client := connectClient[pb.FeedRequest, pb.Item](p, config, "Feed")
	stream, err := client.CallServerStream(ctx, connectrpc.NewRequest(request))
	if err != nil {
		return nil, err
	}
	return &feed{func() (*pb.Item, error) {
		if stream.Receive() {
			return stream.Msg(), nil
		}
		if err := stream.Err(); err != nil {
			return nil, err
		}
		return nil, io.EOF
	}, close}, nil
}

// checkConnectError expects code invalid_argument with that text.
func checkConnectError(t *testing.T, err error, text string) {
	t.Helper()
	problem := new(connectrpc.Error)
	if !errors.As(err, &problem) || problem.Code() != connectrpc.CodeInvalidArgument || problem.Message() != text {
		t.Errorf("%v, want invalid_argument: %s", err, text)
	}
}

func pushConnect(t *testing.T, p *process, config options, items []*pb.Item) (*pb.PushReply, error) {
	t.Helper()
	stream := connectClient[pb.Item, pb.PushReply](p, config, "Push").CallClientStream(t.Context())
	for _, item := range items {
		if err := stream.Send(item); errors.Is(err, io.EOF) {
			break // the service has answered already
		} else if err != nil {
			t.Fatal(err)
		}
	}
	response, err := stream.CloseAndReceive()
	if err != nil {
		return nil, err
	}
	return response.Msg, nil
}

func TestConnectChatAnswersItemByItem(t *testing.T) {
	for _, codec := range []string{"protobuf", "json"} {
		config := connectJSON.with("stack.codec", codec).with("contract", "stream")
		p := start(t, config)
		stream := connectClient[pb.Item, pb.Item](p, config, "Chat").CallBidiStream(t.Context())
		for i, text := range []string{"a", "", "Größe", "😀"} {
			if err := stream.Send(&pb.Item{Index: int32(i), Text: text}); err != nil {
				t.Fatal(err)
			}
			item, err := stream.Receive()
			if err != nil || item.GetText() != text || item.GetIndex() != int32(i) ||
				item.GetReceivedNs() == 0 || item.GetSentNs() < item.GetReceivedNs() {
				t.Errorf("%v, %v", item, err)
			}
		}
		if err := stream.Send(&pb.Item{Index: 7}); err != nil {
			t.Fatal(err)
		}
		_, err := stream.Receive()
		checkConnectError(t, err, "items must be numbered from 0 without gaps")
		checkCounts(t, metrics(t, p), map[string]float64{"wirelab_stream_items_total": 4,
			"wirelab_stream_cancelled_total": 0, `wirelab_errors_total{operation="Chat"}`: 1})
	}
}

// TestConnectChatNeedsHTTP2: HTTP/1.1 has one direction at a time.
func TestConnectChatNeedsHTTP2(t *testing.T) {
	p := start(t, connectProto.with("contract", "stream"))
	answer := mustCall(t, p, "http/1.1", "POST", procedure("stream", "Chat"), nil,
		"Content-Type", "application/connect+proto")
	if answer.StatusCode != http.StatusHTTPVersionNotSupported {
		t.Errorf("status %d", answer.StatusCode)
	}
}

func TestConnectGzipIsOfBothDirections(t *testing.T) {
	for _, config := range []options{connectProto, connectJSON} {
		p := start(t, config.with("stack.compression", "gzip").with("store.hello_bytes", 100_000))
		client := connectClient[transferpb.SubmitRequest, transferpb.SubmitReply](p, config, "Submit", connectrpc.WithSendGzip())
		request := &transferpb.SubmitRequest{Batch: strings.Repeat("b", 10_000)}
		response, err := client.CallUnary(t.Context(), connectrpc.NewRequest(request))
		if err != nil || response.Msg.GetBatch() != request.GetBatch() {
			t.Errorf("%v", err)
		}
		body := map[any]string{"json": "{}"}[config["stack.codec"]]
		answer := mustCall(t, p, p.transport, "POST", procedure("transfer", "Hello"), []byte(body),
			"Content-Type", "application/"+connectTypes[config["stack.codec"]], "Accept-Encoding", "gzip")
		if answer.Header.Get("Content-Encoding") != "gzip" || len(answer.body) >= 100_000 {
			t.Errorf("coding %q, %d bytes", answer.Header.Get("Content-Encoding"), len(answer.body))
		}
	}
}

// TestConnectWithoutCompressionRefusesGzip: by code unimplemented, as the protocol says.
func TestConnectWithoutCompressionRefusesGzip(t *testing.T) {
	p := start(t, connectProto)
	client := connectClient[transferpb.HelloRequest, transferpb.HelloReply](p, connectProto, "Hello", connectrpc.WithSendGzip())
	_, err := client.CallUnary(t.Context(), connectrpc.NewRequest(&transferpb.HelloRequest{}))
	// An empty message is not compressed, so that its header alone names the compression.
	if connectrpc.CodeOf(err) != connectrpc.CodeUnimplemented {
		t.Errorf("%v", err)
	}
}

func TestConnectServesItsOwnCodecAndProtocolOnly(t *testing.T) {
	p := start(t, connectProto)
	for _, row := range []struct {
		method, path, contentType string
		status                    int
	}{
		{"POST", procedure("transfer", "Hello"), "application/proto", 200},
		{"POST", procedure("transfer", "Hello"), "application/json", 415},
		{"POST", procedure("transfer", "Hello"), "application/grpc", 415},
		{"POST", procedure("transfer", "Hello"), "application/grpc-web", 415},
		{"POST", procedure("transfer", "Hello"), "application/connect+proto", 415},
		{"POST", procedure("transfer", "Hello"), "", 415},
		{"GET", procedure("transfer", "Hello") + "?encoding=proto&message=&connect=v1", "", 405},
		{"POST", procedure("transfer", "Goodbye"), "application/proto", 404},
		{"POST", procedure("transfer", "Download"), "application/connect+proto", 404},
		{"POST", procedure("charging", "Credit"), "application/proto", 404},
	} {
		answer := mustCall(t, p, p.transport, row.method, row.path, nil, "Content-Type", row.contentType)
		if answer.StatusCode != row.status {
			t.Errorf("%s %s as %s: status %d, want %d", row.method, row.path, row.contentType, answer.StatusCode, row.status)
		}
	}
}

// envelop puts the prefix before a message, which may lie about its length.
func envelop(flags byte, length int, message string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{flags}, uint32(length)), message...)
}

// TestConnectRefusesHostileStreams: each with an error of the protocol, and the next stream is served.
func TestConnectRefusesHostileStreams(t *testing.T) {
	for _, codec := range []string{"protobuf", "json"} {
		config := connectProto.with("stack.codec", codec).with("contract", "stream")
		p := start(t, config)
		for name, row := range map[string]struct {
			body []byte
			code string
		}{
			"a message cut off":         {envelop(0, 100, "x"), "internal"},
			"a prefix cut off":          {[]byte{0, 0}, "internal"},
			"a length of 4 GiB":         {envelop(0, 1<<32-1, "x"), "resource_exhausted"},
			"a length of 200 MB":        {envelop(0, 200_000_000, "x"), "resource_exhausted"},
			"100 MB that do not come":   {envelop(0, 100_000_000, "x"), "internal"},
			"compressed without a name": {envelop(1, 2, "{}"), "internal"},
			"an unknown flag":           {envelop(64, 2, "{}"), "internal"},
			"not a message":             {envelop(0, 3, "\x0a\x7fa"), "invalid_argument"},
		} {
			answer := mustCall(t, p, p.transport, "POST", procedure("stream", "Push"), row.body,
				"Content-Type", "application/connect+"+connectTypes[codec])
			end := endOfStream(t, answer)
			if answer.StatusCode != http.StatusOK || end.Error.Code != row.code {
				t.Errorf("%s over %s: status %d, %+v, want %s", name, codec, answer.StatusCode, end, row.code)
			}
		}
		if reply, err := pushConnect(t, p, config, []*pb.Item{{Text: "a"}}); err != nil || reply.GetCount() != 1 {
			t.Errorf("after refusals: %v, %v", reply, err)
		}
	}
}

type streamEnd struct {
	Error struct{ Code, Message string }
}

// endOfStream reads a reply that has nothing but the end of its stream.
func endOfStream(t *testing.T, answer *reply) (end streamEnd) {
	t.Helper()
	const prefix = 5
	if len(answer.body) < prefix || answer.body[0] != 2 ||
		int(binary.BigEndian.Uint32(answer.body[1:])) != len(answer.body)-prefix {
		t.Fatalf("status %d, %q is not the end of a stream", answer.StatusCode, answer.body)
	}
	if err := json.Unmarshal(answer.body[prefix:], &end); err != nil {
		t.Fatal(err)
	}
	return end
}

// TestConnectKeepsDeadlines: a call whose time is over ends with its code.
func TestConnectKeepsDeadlines(t *testing.T) {
	config := connectProto.with("contract", "stream")
	p := start(t, config)
	body, err := proto.Marshal(&pb.FeedRequest{Count: 2, GapUs: 30_000_000, Pattern: "constant"})
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	answer := mustCall(t, p, p.transport, "POST", procedure("stream", "Feed"),
		envelop(0, len(body), string(body)), "Content-Type", "application/connect+proto", "Connect-Timeout-Ms", "200")
	if !bytes.Contains(answer.body, []byte(`"deadline_exceeded"`)) || time.Since(begin) > 10*time.Second {
		t.Errorf("%q after %v", answer.body, time.Since(begin))
	}
}

// TestConnectBoundsLists: as every binding does (contracts/README.md, Sizes).
func TestConnectBoundsLists(t *testing.T) {
	request := &transferpb.SubmitRequest{Batch: "b", Records: make([]*transferpb.Record, 200_001)}
	for i := range request.Records {
		request.Records[i] = &transferpb.Record{}
	}
	for _, config := range []options{connectProto, connectJSON} {
		p := start(t, config)
		client := connectClient[transferpb.SubmitRequest, transferpb.SubmitReply](p, config, "Submit")
		_, err := client.CallUnary(t.Context(), connectrpc.NewRequest(request))
		if connectrpc.CodeOf(err) != connectrpc.CodeInvalidArgument || !strings.Contains(err.Error(), "200000 items") {
			t.Errorf("%v", err)
		}
	}
}
