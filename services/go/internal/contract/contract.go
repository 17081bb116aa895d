// Package contract defines what a contract consists of, without a wire: operations
// on generated messages, and errors whose texts belong to it. Every binding
// serves any contract from this one table (contracts/README.md).
package contract

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"google.golang.org/protobuf/proto"
)

// Contract is one of the lab's contracts, with its state.
type Contract struct {
	// Name is `transfer`.
	Name string
	// Service is the name of the .proto's service: `Transfer`.
	Service string
	// Operations in the order of the .proto.
	Operations []Operation
	// Money is the sum of all balances now; nil where there is none.
	Money func() int64
	// Database is where it keeps rows; nil without one.
	Database Database
	// Streams counts the items of its streams; nil where they are not counted.
	Streams *StreamCounts
	// HasErrorInfo: errors over REST in JSON have the form of Spring PetClinic's ErrorInfo.
	HasErrorInfo bool
}

// Database is a pool of connections.
type Database interface {
	// Connections are those in use and idle now.
	Connections() (inUse, idle int)
	Close() error
}

// Namespace is that of the contract's elements in XML.
func (c *Contract) Namespace() string { return "urn:wirelab:" + c.Name + ":v1" }

// GRPCService is the service's full name.
func (c *Contract) GRPCService() string { return "wirelab." + c.Name + ".v1." + c.Service }

// Index is the place of an operation of that name, or -1.
func (c *Contract) Index(operation string) int {
	return slices.IndexFunc(c.Operations, func(o Operation) bool { return o.Name == operation })
}

// Operation is one call of a contract.
type Operation struct {
	Name string
	// NewRequest and NewReply make empty messages; of a stream, one of many.
	NewRequest, NewReply func() proto.Message
	// Answer answers a request; nil for a stream.
	Answer func(proto.Message) (proto.Message, error)
	// Stream is nil for a call of one request and one reply.
	Stream *Stream
	// Route is how the call travels in REST; nil: POST /CONTRACT/OPERATION.
	Route *Route
	// EntityTag is that of every reply (contracts/README.md, Caches); empty: replies have none.
	EntityTag string
}

// WithRoute returns the operation with that route.
func (o Operation) WithRoute(route Route) Operation {
	o.Route = &route
	return o
}

// WithEntityTag returns the operation with that tag of its replies.
func (o Operation) WithEntityTag(tag string) Operation {
	o.EntityTag = tag
	return o
}

// Route is the method, path and reply of an operation in REST. What it leaves empty
// is as in `POST /CONTRACT/OPERATION`.
type Route struct {
	Method string
	// Path is a pattern of http.ServeMux, whose wildcards are int32 fields of the request.
	Path string
	// Query is a field of the request that is a query parameter; empty: none.
	Query string
	// Status of a good reply; 204 has no body, and 0 is 200.
	Status int
	// IsList states that the reply's only list is in JSON the whole body.
	IsList bool
	// Location is the field Location of a good reply, with wildcards that are fields of
	// the reply; empty: none.
	Location string
	// CheckJSON refuses a body in JSON before it is decoded; nil: none is refused.
	CheckJSON func([]byte) error
}

// StreamCounts are the counters of contract stream, which many calls add to.
type StreamCounts struct {
	// Items sent.
	Items atomic.Int64
	// Late are items sent more than 10 ms after they were due.
	Late atomic.Int64
	// Cancelled are streams that ended before their last item.
	Cancelled atomic.Int64
}

// Reset forgets all.
func (c *StreamCounts) Reset() {
	c.Items.Store(0)
	c.Late.Store(0)
	c.Cancelled.Store(0)
}

// Stream is an operation with many messages in one direction or in both.
type Stream struct {
	FromClient, FromServer bool
	// OverHTTP: it travels in REST and SSE too, as lines or events of a body.
	OverHTTP bool
	// Serve reads and writes messages until the call has ended.
	Serve func(Messages) error
}

// Messages is the wire's side of a stream; after the last message RecvMsg
// returns io.EOF.
type Messages interface {
	// Context ends when the client cancels the stream.
	Context() context.Context
	RecvMsg(into any) error
	SendMsg(message any) error
}

// pointer is a generated message by its pointer type.
type pointer[M any] interface {
	*M
	proto.Message
}

// Unary is an operation of one request and one reply.
func Unary[Q, R any, PQ pointer[Q], PR pointer[R]](name string, answer func(PQ) (PR, error)) Operation {
	return Operation{
		Name:       name,
		NewRequest: func() proto.Message { return PQ(new(Q)) },
		NewReply:   func() proto.Message { return PR(new(R)) },
		Answer: func(request proto.Message) (proto.Message, error) {
			reply, err := answer(request.(PQ))
			if err != nil {
				return nil, err // not a nil pointer in an interface
			}
			return reply, nil
		},
	}
}

// ErrUnavailable answers a call that the database did not. It is not an application
// error: REST status 503, gRPC UNAVAILABLE, SOAP fault Receiver.
var ErrUnavailable = errors.New("database unavailable")

// Errors of contracts whose rows have ids. In REST the first is status 404, and in
// gRPC NOT_FOUND.
const (
	ErrNotFound ApplicationError = "not found"
	ErrInvalid  ApplicationError = "invalid request"
)

// ApplicationError is an error that a contract knows; its text is part of it.
type ApplicationError string

func (e ApplicationError) Error() string { return string(e) }
