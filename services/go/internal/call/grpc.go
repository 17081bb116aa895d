package call

import (
	"context"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/stats"
	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/workload"
)

// grpcClient is the generated stub of one user, with one connection.
type grpcClient struct {
	dial       func() (*grpc.ClientConn, error)
	stubs      stubs
	connection *grpc.ClientConn
	methods    map[string]method
	keep       bool
}

func newGRPCClient(group *Group, script *workload.Script, sockets *sockets) client {
	c := &grpcClient{keep: !closes(group), stubs: stubsOf[script.Contract]}
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

func (c *grpcClient) call(ctx context.Context, of *workload.Call, at *stamps) (proto.Message, error) {
	if c.connection == nil {
		opened, err := c.dial()
		if err != nil {
			return nil, err
		}
		c.connection, c.methods = opened, c.stubs(opened)
	}
	if !c.keep {
		defer c.close()
	}
	reported := &reportedStamps{}
	defer reported.copyTo(at)
	return c.methods[of.Operation.Name](context.WithValue(ctx, stampsKey{}, reported), of)
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
		at.flushed.Store(nowNS()) // of a stream's last message
	case *stats.InHeader:
		at.firstByte.Store(nowNS())
	}
}

func (grpcStamps) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

func (grpcStamps) HandleConn(context.Context, stats.ConnStats) {}
