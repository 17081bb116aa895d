package call

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"unicode"

	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/contract"
	"wirelab/services/go/internal/workload"
	transferpb "wirelab/services/go/transferpb"
)

// restClient is an http.Client of one user, with one connection.
type restClient struct {
	http  *http.Client
	base  string
	codec restCodec
	body  bytes.Buffer
}

// restCodec is how messages lie in bodies.
type restCodec struct {
	mediaType string
	marshal   func(message proto.Message) ([]byte, error)
	unmarshal func(body []byte, into proto.Message) error
}

var restCodecs = map[string]restCodec{
	"json": {
		"application/json",
		func(message proto.Message) ([]byte, error) { return json.Marshal(message) },
		func(body []byte, into proto.Message) error { return json.Unmarshal(body, into) },
	},
	"protobuf": {"application/x-protobuf", proto.Marshal, proto.Unmarshal},
	"text":     {"text/plain", nil, unmarshalText},
}

// unmarshalText: codec text has replies to Hello alone.
func unmarshalText(body []byte, into proto.Message) error {
	into.(*transferpb.HelloReply).Text = string(body)
	return nil
}

func newRESTClient(group *Group, script *workload.Script, sockets *sockets) client {
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
	return &restClient{
		http:  &http.Client{Transport: transport},
		base:  "http://" + group.Target + "/" + script.Contract + "/",
		codec: restCodecs[group.Stack["codec"]],
	}
}

// request is that of a call; what it needs of a body is encoded.
func (c *restClient) request(ctx context.Context, of *workload.Call) (*http.Request, error) {
	url := c.base + hyphenate(of.Operation.Name)
	if isGet(of.Operation) {
		return http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	}
	body, err := c.codec.marshal(of.Request)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", c.codec.mediaType)
	return request, nil
}

func isGet(operation *contract.Operation) bool {
	return operation.Route != nil && operation.Route.Method == http.MethodGet
}

// hyphenate returns `direct-debit` of `DirectDebit`.
func hyphenate(name string) string {
	var path strings.Builder
	for i, letter := range name {
		if i > 0 && unicode.IsUpper(letter) {
			path.WriteByte('-')
		}
		path.WriteRune(unicode.ToLower(letter))
	}
	return path.String()
}

func (c *restClient) call(ctx context.Context, of *workload.Call, at *stamps) (proto.Message, error) {
	reported := &reportedStamps{}
	defer reported.copyTo(at)
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:              func(httptrace.GotConnInfo) { reported.sent.Store(nowNS()) },
		WroteRequest:         func(httptrace.WroteRequestInfo) { reported.flushed.Store(nowNS()) },
		GotFirstResponseByte: func() { reported.firstByte.Store(nowNS()) },
	})
	request, err := c.request(traced, of)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", c.codec.mediaType)
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	c.body.Reset()
	if _, err := io.Copy(&c.body, response.Body); err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, application(response.Status)
	}
	reply := of.Operation.NewReply()
	if err := c.codec.unmarshal(c.body.Bytes(), reply); err != nil {
		return nil, wrong("the reply cannot be decoded: %v", err)
	}
	return reply, nil
}

func (c *restClient) close() { c.http.CloseIdleConnections() }
