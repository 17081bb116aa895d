package service

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

// TestBucketsAreNarrow: the value that stands for a bucket is within 0.1 % of
// every value in it, and exact where nanoseconds are few.
func TestBucketsAreNarrow(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		ns := random.Uint64N(1 << (1 + random.UintN(37)))
		middle := middleNs(bucketOf(ns))
		if off := math.Abs(middle - float64(ns)); off > float64(ns)/1000 {
			t.Fatalf("%d ns is taken for %v", ns, middle)
		}
	}
}

func TestBucketsAscend(t *testing.T) {
	for bucket := range buckets - 1 {
		if middleNs(bucket) >= middleNs(bucket+1) || bucketOf(uint64(middleNs(bucket))) != bucket {
			t.Fatalf("bucket %d stands for %v, the next for %v", bucket, middleNs(bucket), middleNs(bucket+1))
		}
	}
}

func TestQuantilesAgainstASortedList(t *testing.T) {
	random, delays := rand.New(rand.NewPCG(3, 4)), newDelays()
	var all []time.Duration
	var sum time.Duration
	for range 9_999 {
		delay := time.Duration(math.Exp(random.NormFloat64()) * 1e6)
		delays.record(delay)
		all, sum = append(all, delay), sum+delay
	}
	slices.Sort(all)
	count, sumS, at := delays.summary(0.5, 0.99)
	if count != 9_999 || sumS != sum.Seconds() {
		t.Errorf("count %d, sum %v, want %v", count, sumS, sum.Seconds())
	}
	for quantile, got := range at {
		want := all[int(quantile*float64(len(all)))].Seconds()
		if math.Abs(got-want) > want/500 {
			t.Errorf("quantile %v is %v, want %v", quantile, got, want)
		}
	}
}

func TestNoDelays(t *testing.T) {
	if count, sum, at := newDelays().summary(0.5); count != 0 || sum != 0 || len(at) != 0 {
		t.Errorf("count %d, sum %v, quantiles %v", count, sum, at)
	}
}

func TestDelaysAreCountedFromManySides(t *testing.T) {
	delays := newDelays()
	var done sync.WaitGroup
	for range 8 {
		done.Go(func() {
			for range 1000 {
				delays.record(time.Microsecond)
			}
		})
	}
	done.Wait()
	if count, _, at := delays.summary(0.5); count != 8000 || at[0.5] != 1e-6 {
		t.Errorf("count %d, median %v", count, at[0.5])
	}
	delays.reset()
	if count, _, _ := delays.summary(); count != 0 {
		t.Errorf("%d after a reset", count)
	}
}

// TestDelayIsNeverShorter: spun or slept.
func TestDelayIsNeverShorter(t *testing.T) {
	for _, us := range []int64{1, 100, 1_999, 2_000, 5_000} {
		start := time.Now()
		newDelay(Faults{DelayUs: &us}).wait(start)
		if took := time.Since(start); took < time.Duration(us)*time.Microsecond {
			t.Errorf("%d us took %v", us, took)
		}
	}
}
