package call

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// stamps of one call, nanoseconds of CLOCK_MONOTONIC; 0: not reported. arrival is when the
// first call of its sequence was intended, by which it belongs to the window.
type stamps struct {
	arrival, intended, sent, flushed, firstByte, done int64
}

// longestNS is the largest time of the histograms: an hour, as the engine's.
const longestNS = 3_600_000_000_000

// digits are the significant figures of the histograms.
const digits = 3

// slotNS is the length of an entry of the series.
const slotNS = 100_000_000

const (
	examplesMax   = 10
	firstCallsMax = 1000
	samplesAbove  = 10
)

// Times is one distribution, as contracts/process/event.schema.json has it.
type Times struct {
	Count         int64            `json:"count"`
	MeanNS        float64          `json:"mean_ns"`
	MinNS         int64            `json:"min_ns"`
	MaxNS         int64            `json:"max_ns"`
	PercentilesNS map[string]int64 `json:"percentiles_ns"`
	HDR           string           `json:"hdr"`
}

// distribution is a histogram with the exact sum and bounds of its values.
type distribution struct {
	histogram *hdrhistogram.Histogram
	sum       float64
	min, max  int64
}

func (d *distribution) add(ns int64) {
	ns = min(max(ns, 1), longestNS)
	if d.histogram == nil {
		d.histogram = hdrhistogram.New(1, longestNS, digits)
		d.min = ns
	}
	if err := d.histogram.RecordValue(ns); err != nil {
		panic(err) // within the bounds above
	}
	d.sum += float64(ns)
	d.min, d.max = min(d.min, ns), max(d.max, ns)
}

func (d *distribution) merge(other *distribution) {
	if other.histogram == nil {
		return
	}
	if d.histogram == nil {
		d.histogram = hdrhistogram.New(1, longestNS, digits)
		d.min = other.min
	}
	d.histogram.Merge(other.histogram)
	d.sum += other.sum
	d.min, d.max = min(d.min, other.min), max(d.max, other.max)
}

var percentiles = []struct {
	name  string
	value float64
}{{"p50", 50}, {"p90", 90}, {"p99", 99}, {"p99.9", 99.9}, {"p99.99", 99.99}}

func (d *distribution) times() (Times, error) {
	encoded, err := d.histogram.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return Times{}, fmt.Errorf("histogram: %w", err)
	}
	count := d.histogram.TotalCount()
	times := Times{
		Count: count, MeanNS: d.sum / float64(count), MinNS: d.min, MaxNS: d.max,
		PercentilesNS: map[string]int64{}, HDR: string(encoded),
	}
	for _, p := range percentiles {
		if float64(count)*(100-p.value)/100 >= samplesAbove-1e-9 {
			times.PercentilesNS[p.name] = min(d.histogram.ValueAtQuantile(p.value), d.max)
		}
	}
	return times, nil
}

// calls of the window that are recorded together.
type calls struct {
	times      map[string]*distribution
	good       distribution
	failed     distribution
	ok, errors uint64
	kinds      map[string]uint64
	codes      map[string]uint64
}

func newCalls() *calls {
	return &calls{times: map[string]*distribution{}, kinds: map[string]uint64{}, codes: map[string]uint64{}}
}

// shard records the calls of some users.
type shard struct {
	mu sync.Mutex
	*calls
	// operations are the same calls by operation.
	operations  map[string]*calls
	sequences   sequences
	ended, fine uint64
	examples    []string
	series      []uint64
	inFlightNS  int64
	// unsettled calls have ended before the end of the window was known.
	unsettled []ending
}

// ending is what of a call decides whether it ended in the window.
type ending struct {
	sent, done int64
	fine       bool
}

func newShard() *shard { return &shard{calls: newCalls(), operations: map[string]*calls{}} }

func (c *calls) add(name string, from, to int64) {
	if from == 0 || to == 0 {
		return // a stamp that was not reported
	}
	c.distribution(name).add(to - from)
}

func (c *calls) distribution(name string) *distribution {
	if c.times[name] == nil {
		c.times[name] = &distribution{}
	}
	return c.times[name]
}

func (s *shard) operation(name string) *calls {
	if s.operations[name] == nil {
		s.operations[name] = newCalls()
	}
	return s.operations[name]
}

// record keeps a call that has ended; the window is [start, end).
func (s *shard) record(operation string, at stamps, why *failure, start, end int64, isSettled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	call := ending{at.sent, at.done, why == nil}
	if isSettled {
		s.count(call, start, end)
	} else if start <= at.done {
		s.unsettled = append(s.unsettled, call)
	}
	if at.arrival < start || at.arrival >= end {
		return
	}
	if why != nil && len(s.examples) < examplesMax && !slices.Contains(s.examples, why.text) {
		s.examples = append(s.examples, why.text)
	}
	s.calls.record(at, why)
	s.operation(operation).record(at, why)
}

