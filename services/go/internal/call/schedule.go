package call

import "math"

// schedule yields the arrivals of an open load: nanoseconds from its origin,
// never decreasing. They are those of the engine with one thread.
type schedule struct {
	gapNS  float64
	number uint64
	atNS   float64
	// state of SplitMix64; nil: evenly spaced.
	state *uint64
}

func newSchedule(load Load) *schedule {
	s := &schedule{gapNS: 1e9 / load.Rate}
	if load.Kind == "poisson" {
		seed := load.Seed
		s.state = &seed
	}
	return s
}

func (s *schedule) next() int64 {
	if s.state == nil {
		// From the number, not by adding up gaps: no drift in long runs.
		at := float64(s.number) * s.gapNS
		s.number++
		return int64(at)
	}
	// Inverse transform of the exponential distribution.
	s.atNS += -math.Log(1-unit(s.state)) * s.gapNS
	return int64(s.atNS)
}

// unit is the next number in [0, 1) of SplitMix64 (Steele, Lea, Flood: Fast
// Splittable Pseudorandom Number Generators, 2014).
func unit(state *uint64) float64 {
	*state += 0x9E3779B97F4A7C15
	z := *state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	z ^= z >> 31
	return float64(z>>11) / (1 << 53)
}

// The warm-up's test, as crates/load/src/schedule/warmup.rs has it.
const (
	sampleNS   = 50_000_000
	span       = 4
	level      = 0.05
	errorsOf   = 2.0
	roundsEach = 3
)

// stationary: the mean of the last four samples is that of the four before,
// within 5 % or two standard errors of such counts, and every user of a closed
// load has ended three calls on average.
func stationary(counts []uint64, users int) bool {
	if len(counts) < 2*span {
		return false
	}
	var ended, before, after uint64
	for i, count := range counts {
		ended += count
		switch {
		case i >= len(counts)-span:
			after += count
		case i >= len(counts)-2*span:
			before += count
		}
	}
	b, a := float64(before), float64(after)
	return ended >= roundsEach*uint64(users) && a > 0 &&
		math.Abs(a-b) <= max(level*(a+b)/2, errorsOf*math.Sqrt(a+b))
}
