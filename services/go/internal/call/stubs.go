package call

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	calendarpb "wirelab/services/go/calendarpb"
	chargingpb "wirelab/services/go/chargingpb"
	"wirelab/services/go/internal/workload"
	recordspb "wirelab/services/go/recordspb"
	transferpb "wirelab/services/go/transferpb"
)

// method makes a call by a generated stub.
type method func(ctx context.Context, of *workload.Call) (proto.Message, error)

// stubs are the methods of a contract on a connection, by operation.
type stubs func(connection *grpc.ClientConn) map[string]method

var stubsOf = map[string]stubs{
	"transfer": func(connection *grpc.ClientConn) map[string]method {
		stub := transferpb.NewTransferClient(connection)
		return map[string]method{
			"Hello": unary(stub.Hello), "HelloBytes": unary(stub.HelloBytes),
			"Submit": unary(stub.Submit), "Upload": unary(stub.Upload),
			"UploadStream": uploadStream(stub), "Download": download(stub),
		}
	},
	"charging": func(connection *grpc.ClientConn) map[string]method {
		stub := chargingpb.NewChargingClient(connection)
		return map[string]method{
			"Credit": unary(stub.Credit), "DirectDebit": unary(stub.DirectDebit),
			"Reserve": unary(stub.Reserve), "DebitReservation": unary(stub.DebitReservation),
			"ReleaseRes": unary(stub.ReleaseRes), "CreditControl": unary(stub.CreditControl),
			"ConfirmAction": unary(stub.ConfirmAction),
		}
	},
	"calendar": func(connection *grpc.ClientConn) map[string]method {
		stub := calendarpb.NewCalendarClient(connection)
		return map[string]method{
			"Deploy": unary(stub.Deploy), "Book": unary(stub.Book), "Entries": unary(stub.Entries),
		}
	},
	"records": func(connection *grpc.ClientConn) map[string]method {
		stub := recordspb.NewRecordsClient(connection)
		return map[string]method{
			"Allocate": unary(stub.Allocate), "FindAllocation": unary(stub.FindAllocation),
			"CountAllocations": unary(stub.CountAllocations),
		}
	},
}

// unary is the method of a stub of one request and one reply.
func unary[Q, R proto.Message](of func(context.Context, Q, ...grpc.CallOption) (R, error)) method {
	return func(ctx context.Context, call *workload.Call) (proto.Message, error) {
		reply, err := of(ctx, call.Request.(Q))
		if err != nil {
			return nil, err // not a nil pointer in an interface
		}
		return reply, nil
	}
}

func uploadStream(stub transferpb.TransferClient) method {
	return func(ctx context.Context, call *workload.Call) (proto.Message, error) {
		stream, err := stub.UploadStream(ctx)
		if err != nil {
			return nil, err
		}
		for left := call.Data; len(left) > 0; left = left[min(call.ChunkBytes, len(left)):] {
			err := stream.Send(&transferpb.UploadChunk{Data: left[:min(call.ChunkBytes, len(left))]})
			if errors.Is(err, io.EOF) {
				break // the stream has ended, and its reply says why
			}
			if err != nil {
				return nil, err
			}
		}
		reply, err := stream.CloseAndRecv()
		if err != nil {
			return nil, err
		}
		return reply, nil
	}
}

// download checks each chunk when it has come.
func download(stub transferpb.TransferClient) method {
	return func(ctx context.Context, call *workload.Call) (proto.Message, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel() // also where the rest of a wrong stream is not read
		stream, err := stub.Download(ctx, call.Request.(*transferpb.DownloadRequest))
		if err != nil {
			return nil, err
		}
		for i := 0; ; i++ {
			chunk, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return nil, wrongly(call.CheckChunks(i))
			}
			if err == nil {
				err = wrongly(call.CheckChunk(i, chunk.GetData()))
			}
			if err != nil {
				return nil, err
			}
		}
	}
}
