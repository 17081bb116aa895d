package service

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	pb "wirelab/services/go/transferpb"
)

// selfCallTimeout comes on top of the injected delay.
const selfCallTimeout = 20 * time.Second

// callSelf makes one Hello over the service's own address and stack, so that
// `ready` is printed by a service that has answered a real call.
func callSelf(ctx context.Context, config *Config, at, text string) error {
	patience := selfCallTimeout
	if delay := config.Faults.DelayUs; delay != nil {
		patience += time.Duration(*delay) * time.Microsecond
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	hello := helloOverREST
	if config.Stack.Binding == "grpc" {
		hello = helloOverGRPC
	}
	answer, err := hello(ctx, config, at)
	if err != nil {
		return fmt.Errorf("the service could not call itself: %w", err)
	}
	if answer != text {
		return fmt.Errorf("the service answered its own call with %d bytes that are not its text", len(answer))
	}
	return nil
}

func helloOverREST(ctx context.Context, config *Config, at string) (string, error) {
	kind, where := network(at)
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, kind, where)
		},
		Protocols: new(http.Protocols),
	}
	defer transport.CloseIdleConnections()
	transport.Protocols.SetHTTP1(config.Stack.Transport == "http/1.1")
	transport.Protocols.SetUnencryptedHTTP2(config.Stack.Transport == "http/2")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/transfer/hello", nil)
	if err != nil {
		return "", err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return "", err
	}
	return helloText(config, response)
}

func helloText(config *Config, response *http.Response) (string, error) {
	body, err := io.ReadAll(response.Body)
	if closeErr := response.Body.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("status %s", response.Status)
	}
	if config.Stack.Codec == "text" {
		return string(body), nil
	}
	var hello jsonHello
	err = json.Unmarshal(body, &hello)
	return hello.Text, err
}

func helloOverGRPC(ctx context.Context, _ *Config, at string) (text string, err error) {
	kind, where := network(at)
	connection, err := grpc.NewClient("passthrough:///localhost",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageBytesMax)),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, kind, where)
		}))
	if err != nil {
		return "", err
	}
	reply, err := pb.NewTransferClient(connection).Hello(ctx, &pb.HelloRequest{})
	if closeErr := connection.Close(); err == nil {
		err = closeErr
	}
	return reply.GetText(), err
}
