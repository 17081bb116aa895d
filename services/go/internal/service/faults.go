package service

import (
	"fmt"
	"math/bits"
	"sync/atomic"
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

// wait returns after the delay, which began at start.
func (d *Delay) wait(start time.Time) {
	if d.length >= spinBelow {
		time.Sleep(d.length)
	}
	for time.Since(start) < d.length {
	}
	d.given.record(time.Since(start))
}

// Buckets of Delays: values below 2 * bucketsPerDoubling ns have one each, and
// from there on every doubling is cut into bucketsPerDoubling, so that a bucket
// is at most 1/1024 of its value wide.
const (
	bucketsPerDoubling = 1 << 10
	doublings          = 28 // up to 2^38 ns, 4.6 minutes
	buckets            = (doublings + 1) * bucketsPerDoubling
)

// Delays is a histogram of durations that may be written by many at once.
type Delays struct {
	counts [buckets]atomic.Int64
	sumNs  atomic.Int64
}

func newDelays() *Delays { return &Delays{} }

func bucketOf(ns uint64) int {
	exponent := max(bits.Len64(ns)-11, 0)
	return min(exponent*bucketsPerDoubling+int(ns>>exponent), buckets-1)
}

// middleNs is the value that stands for a bucket.
func middleNs(bucket int) float64 {
	exponent := max(bucket/bucketsPerDoubling-1, 0)
	low := uint64(bucket-exponent*bucketsPerDoubling) << exponent
	return float64(low) + float64(uint64(1)<<exponent-1)/2
}

func (d *Delays) record(delay time.Duration) {
	d.counts[bucketOf(uint64(max(delay, 0)))].Add(1)
	d.sumNs.Add(int64(delay))
}

func (d *Delays) reset() {
	for i := range d.counts {
		d.counts[i].Store(0)
	}
	d.sumNs.Store(0)
}

// summary is the number of delays, their sum in seconds, and the quantiles
// asked for, in ascending order, in seconds.
func (d *Delays) summary(quantiles ...float64) (count uint64, sumS float64, at map[float64]float64) {
	counts := make([]int64, buckets)
	for i := range counts {
		counts[i] = d.counts[i].Load()
		count += uint64(counts[i])
	}
	at = make(map[float64]float64, len(quantiles))
	if count == 0 {
		return 0, 0, at
	}
	seen, bucket := uint64(counts[0]), 0
	for _, quantile := range quantiles {
		for float64(seen) < quantile*float64(count) {
			bucket++
			seen += uint64(counts[bucket])
		}
		at[quantile] = middleNs(bucket) / 1e9
	}
	return count, float64(d.sumNs.Load()) / 1e9, at
}
