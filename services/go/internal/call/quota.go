package call

import (
	"math"
	"sync/atomic"
)

// quota are the calls that a window of calls holds.
type quota struct {
	calls int64
	// left may go below 0: users race for the last call.
	left atomic.Int64
	// lastIn is the latest arrival that was admitted, of as many as noted.
	lastIn, noted atomic.Int64
	// fullAt is the first arrival that was one too many; math.MaxInt64: not yet known.
	fullAt atomic.Int64
}

func newQuota(calls uint64) *quota {
	q := &quota{calls: int64(min(calls, math.MaxInt64))}
	q.left.Store(q.calls)
	q.fullAt.Store(math.MaxInt64)
	return q
}

// admit: whether an arrival of the window is one of its calls.
func (q *quota) admit(at int64) bool {
	if q.left.Add(-1) >= 0 {
		raise(&q.lastIn, at)
		q.noted.Add(1)
		return true
	}
	for full := q.fullAt.Load(); at < full && !q.fullAt.CompareAndSwap(full, at); full = q.fullAt.Load() {
	}
	return false
}

// closesAt is when the window closes: when one call more arrives. It holds all that
// were admitted, because an arrival may take from the quota before an earlier one of
// another user does. math.MaxInt64: not yet known.
func (q *quota) closesAt() int64 {
	full := q.fullAt.Load()
	if full == math.MaxInt64 || q.noted.Load() < q.calls {
		return math.MaxInt64
	}
	return max(full, q.lastIn.Load()+1)
}

func raise(value *atomic.Int64, to int64) {
	for old := value.Load(); to > old && !value.CompareAndSwap(old, to); old = value.Load() {
	}
}
