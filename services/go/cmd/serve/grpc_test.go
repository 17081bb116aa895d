package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/gzip" // the client's own compressor
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/transfer"
	pb "wirelab/services/go/transferpb"
)

func dialGRPC(p *process, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	dial, trust := dialer(p), insecure.NewCredentials()
	if p.security != nil {
		trust = credentials.NewTLS(p.security)
	}
	return grpc.NewClient("passthrough:///localhost", append(options,
		grpc.WithTransportCredentials(trust),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return dial(ctx) }),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(1<<30), grpc.MaxCallSendMsgSize(1<<30)))...)
}

func connect(t *testing.T, p *process, options ...grpc.DialOption) pb.TransferClient {
	t.Helper()
	connection, err := dialGRPC(p, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return pb.NewTransferClient(connection)
}

func helloGRPC(p *process, config options) error {
	connection, err := dialGRPC(p)
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	answer, err := pb.NewTransferClient(connection).Hello(ctx, &pb.HelloRequest{})
	if err == nil && answer.GetText() != transfer.Text(config["store.hello_bytes"].(int)) {
		err = fmt.Errorf("another text: %.40q", answer.GetText())
	}
	return err
}

func checkStatus(t *testing.T, err error, code codes.Code, text string) {
	t.Helper()
	if got := status.Convert(err); got.Code() != code || !strings.Contains(got.Message(), text) {
		t.Errorf("status %v %q, want %v %q", got.Code(), got.Message(), code, text)
	}
}

func TestHelloOverGRPC(t *testing.T) {
	for _, bytes := range []int{0, 14, 150_000, 3_000_000, 64 << 20} {
		client := connect(t, start(t, grpcOnly.with("store.hello_bytes", bytes)))
		text, err := client.Hello(t.Context(), &pb.HelloRequest{})
		if err != nil || text.GetText() != transfer.Text(bytes) {
			t.Errorf("%d bytes: %v, %d bytes", bytes, err, len(text.GetText()))
		}
		raw, err := client.HelloBytes(t.Context(), &pb.HelloRequest{})
		if err != nil || string(raw.GetText()) != transfer.Text(bytes) {
			t.Errorf("%d bytes: %v, %d bytes", bytes, err, len(raw.GetText()))
		}
	}
}

func TestSubmitOverGRPC(t *testing.T) {
	client := connect(t, start(t, grpcOnly))
	answer, err := client.Submit(t.Context(), &pb.SubmitRequest{Batch: "b", Records: []*pb.Record{
		{Id: 1, Quantity: 1<<31 - 1, Item: "ü"}, {Id: -2, Item: "x"}, {Id: 3, Quantity: 4},
		{Id: 5, Quantity: 1<<31 - 1, Item: "y", Remark: "r"}, {Id: 1 << 62, Quantity: -1}}})
	want := &pb.SubmitReply{Batch: "b", Accepted: 2, QuantityTotal: 4294967294, Refused: []*pb.Refusal{
		{Id: -2, Reason: "quantity must be positive"}, {Id: 3, Reason: "item must not be empty"},
		{Id: 1 << 62, Reason: "quantity must be positive"}}}
	if err != nil || !proto.Equal(answer, want) {
		t.Errorf("%v, %v", answer, err)
	}
	_, err = client.Submit(t.Context(), &pb.SubmitRequest{Records: make([]*pb.Record, 0)})
	checkStatus(t, err, codes.InvalidArgument, "batch must not be empty")
	records := make([]*pb.Record, 100_001)
	for i := range records {
		records[i] = &pb.Record{}
	}
	_, err = client.Submit(t.Context(), &pb.SubmitRequest{Batch: "b", Records: records})
	checkStatus(t, err, codes.InvalidArgument, "at most 100000 records")
	_, err = client.Submit(t.Context(), &pb.SubmitRequest{Records: append(records, records...)})
	checkStatus(t, err, codes.Internal, "at most 200000 items")
	answer, err = client.Submit(t.Context(), &pb.SubmitRequest{Batch: "b", Records: records[1:]})
	if err != nil || len(answer.GetRefused()) != 100_000 {
		t.Errorf("%d refused, %v", len(answer.GetRefused()), err)
	}
}

func pattern(bytes int) []byte {
	data := make([]byte, bytes)
	transfer.FillPattern(0, data)
	return data
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func TestUploadOverGRPC(t *testing.T) {
	client := connect(t, start(t, grpcOnly))
	for _, bytes := range []int{0, 1, 25_000_000, 64 << 20} {
		data := pattern(bytes)
		answer, err := client.Upload(t.Context(), &pb.UploadRequest{Data: data})
		if err != nil || answer.GetLength() != int64(bytes) || answer.GetSha256() != digest(data) {
			t.Errorf("%d bytes: %v, %v", bytes, answer, err)
		}
	}
	_, err := client.Upload(t.Context(), &pb.UploadRequest{Data: make([]byte, 64<<20+1)})
	checkStatus(t, err, codes.InvalidArgument, "at most 67108864 bytes")
	_, err = client.Upload(t.Context(), &pb.UploadRequest{Data: make([]byte, 128<<20)})
	checkStatus(t, err, codes.ResourceExhausted, "larger than max")
}

func uploadChunks(t *testing.T, client pb.TransferClient, data []byte, chunk int) (*pb.UploadReply, error) {
	t.Helper()
	stream, err := client.UploadStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for len(data) > 0 {
		n := min(chunk, len(data))
		// EOF: the service has answered already; CloseAndRecv returns the reply.
		if err := stream.Send(&pb.UploadChunk{Data: data[:n]}); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		data = data[n:]
	}
	return stream.CloseAndRecv()
}

func TestUploadStream(t *testing.T) {
	client := connect(t, start(t, grpcOnly))
	for _, bytes := range []int{0, 1, 65_536, 1_000_003, 64 << 20} {
		data := pattern(bytes)
		answer, err := uploadChunks(t, client, data, 65_536)
		if err != nil || answer.GetLength() != int64(bytes) || answer.GetSha256() != digest(data) {
			t.Errorf("%d bytes: %v, %v", bytes, answer, err)
		}
	}
	_, err := uploadChunks(t, client, make([]byte, 64<<20+1), 1<<20)
	checkStatus(t, err, codes.InvalidArgument, "at most 67108864 bytes")
}

func TestDownload(t *testing.T) {
	client := connect(t, start(t, grpcOnly))
	for _, row := range []struct {
		length int64
		chunk  int32
		count  int
	}{{0, 1, 0}, {1, 1, 1}, {100, 7, 15}, {65_536, 65_536, 1}, {1_000_003, 65_536, 16}, {64 << 20, 1 << 20, 64}} {
		stream, err := client.Download(t.Context(), &pb.DownloadRequest{Length: row.length, ChunkBytes: row.chunk})
		if err != nil {
			t.Fatal(err)
		}
		data, count := []byte{}, 0
		for {
			chunk, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(chunk.GetData()) != int(min(int64(row.chunk), row.length-int64(len(data)))) {
				t.Fatalf("a chunk of %d bytes at %d", len(chunk.GetData()), len(data))
			}
			data, count = append(data, chunk.GetData()...), count+1
		}
		if count != row.count || digest(data) != digest(pattern(int(row.length))) {
			t.Errorf("%d bytes in chunks of %d: %d bytes in %d", row.length, row.chunk, len(data), count)
		}
	}
}

func TestDownloadErrors(t *testing.T) {
	client := connect(t, start(t, grpcOnly))
	for text, rows := range map[string][]*pb.DownloadRequest{
		"length must be 0 to 67108864": {{Length: -1, ChunkBytes: 1}, {Length: 64<<20 + 1, ChunkBytes: 1}, {Length: -1}},
		"chunk_bytes must be 1 to 1048576": {{Length: 1}, {Length: 1, ChunkBytes: -1},
			{Length: 1, ChunkBytes: 1<<20 + 1}},
	} {
		for _, request := range rows {
			stream, err := client.Download(t.Context(), request)
			if err == nil {
				_, err = stream.Recv()
			}
			checkStatus(t, err, codes.InvalidArgument, text)
		}
	}
}

func TestUnknownMethod(t *testing.T) {
	connection, err := dialGRPC(start(t, grpcOnly))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	err = connection.Invoke(t.Context(), "/wirelab.transfer.v1.Transfer/Goodbye", &pb.HelloRequest{}, &pb.HelloReply{})
	checkStatus(t, err, codes.Unimplemented, "Goodbye")
}

// wireWatch notes how replies were compressed and how large they were.
type wireWatch struct {
	compression string
	wire, plain int
}

func (*wireWatch) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (*wireWatch) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (*wireWatch) HandleConn(context.Context, stats.ConnStats)                       {}

func (w *wireWatch) HandleRPC(_ context.Context, event stats.RPCStats) {
	switch event := event.(type) {
	case *stats.InHeader:
		w.compression = event.Compression
	case *stats.InPayload:
		w.wire, w.plain = event.CompressedLength, event.Length
	}
}

// zstdOfClient is the client's own compressor.
type zstdOfClient struct{}

func (zstdOfClient) Name() string { return "zstd" }

func (zstdOfClient) Compress(to io.Writer) (io.WriteCloser, error) { return codings["zstd"].writer(to) }

func (zstdOfClient) Decompress(from io.Reader) (io.Reader, error) {
	return codings["zstd"].reader(from)
}

func init() { encoding.RegisterCompressor(zstdOfClient{}) }

// TestCompressionOverGRPC: this client offers gzip and zstd with every request,
// so replies come compressed, whether or not the request was.
func TestCompressionOverGRPC(t *testing.T) {
	for coding := range codings {
		t.Run(coding, func(t *testing.T) { checkCompressionOverGRPC(t, coding) })
	}
}

func checkCompressionOverGRPC(t *testing.T, coding string) {
	t.Helper()
	watch := &wireWatch{}
	client := connect(t, start(t, grpcOnly.with("stack.compression", coding)), grpc.WithStatsHandler(watch))
	request := &pb.SubmitRequest{Batch: strings.Repeat("b", 100_000)}
	for _, option := range [][]grpc.CallOption{nil, {grpc.UseCompressor(coding)}} {
		answer, err := client.Submit(t.Context(), request, option...)
		if err != nil || answer.GetBatch() != request.GetBatch() {
			t.Fatal(err)
		}
		if watch.compression != coding || watch.wire >= watch.plain/10 {
			t.Errorf("compression %q, %d bytes for %d", watch.compression, watch.wire, watch.plain)
		}
	}
	stream, err := client.Download(t.Context(), &pb.DownloadRequest{Length: 1000, ChunkBytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	chunk, err := stream.Recv()
	if err != nil || digest(chunk.GetData()) != digest(pattern(1000)) || watch.compression != coding {
		t.Errorf("%v, compression %q", err, watch.compression)
	}
}

func TestNoCompressionOverGRPCUnlessConfigured(t *testing.T) {
	watch := &wireWatch{}
	client := connect(t, start(t, grpcOnly), grpc.WithStatsHandler(watch))
	if _, err := client.Hello(t.Context(), &pb.HelloRequest{}); err != nil || watch.compression != "" {
		t.Errorf("%v, compression %q", err, watch.compression)
	}
	for coding := range codings {
		_, err := client.Hello(t.Context(), &pb.HelloRequest{}, grpc.UseCompressor(coding))
		checkStatus(t, err, codes.Unimplemented, coding)
	}
}

func TestMetadataDoesNoHarm(t *testing.T) {
	client := connect(t, start(t, grpcOnly))
	ctx := metadata.AppendToOutgoingContext(t.Context(), "x-trace", "1")
	if _, err := client.Hello(ctx, &pb.HelloRequest{}); err != nil {
		t.Error(err)
	}
}
