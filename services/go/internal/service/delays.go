package service

import (
	"math/bits"
	"sync/atomic"
	"time"
)

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
