package call

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// failure is a failed call: kind and code as the engine names them
// (crates/load/src/record/error.rs).
type failure struct {
	kind, code, text string
}

func (f *failure) Error() string { return f.text }

func wrong(format string, values ...any) error {
	return &failure{"wrong", "wrong_reply", fmt.Sprintf(format, values...)}
}

func application(text string) error {
	return &failure{"application", "application_error", text}
}

// errUnfinished ends the calls that are under way when the drain is over.
var errUnfinished = errors.New("still under way when the drain ended")

// neverSent is the failure of an arrival that found no place before the drain was over.
var neverSent = &failure{"unfinished", "unfinished", "never sent: it still waited when the drain ended"}

// failureOf finds kind and cause of an error of net/http or grpc-go. ctx is the call's.
func failureOf(ctx context.Context, err error) *failure {
	var known *failure
	if errors.As(err, &known) {
		return known
	}
	text := err.Error()
	var timeout net.Error
	switch {
	case errors.Is(context.Cause(ctx), errUnfinished):
		return &failure{"unfinished", "unfinished", errUnfinished.Error()}
	case errors.Is(err, context.DeadlineExceeded), ctx.Err() != nil, errors.As(err, &timeout) && timeout.Timeout():
		return &failure{"timeout", "timeout", text}
	}
	if answered, is := status.FromError(err); is {
		return grpcFailure(answered)
	}
	return networkFailure(err, text)
}

func networkFailure(err error, text string) *failure {
	var operation *net.OpError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return &failure{"refused", "connection_refused", text}
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return &failure{"reset", "reset", text}
	case errors.As(err, &operation) && operation.Op == "dial":
		return &failure{"refused", "connect_failed", text}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &failure{"closed", "connection_closed", text}
	}
	return &failure{"protocol", "protocol_error", text}
}

// grpcFailure: a status that grpc-go makes itself has the cause in its text alone.
func grpcFailure(answered *status.Status) *failure {
	text := answered.Message()
	switch answered.Code() {
	case codes.DeadlineExceeded:
		return &failure{"timeout", "timeout", text}
	case codes.Unavailable:
		switch {
		case strings.Contains(text, syscall.ECONNREFUSED.Error()):
			return &failure{"refused", "connection_refused", text}
		case strings.Contains(text, syscall.ECONNRESET.Error()), strings.Contains(text, syscall.EPIPE.Error()):
			return &failure{"reset", "reset", text}
		case strings.Contains(text, "EOF"), strings.Contains(text, "clos"):
			return &failure{"closed", "connection_closed", text}
		}
	case codes.Internal:
		return &failure{"protocol", "protocol_error", text}
	}
	return &failure{"application", "application_error", fmt.Sprintf("status %s: %s", answered.Code(), text)}
}
