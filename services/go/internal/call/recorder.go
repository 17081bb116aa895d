package call

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// stamps of one call, nanoseconds of CLOCK_MONOTONIC; 0: not reported.
type stamps struct {
	intended, sent, flushed, firstByte, done int64
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

// shard records the calls of some users.
type shard struct {
	mu          sync.Mutex
	times       map[string]*distribution
	good        distribution
	failed      distribution
	ok, errors  uint64
	ended, fine uint64
	kinds       map[string]uint64
	codes       map[string]uint64
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

func newShard() *shard {
	return &shard{times: map[string]*distribution{}, kinds: map[string]uint64{}, codes: map[string]uint64{}}
}

func (s *shard) add(name string, from, to int64) {
	if from == 0 || to == 0 {
		return // a stamp that was not reported
	}
	s.distribution(name).add(to - from)
}

func (s *shard) distribution(name string) *distribution {
	if s.times[name] == nil {
		s.times[name] = &distribution{}
	}
	return s.times[name]
}

// record keeps a call that has ended; the window is [start, end).
func (s *shard) record(at stamps, why *failure, start, end int64, isSettled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	call := ending{at.sent, at.done, why == nil}
	if isSettled {
		s.count(call, start, end)
	} else if start <= at.done {
		s.unsettled = append(s.unsettled, call)
	}
	if at.intended < start || at.intended >= end {
		return
	}
	if why != nil {
		s.fail(at, why)
		return
	}
	s.ok++
	s.good.add(at.done - at.intended)
	s.add("service", at.sent, at.done)
	s.add("queueing", at.intended, at.sent)
	s.add("write", at.sent, at.flushed)
	s.add("wait", at.flushed, at.firstByte)
	s.add("read", at.firstByte, at.done)
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

func (s *shard) fail(at stamps, why *failure) {
	s.errors++
	s.failed.add(at.done - at.intended)
	s.kinds[why.kind]++
	s.codes[why.code]++
	if len(s.examples) < examplesMax && !slices.Contains(s.examples, why.text) {
		s.examples = append(s.examples, why.text)
	}
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

// merge adds another shard to this one.
func (s *shard) merge(other *shard) {
	other.mu.Lock()
	defer other.mu.Unlock()
	for name, of := range other.times {
		s.distribution(name).merge(of)
	}
	s.good.merge(&other.good)
	s.failed.merge(&other.failed)
	s.ok, s.errors = s.ok+other.ok, s.errors+other.errors
	s.ended, s.fine = s.ended+other.ended, s.fine+other.fine
	s.inFlightNS += other.inFlightNS
	for kind, n := range other.kinds {
		s.kinds[kind] += n
	}
	for code, n := range other.codes {
		s.codes[code] += n
	}
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
func (s *shard) allTimes() (map[string]Times, error) {
	named := maps.Clone(s.times)
	response := &distribution{}
	response.merge(&s.good)
	response.merge(&s.failed)
	named["response"] = response
	if s.errors > 0 {
		named["response_good"], named["response_failed"] = &s.good, &s.failed
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
