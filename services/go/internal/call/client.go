package call

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/workload"
)

// client makes the calls of one user, one at a time.
type client interface {
	// call makes one call and stamps it. It returns the decoded reply, nil where that was a
	// stream, which it has checked; or why the call failed.
	call(ctx context.Context, of *workload.Call, at *stamps) (proto.Message, error)
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
	client func(group *Group, script *workload.Script, sockets *sockets) client
}

// defaultCodec is that of rest in the axis table.
const defaultCodec = "json"

// libraryOf finds it, and refuses a stack that it does not speak.
func libraryOf(group *Group, script *workload.Script) (*library, error) {
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
	if err := checkOperations(stack, script); err != nil {
		return nil, err
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

// checkOperations refuses operations that have no form in the stack (contracts/README.md, REST).
func checkOperations(stack map[string]string, script *workload.Script) error {
	for _, name := range script.Operations {
		switch {
		case stack["binding"] == "grpc":
		case stack["codec"] == "text" && name != "Hello":
			return fmt.Errorf("workload: %s has no form in codec text", name)
		case name == "UploadStream" || name == "Download":
			return fmt.Errorf("workload: %s is a stream of messages, which binding rest does not have", name)
		}
	}
	return nil
}

func closes(group *Group) bool { return group.Stack["connection"] == "close" }
