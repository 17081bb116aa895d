package service

import (
	"errors"
	"sync/atomic"
	"time"

	"wirelab/services/go/internal/transfer"
)

// Calls accounts for every call of the service, in the same way for every
// binding: a few atomic additions and two readings of the clock.
type Calls struct {
	begun       [6]atomic.Int64
	failed      [6]atomic.Int64
	ended       atomic.Int64
	spentNs     atomic.Int64
	connections atomic.Int64
	delay       *Delay
}

// Call is one call under way.
type Call struct {
	calls     *Calls
	operation transfer.Operation
	start     time.Time
}

// Begin is called on entry into the service's code; it returns after the
// injected delay, if there is one.
func (c *Calls) Begin(operation transfer.Operation) Call {
	start := time.Now()
	c.begun[operation].Add(1)
	if c.delay != nil {
		c.delay.inflict(start)
	}
	return Call{c, operation, start}
}

// End is called on return from the service's code; err is what the call was
// answered with, and counts when it is an application error.
func (call Call) End(err error) {
	c := call.calls
	if err != nil && errors.As(err, new(transfer.ApplicationError)) {
		c.failed[call.operation].Add(1)
	}
	c.spentNs.Add(int64(time.Since(call.start)))
	c.ended.Add(1)
}

// inFlight is the number of calls under way. Ends are read first, so that it
// is never negative.
func (c *Calls) inFlight() int64 {
	inFlight := -c.ended.Load()
	for i := range c.begun {
		inFlight += c.begun[i].Load()
	}
	return inFlight
}

// reset forgets everything; to be called while no call is under way.
func (c *Calls) reset() {
	for i := range c.begun {
		c.begun[i].Store(0)
		c.failed[i].Store(0)
	}
	c.ended.Store(0)
	c.spentNs.Store(0)
	c.connections.Store(0)
	if c.delay != nil {
		c.delay.given.reset()
	}
}
