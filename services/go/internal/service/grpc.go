package service

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/compression"
	"wirelab/services/go/internal/contract"
)

// messageBytesMax bounds one gRPC message in either direction.
const messageBytesMax = 128 << 20

// headerBytesMax bounds a call's header fields, as net/http does by itself;
// grpc-go would take 16 MiB.
const headerBytesMax = 1 << 20

// grpcServer serves a contract with grpc-go.
type grpcServer struct {
	server *grpc.Server
	calls  *Calls
	coding compression.Coding // nil: none
}

func newGRPC(config *Config, of *contract.Contract, calls *Calls, security *tls.Config) *grpcServer {
	options := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(messageBytesMax),
		grpc.MaxSendMsgSize(messageBytesMax),
		grpc.MaxHeaderListSize(headerBytesMax),
		grpc.ForceServerCodecV2(newProtoCodec()),
	}
	if window := config.Socket.H2Window; window != nil {
		options = append(options, grpc.InitialWindowSize(int32(*window)),
			grpc.InitialConnWindowSize(int32(*window)))
	}
	if security != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(security)))
	}
	s := &grpcServer{calls: calls, coding: compression.New(config.Stack.Compression)}
	if s.coding != nil {
		compression.RegisterGRPC(s.coding)
	}
	s.server = grpc.NewServer(options...)
	s.server.RegisterService(s.description(of), nil)
	return s
}

// description is what protoc-gen-go-grpc would generate, made from the
// contract's table.
func (s *grpcServer) description(of *contract.Contract) *grpc.ServiceDesc {
	description := &grpc.ServiceDesc{ServiceName: of.GRPCService()}
	for i := range of.Operations {
		operation := &of.Operations[i]
		if operation.Stream == nil {
			description.Methods = append(description.Methods,
				grpc.MethodDesc{MethodName: operation.Name, Handler: s.unary(i, operation)})
			continue
		}
		description.Streams = append(description.Streams, grpc.StreamDesc{StreamName: operation.Name,
			Handler: s.stream(i, operation.Stream), ClientStreams: operation.Stream.FromClient,
			ServerStreams: operation.Stream.FromServer})
	}
	return description
}

func (s *grpcServer) unary(index int, operation *contract.Operation) grpc.MethodHandler {
	return func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		request := operation.NewRequest()
		if err := decode(request); err != nil {
			return nil, err
		}
		if err := s.compressReplies(ctx); err != nil {
			return nil, err
		}
		call := s.calls.Begin(index)
		reply, err := operation.Answer(request)
		call.End(err)
		return reply, answer(err)
	}
}

func (s *grpcServer) stream(index int, stream *contract.Stream) grpc.StreamHandler {
	return func(_ any, messages grpc.ServerStream) error {
		if err := s.compressReplies(messages.Context()); err != nil {
			return err
		}
		call := s.calls.Begin(index)
		err := stream.Serve(messages)
		call.End(err)
		return answer(err)
	}
}

// compressReplies compresses where the request allows it; grpc-go by itself
// does so only where the request was compressed.
func (s *grpcServer) compressReplies(ctx context.Context) error {
	if s.coding == nil {
		return nil
	}
	accepted, err := grpc.ClientSupportedCompressors(ctx)
	if err != nil || !slices.Contains(accepted, s.coding.Name()) {
		return err
	}
	return grpc.SetSendCompressor(ctx, s.coding.Name())
}

// answer is the status that an error is answered with.
func answer(err error) error {
	var application contract.ApplicationError
	if errors.Is(err, contract.ErrNotFound) {
		return status.Error(codes.NotFound, contract.ErrNotFound.Error())
	}
	if errors.As(err, &application) {
		return status.Error(codes.InvalidArgument, application.Error())
	}
	if errors.Is(err, contract.ErrUnavailable) {
		return status.Error(codes.Unavailable, contract.ErrUnavailable.Error())
	}
	return err
}

func (s *grpcServer) serveOn(listener net.Listener) error {
	return s.server.Serve(listener)
}

// stop waits for calls in flight, but not beyond the grace: a handler that
// sleeps would hold GracefulStop for as long.
func (s *grpcServer) stop(grace time.Duration) {
	done := make(chan struct{})
	go func() {
		s.server.GracefulStop()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(grace):
		s.server.Stop()
	}
}

// protoCodec is grpc-go's own codec, but that it counts the items of lists
// before they are decoded.
type protoCodec struct{ encoding.CodecV2 }

func newProtoCodec() protoCodec { return protoCodec{encoding.GetCodecV2(protocodec.Name)} }

// Unmarshal implements encoding.CodecV2.
func (protoCodec) Unmarshal(data mem.BufferSlice, into any) error {
	message, ok := into.(proto.Message)
	if !ok {
		return fmt.Errorf("%T is not a message", into)
	}
	buffer := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer buffer.Free()
	if err := contract.CheckProtobuf(message, buffer.ReadOnlyData()); err != nil {
		return err
	}
	return proto.Unmarshal(buffer.ReadOnlyData(), message)
}
