package service

import (
	"errors"
	"sync/atomic"
	"time"

	"wirelab/services/go/internal/contract"
)

// Calls accounts for every call of the service, in the same way for every
// binding: a few atomic additions and two readings of the clock.
type Calls struct {
	contract    *contract.Contract
	operations  []counts // by the index in the contract
	entered     atomic.Int64
	ended       atomic.Int64
	spentNs     atomic.Int64
	connections atomic.Int64
	delay       *Delay
	// keepsReplies: the last reply of each operation is kept, for timing its codec.
	keepsReplies bool
}

// counts of one operation.
type counts struct {
	begun, failed atomic.Int64
	reply         atomic.Pointer[codedReply]
}

func newCalls(of *contract.Contract, delay *Delay, keepsReplies bool) *Calls {
	return &Calls{contract: of, operations: make([]counts, len(of.Operations)), delay: delay, keepsReplies: keepsReplies}
}

// Call is one call under way.
type Call struct {
	calls     *Calls
	operation int // -1 while it is not known
	start     time.Time
}

// Enter is called on entry into the service's code.
func (c *Calls) Enter() Call {
	c.entered.Add(1)
	return Call{c, -1, time.Now()}
}

// Is sets the operation of the call; it returns after the injected delay,
// if there is one.
func (call *Call) Is(operation int) {
	call.operation = operation
	call.calls.operations[operation].begun.Add(1)
	if delay := call.calls.delay; delay != nil {
		delay.wait(time.Now())
	}
}

// Begin is Enter where the operation is known at once.
func (c *Calls) Begin(operation int) Call {
	call := c.Enter()
	call.Is(operation)
	return call
}

// replied is called with the reply that the call is answered with.
func (call *Call) replied(reply codedReply) {
	if call.calls.keepsReplies {
		kept := reply // so that only what is kept goes to the heap
		call.calls.operations[call.operation].reply.Store(&kept)
	}
}

// reply is the last one of an operation; nil where none is kept.
func (c *Calls) reply(operation string) *codedReply {
	index := c.contract.Index(operation)
	if index < 0 {
		return nil
	}
	return c.operations[index].reply.Load()
}

// End is called on return from the service's code; err is what the call was
// answered with, and counts when it is an application error.
func (call *Call) End(err error) {
	c := call.calls
	if call.operation >= 0 && isApplicationError(err) {
		c.operations[call.operation].failed.Add(1)
	}
	c.spentNs.Add(int64(time.Since(call.start)))
	c.ended.Add(1)
}

func isApplicationError(err error) bool {
	return err != nil && errors.As(err, new(contract.ApplicationError))
}

// inFlight is the number of calls under way. Ends are read first, so that it
// is never negative.
func (c *Calls) inFlight() int64 {
	ended := c.ended.Load()
	return c.entered.Load() - ended
}

// reset forgets everything; to be called while no call is under way.
func (c *Calls) reset() {
	for i := range c.operations {
		c.operations[i].begun.Store(0)
		c.operations[i].failed.Store(0)
		c.operations[i].reply.Store(nil)
	}
	c.entered.Store(0)
	c.ended.Store(0)
	c.spentNs.Store(0)
	c.connections.Store(0)
	if c.contract.Streams != nil {
		c.contract.Streams.Reset()
	}
	if c.delay != nil {
		c.delay.given.reset()
	}
}