func (c *calls) record(at stamps, why *failure) {
	if why != nil {
		c.errors++
		c.failed.add(at.done - at.intended)
		c.kinds[why.kind]++
		c.codes[why.code]++
		return
	}
	c.ok++
	c.good.add(at.done - at.intended)
	c.add("service", at.sent, at.done)
	c.add("queueing", at.intended, at.sent)
	c.add("write", at.sent, at.flushed)
	c.add("wait", at.flushed, at.firstByte)
	c.add("read", at.firstByte, at.done)
}

// recordSequence keeps a sequence that has ended; the window is [start, end).
func (s *shard) recordSequence(arrival, done int64, isFailed bool, start, end int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if arrival >= start && arrival < end {
		s.sequences.add(done-arrival, isFailed)
	}
}

// settle counts the calls that ended before the end of the window was known.
func (s *shard) settle(start, end int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, call := range s.unsettled {
		s.count(call, start, end)
	}
	s.unsettled = nil
}

func (s *shard) count(call ending, start, end int64) {
	if call.sent != 0 {
		s.inFlightNS += max(0, min(call.done, end)-max(call.sent, start))
	}
	if call.done < start || call.done >= end {
		return
	}
	s.ended++
	if !call.fine {
		return
	}
	s.fine++
	slot := int((call.done - start) / slotNS)
	for len(s.series) <= slot {
		s.series = append(s.series, 0)
	}
	s.series[slot]++
}

func (s *shard) addLag(ns int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.distribution("lag").add(ns)
}

func (s *shard) addConnect(ns int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.distribution("connect").add(ns)
}

// merge adds others to these.
func (c *calls) merge(other *calls) {
	for name, of := range other.times {
		c.distribution(name).merge(of)
	}
	c.good.merge(&other.good)
	c.failed.merge(&other.failed)
	c.ok, c.errors = c.ok+other.ok, c.errors+other.errors
	for kind, n := range other.kinds {
		c.kinds[kind] += n
	}
	for code, n := range other.codes {
		c.codes[code] += n
	}
}

// merge adds another shard to this one.
func (s *shard) merge(other *shard) {
	other.mu.Lock()
	defer other.mu.Unlock()
	s.calls.merge(other.calls)
	for name, of := range other.operations {
		s.operation(name).merge(of)
	}
	s.sequences.merge(&other.sequences)
	s.ended, s.fine = s.ended+other.ended, s.fine+other.fine
	s.inFlightNS += other.inFlightNS
	for _, text := range other.examples {
		if len(s.examples) < examplesMax && !slices.Contains(s.examples, text) {
			s.examples = append(s.examples, text)
		}
	}
	for len(s.series) < len(other.series) {
		s.series = append(s.series, 0)
	}
	for slot, n := range other.series {
		s.series[slot] += n
	}
}

// allTimes are the distributions that got a value, by name.
func (c *calls) allTimes() (map[string]Times, error) {
	named := maps.Clone(c.times)
	response := &distribution{}
	response.merge(&c.good)
	response.merge(&c.failed)
	named["response"] = response
	if c.errors > 0 {
		named["response_good"], named["response_failed"] = &c.good, &c.failed
	}
	times := map[string]Times{}
	for name, of := range named {
		if of.histogram == nil {
			continue
		}
		one, err := of.times()
		if err != nil {
			return nil, err
		}
		times[name] = one
	}
	return times, nil
}

// operationsApart is each operation by itself, where there are several.
func (s *shard) operationsApart(names []string) ([]operationOutcome, error) {
	if len(names) < 2 {
		return nil, nil
	}
	var found []operationOutcome
	for _, name := range names {
		of := s.operation(name)
		times, err := of.allTimes()
		if err != nil {
			return nil, err
		}
		found = append(found, operationOutcome{
			Operation: name, Calls: of.ok + of.errors, OK: of.ok, Errors: of.errors,
			ErrorsByKind: of.kinds, ErrorsByCode: of.codes, Times: times,
		})
	}
	return found, nil
}

// sequences of the window: all of them, and those that a failed call ended.
type sequences struct {
	good, failed  distribution
	count, errors uint64
}

func (s *sequences) add(ns int64, isFailed bool) {
	s.count++
	if isFailed {
		s.errors++
		s.failed.add(ns)
		return
	}
	s.good.add(ns)
}

func (s *sequences) merge(other *sequences) {
	s.good.merge(&other.good)
	s.failed.merge(&other.failed)
	s.count, s.errors = s.count+other.count, s.errors+other.errors
}

// outcome is nil where there were none.
func (s *sequences) outcome() (*sequencesOutcome, error) {
	if s.count == 0 {
		return nil, nil
	}
	all := &distribution{}
	all.merge(&s.good)
	all.merge(&s.failed)
	response, err := all.times()
	if err != nil || s.errors == 0 || s.errors == s.count {
		return &sequencesOutcome{Count: s.count, Errors: s.errors, Response: response}, err
	}
	good, err := s.good.times()
	return &sequencesOutcome{s.count, s.errors, response, &good}, err
}
