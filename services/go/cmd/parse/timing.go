package main

import (
	"fmt"
	"slices"
	"time"
)

// document is a document in memory.
type document struct {
	name  string
	bytes []byte
}

// plan bounds a measurement. windowNS is for each document, shared by its blocks.
type plan struct {
	warmupNS, windowNS int64
	blocks             int
}

// isWarm reports whether a warm-up of that number of parses and that time may end
// when times are stable.
func (p plan) isWarm(parses, elapsedNS int64) bool {
	return parses >= warmParses && float64(elapsedNS) >= warmShare*float64(p.warmupNS)
}

// times are what one document took.
type times struct {
	Name        string    `json:"name"`
	Fingerprint string    `json:"fingerprint"`
	Parses      int64     `json:"parses"`
	ElapsedNS   int64     `json:"elapsed_ns"`
	BlockNS     []float64 `json:"block_ns"`
}

// result is what the process measured.
type result struct {
	Implementation string  `json:"implementation"`
	Library        string  `json:"library"`
	Runtime        string  `json:"runtime"`
	FirstNS        int64   `json:"first_ns"`
	WarmupNS       int64   `json:"warmup_ns"`
	Calm           bool    `json:"calm"`
	Documents      []times `json:"documents"`
}

const (
	// rounds of warm-up whose means must lie within calm of each other.
	rounds = 5
	calm   = 1.05
	// roundNS is the least length of a round: the clock does not disturb it.
	roundNS = int64(10 * time.Millisecond)
	// warmParses and warmShare of the bound are what calm alone does not end a warm-up
	// before: the same in every language, for Java's compiler.
	warmParses = 20_000
	warmShare  = 0.5
)

// subject is a document with its parser, and what a parse of it returns.
type subject struct {
	document
	parser   parser
	expected uint64
	parseNS  float64
}

// measure times the first parse, with the making of the parser, then warms up until calm,
// which counts once isWarm holds, or until its bound, then times blocks of parses, the
// documents in turn.
func measure(maker func() parser, documents []document, plan plan) (*result, error) {
	start := time.Now()
	made := maker()
	if _, err := made.parse(documents[0].name, documents[0].bytes); err != nil {
		return nil, err
	}
	timed := result{FirstNS: time.Since(start).Nanoseconds()}
	subjects := make([]subject, len(documents))
	for at, one := range documents {
		sum, err := made.parse(one.name, one.bytes)
		if err != nil {
			return nil, err
		}
		subjects[at] = subject{document: one, parser: made, expected: sum}
	}
	start = time.Now()
	var err error
	if timed.Calm, err = warmUp(subjects, plan); err != nil {
		return nil, err
	}
	timed.WarmupNS = time.Since(start).Nanoseconds()
	timed.Documents, err = blocks(subjects, plan)
	return &timed, err
}

// warmUp returns whether its last rounds took equally long.
func warmUp(subjects []subject, plan plan) (bool, error) {
	start, parses := time.Now(), int64(0)
	recent := make([]float64, 0, rounds)
	for {
		total := 0.0
		for at := range subjects {
			one := &subjects[at]
			begun, count, elapsed := time.Now(), int64(0), int64(0)
			for elapsed < roundNS/int64(len(subjects)) {
				if err := one.block(1); err != nil {
					return false, err
				}
				count, elapsed = count+1, time.Since(begun).Nanoseconds()
			}
			parses += count
			one.parseNS = float64(elapsed) / float64(count)
			total += one.parseNS
		}
		if len(recent) == rounds {
			recent = recent[1:]
		}
		recent = append(recent, total)
		settled := len(recent) == rounds && slices.Max(recent)/slices.Min(recent) < calm
		elapsed := time.Since(start).Nanoseconds()
		if elapsed > plan.warmupNS || settled && plan.isWarm(parses, elapsed) {
			return settled, nil
		}
	}
}

func blocks(subjects []subject, plan plan) ([]times, error) {
	timed := make([]times, len(subjects))
	for range plan.blocks {
		for at := range subjects {
			one := &subjects[at]
			count := max(1, int64(float64(plan.windowNS)/float64(plan.blocks)/one.parseNS))
			start := time.Now()
			if err := one.block(count); err != nil {
				return nil, err
			}
			took := time.Since(start).Nanoseconds()
			timed[at].Parses += count
			timed[at].ElapsedNS += took
			timed[at].BlockNS = append(timed[at].BlockNS, float64(took)/float64(count))
		}
	}
	for at, one := range subjects {
		seen, err := one.parser.fingerprint(one.name, one.bytes)
		if err != nil {
			return nil, err
		}
		timed[at].Name, timed[at].Fingerprint = one.name, seen
	}
	return timed, nil
}

// block parses that many times, and proves that each parse read all of the document.
func (s *subject) block(count int64) error {
	sum := uint64(0)
	for range count {
		one, err := s.parser.parse(s.name, s.bytes)
		if err != nil {
			return err
		}
		sum += one
	}
	if sum != uint64(count)*s.expected {
		return fmt.Errorf("parses of %s differ from the first one", s.name)
	}
	return nil
}
