package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	calendarpb "wirelab/services/go/calendarpb"
	chargingpb "wirelab/services/go/chargingpb"
	"wirelab/services/go/internal/contract"
	petclinicpb "wirelab/services/go/petclinicpb"
	recordspb "wirelab/services/go/recordspb"
	transferpb "wirelab/services/go/transferpb"
)

// selfCallTimeout comes on top of the injected delay.
const selfCallTimeout = 20 * time.Second

// selfCalls are the requests that a service makes to itself; they change nothing.
var selfCalls = map[string]struct {
	operation string
	request   proto.Message
}{
	"petclinic": {"GetPetType", &petclinicpb.GetPetTypeRequest{Id: 1}},
	"transfer":  {"Hello", &transferpb.HelloRequest{}},
	"charging":  {"CreditControl", &chargingpb.CreditControlRequest{Id: 1}},
	"calendar":  {"Entries", &calendarpb.EntriesRequest{Owner: "nobody", Day: 1}},
	"records":   {"CountAllocations", &recordspb.CountAllocationsRequest{}},
}

// caller calls one operation over a stack, as a stranger would.
type caller func(ctx context.Context, operation *contract.Operation, request proto.Message) (proto.Message, error)

// callSelf makes one call over the service's own address and stack, so that
// `ready` is printed by a service that has answered a real call.
func callSelf(ctx context.Context, config *Config, of *contract.Contract, at string, security *security) error {
	patience := selfCallTimeout
	if delay := config.Faults.DelayUs; delay != nil {
		patience += time.Duration(*delay) * time.Microsecond
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	own := selfCalls[of.Name]
	operation := &of.Operations[of.Index(own.operation)]
	answer, err := newCaller(config, of, at, security)(ctx, operation, own.request)
	if err != nil {
		return fmt.Errorf("the service could not call itself: %w", err)
	}
	expected, err := operation.Answer(own.request)
	if err == nil && !proto.Equal(answer, expected) {
		err = errors.New("the service answered its own call with another message than its contract does")
	}
	return err
}

func newCaller(config *Config, of *contract.Contract, at string, security *security) caller {
	switch config.Stack.Binding {
	case "grpc":
		return grpcCaller(of, at, security)
	case "soap":
		return soapCaller(config, of, newTransport(config, at, security))
	}
	return restCaller(config, of, newTransport(config, at, security))
}
