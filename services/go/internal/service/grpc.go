package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"wirelab/services/go/internal/transfer"
	pb "wirelab/services/go/transferpb"
)

// messageBytesMax bounds one gRPC message in either direction.
const messageBytesMax = 128 << 20

// grpcServer serves the contract with grpc-go.
type grpcServer struct {
	pb.UnimplementedTransferServer
	server *grpc.Server
	calls  *Calls
	// The replies are made once, at start, as in the study's service.
	hello      *pb.HelloReply
	helloBytes *pb.HelloBytesReply
}

func newGRPC(config *Config, calls *Calls, text string) *grpcServer {
	options := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(messageBytesMax),
		grpc.MaxSendMsgSize(messageBytesMax),
	}
	if window := config.Socket.H2Window; window != nil {
		options = append(options, grpc.InitialWindowSize(int32(*window)),
			grpc.InitialConnWindowSize(int32(*window)))
	}
	if config.Stack.Compression == "gzip" {
		registerGRPCGzip()
		options = append(options, grpc.UnaryInterceptor(compressUnary), grpc.StreamInterceptor(compressStream))
	}
	s := &grpcServer{
		server:     grpc.NewServer(options...),
		calls:      calls,
		hello:      &pb.HelloReply{Text: text},
		helloBytes: &pb.HelloBytesReply{Text: []byte(text)},
	}
	pb.RegisterTransferServer(s.server, s)
	return s
}

// compressUnary compresses the reply where the request allows it; grpc-go by
// itself does so only where the request was compressed.
func compressUnary(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := compressReplies(ctx); err != nil {
		return nil, err
	}
	return handler(ctx, request)
}

func compressStream(server any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if err := compressReplies(stream.Context()); err != nil {
		return err
	}
	return handler(server, stream)
}

func compressReplies(ctx context.Context) error {
	accepted, err := grpc.ClientSupportedCompressors(ctx)
	if err != nil || !slices.Contains(accepted, "gzip") {
		return err
	}
	return grpc.SetSendCompressor(ctx, "gzip")
}

func (s *grpcServer) Hello(context.Context, *pb.HelloRequest) (*pb.HelloReply, error) {
	call := s.calls.Begin(transfer.Hello)
	defer call.End(nil)
	return s.hello, nil
}

func (s *grpcServer) HelloBytes(context.Context, *pb.HelloRequest) (*pb.HelloBytesReply, error) {
	call := s.calls.Begin(transfer.HelloBytes)
	defer call.End(nil)
	return s.helloBytes, nil
}

func (s *grpcServer) Submit(_ context.Context, request *pb.SubmitRequest) (*pb.SubmitReply, error) {
	call := s.calls.Begin(transfer.Submit)
	reply, err := submit(request)
	call.End(err)
	return reply, answer(err)
}

func (s *grpcServer) Upload(_ context.Context, request *pb.UploadRequest) (*pb.UploadReply, error) {
	call := s.calls.Begin(transfer.Upload)
	reply, err := upload(request)
	call.End(err)
	return reply, answer(err)
}

func (s *grpcServer) UploadStream(stream grpc.ClientStreamingServer[pb.UploadChunk, pb.UploadReply]) error {
	call := s.calls.Begin(transfer.UploadStream)
	err := uploadStream(stream)
	call.End(err)
	return answer(err)
}

func (s *grpcServer) Download(request *pb.DownloadRequest, stream grpc.ServerStreamingServer[pb.DownloadChunk]) error {
	call := s.calls.Begin(transfer.Download)
	err := download(request, stream)
	call.End(err)
	return answer(err)
}

func submit(request *pb.SubmitRequest) (*pb.SubmitReply, error) {
	if err := transfer.CheckBatch(request.GetBatch(), len(request.GetRecords())); err != nil {
		return nil, err
	}
	reply := &pb.SubmitReply{Batch: request.GetBatch()}
	for _, record := range request.GetRecords() {
		if reason := transfer.RefusalReason(record.GetQuantity(), record.GetItem()); reason != "" {
			reply.Refused = append(reply.Refused, &pb.Refusal{Id: record.GetId(), Reason: reason})
			continue
		}
		reply.Accepted++
		reply.QuantityTotal += int64(record.GetQuantity())
	}
	return reply, nil
}

func upload(request *pb.UploadRequest) (*pb.UploadReply, error) {
	length := int64(len(request.GetData()))
	if err := transfer.CheckUpload(length); err != nil {
		return nil, err
	}
	return &pb.UploadReply{Length: length, Sha256: transfer.SHA256(request.GetData())}, nil
}

func uploadStream(stream grpc.ClientStreamingServer[pb.UploadChunk, pb.UploadReply]) error {
	digest, length := sha256.New(), int64(0)
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return stream.SendAndClose(&pb.UploadReply{Length: length, Sha256: hex.EncodeToString(digest.Sum(nil))})
		}
		if err != nil {
			return err
		}
		length += int64(len(chunk.GetData()))
		if err := transfer.CheckUpload(length); err != nil {
			return err
		}
		_, _ = digest.Write(chunk.GetData()) // a hash never fails (package hash)
	}
}

func download(request *pb.DownloadRequest, stream grpc.ServerStreamingServer[pb.DownloadChunk]) error {
	length, chunkBytes := request.GetLength(), request.GetChunkBytes()
	if err := transfer.CheckDownload(length, chunkBytes); err != nil {
		return err
	}
	for sent := int64(0); sent < length; sent += int64(chunkBytes) {
		// A new one each time: grpc-go forbids changing a message that was sent.
		data := make([]byte, min(int64(chunkBytes), length-sent))
		transfer.FillPattern(sent, data)
		if err := stream.Send(&pb.DownloadChunk{Data: data}); err != nil {
			return err
		}
	}
	return nil
}

// answer is the status that an error is answered with.
func answer(err error) error {
	var application transfer.ApplicationError
	if errors.As(err, &application) {
		return status.Error(codes.InvalidArgument, application.Error())
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
