package service

import (
	"fmt"
	"time"
)

// rustFaults are the switches that this service does not have.
var rustFaults = []string{"delay_operation", "freeze", "wrong", "close_mid_reply", "reset", "hang", "endless",
	"garbage", "exit_at_call", "fail_start", "text_check_ns_per_kb",
	"mutant"}

const (
	delayUsMax = 60_000_000
	// spinBelow is the delay from which on the service sleeps: the kernel's and
	// Go's timers are late by up to a millisecond.
	spinBelow = 2 * time.Millisecond
)

// Faults are the switches that are on. Null is off.
type Faults struct {
	DelayUs  *int64 `json:"delay_us"`
	DelayOp  any    `json:"delay_operation"`
	Freeze   any    `json:"freeze"`
	Wrong    any    `json:"wrong"`
	Close    any    `json:"close_mid_reply"`
	Reset    any    `json:"reset"`
	Hang     any    `json:"hang"`
	Endless  any    `json:"endless"`
	Garbage  any    `json:"garbage"`
	Exit     any    `json:"exit_at_call"`
	Fail     any    `json:"fail_start"`
	SlowText any    `json:"text_check_ns_per_kb"`
	Mutant   any    `json:"mutant"`
}

func (c *Config) checkFaults() *Refusal {
	f := &c.Faults
	switches := []any{f.DelayOp, f.Freeze, f.Wrong, f.Close, f.Reset, f.Hang, f.Endless, f.Garbage, f.Exit,
		f.Fail, f.SlowText, f.Mutant}
	for i, value := range switches {
		if value != nil {
			return &Refusal{"faults." + rustFaults[i], "only the embedded Rust services have it",
				"measure it on " + c.Stack.Binding + "@rust, or leave it out"}
		}
	}
	if f.DelayUs != nil && (*f.DelayUs < 0 || *f.DelayUs > delayUsMax) {
		return &Refusal{"faults.delay_us", fmt.Sprintf("must be 0 to %d, not %d", delayUsMax, *f.DelayUs),
			"choose a delay within that range"}
	}
	return nil
}

// Delay adds a delay to every call and remembers what each really was.
type Delay struct {
	length time.Duration
	given  *Delays
}

// newDelay is nil when no delay is asked for.
func newDelay(f Faults) *Delay {
	if f.DelayUs == nil || *f.DelayUs == 0 {
		return nil
	}
	return &Delay{time.Duration(*f.DelayUs) * time.Microsecond, newDelays()}
}

// inflict returns after the delay, which began at start.
func (d *Delay) inflict(start time.Time) {
	if d.length >= spinBelow {
		time.Sleep(d.length)
	}
	for time.Since(start) < d.length {
	}
	d.given.record(time.Since(start))
}
