package call

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// shardsMax bounds the memory of histograms: users share shards.
const shardsMax = 16

// run is a group that is carried out.
type run struct {
	group   *Group
	library *library
	sockets *sockets
	shards  []*shard
	// The window, CLOCK_MONOTONIC; math.MaxInt64: not yet known.
	start, end atomic.Int64
	// opening is held while the window opens.
	opening sync.RWMutex
	// quota of a window of calls; nil: it has a length.
	quota *quota

	// begun are all calls, sent those that a connection was given to.
	begun, sent, completed, failed atomic.Uint64
	inFlight                       atomic.Int64
	lastDone                       atomic.Int64
	queueMax                       atomic.Int64

	// over ends the making of calls; calls is the parent of every call.
	over  chan struct{}
	once  sync.Once
	calls context.Context

	firstMu sync.Mutex
	first   []int64
}

func newRun(calls context.Context, group *Group, lib *library) *run {
	r := &run{group: group, library: lib, calls: calls, over: make(chan struct{})}
	places := group.Load.InFlightMax
	if group.Load.IsClosed() {
		places = group.Load.Users
	}
	for range min(places, shardsMax) {
		r.shards = append(r.shards, newShard())
	}
	r.sockets = &sockets{connected: r.shards[0].addConnect}
	r.start.Store(math.MaxInt64)
	r.end.Store(math.MaxInt64)
	if calls := group.Window.Calls; calls != nil {
		r.quota = newQuota(calls.Calls)
	}
	return r
}

// stop ends the making of calls.
func (r *run) stop() { r.once.Do(func() { close(r.over) }) }

func (r *run) isOver() bool {
	select {
	case <-r.over:
		return true
	default:
		return false
	}
}

// admits: whether a call that is intended at that moment is to be made.
func (r *run) admits(at int64) bool {
	if r.isOver() || at >= r.end.Load() {
		return false
	}
	return r.quota == nil || r.isBefore(at) || r.quota.admit(at)
}

// isBefore: whether a moment that is past lies before the window.
func (r *run) isBefore(at int64) bool {
	start := r.start.Load()
	if start == math.MaxInt64 {
		// The window may have begun and not be known yet.
		r.opening.RLock()
		start = r.start.Load()
		r.opening.RUnlock()
	}
	return at < start
}

// windowEnd is the end as far as it is known.
func (r *run) windowEnd() int64 {
	end := r.end.Load()
	if r.quota == nil || r.endsWithUsers() {
		return end
	}
	return min(end, r.quota.closesAt())
}

// isSettled: the end of the window does not move any more. That of a window of calls does
// until it holds them all.
func (r *run) isSettled() bool {
	return r.quota == nil || r.endsWithUsers() || r.quota.closesAt() != math.MaxInt64
}

// endsWithUsers: a window of calls of a closed load without a warm-up ends when its
// last call has.
func (r *run) endsWithUsers() bool { return r.group.Load.IsClosed() && !r.hasWarmup() }

// hasWarmup: whether calls come before the window.
func (r *run) hasWarmup() bool { return r.group.Warmup.MaxS > 0 }

// one makes a call that was intended at that moment, and returns when it had ended.
// Once the drain is over it is a failed call that nothing is sent for.
func (r *run) one(by client, to *shard, intended int64) int64 {
	at := stamps{intended: intended}
	number := r.begun.Add(1)
	why := neverSent
	if r.calls.Err() == nil {
		why = r.send(by, &at)
	}
	at.done = nowNS()
	if at.sent != 0 || why == nil {
		r.sent.Add(1)
	}
	if why != nil {
		r.failed.Add(1)
	}
	raise(&r.lastDone, at.done)
	r.completed.Add(1)
	if number <= r.group.FirstCalls {
		r.keepFirst(int(number), at, why)
	}
	to.record(at, why, r.start.Load(), r.windowEnd(), r.isSettled())
	return at.done
}

// send makes the call by the library, and returns why it failed.
func (r *run) send(by client, at *stamps) *failure {
	r.inFlight.Add(1)
	defer r.inFlight.Add(-1)
	ctx, cancel := context.WithTimeout(r.calls, seconds(r.group.TimeoutS))
	defer cancel()
	if err := by.call(ctx, at); err != nil {
		return failureOf(ctx, err)
	}
	return nil
}

func (r *run) keepFirst(number int, at stamps, why *failure) {
	r.firstMu.Lock()
	defer r.firstMu.Unlock()
	for len(r.first) < number {
		r.first = append(r.first, 0)
	}
	if why == nil {
		r.first[number-1] = at.done - at.intended
	}
}

// runClosed runs the users of a closed load until the window is over, and waits for them.
func (r *run) runClosed(all *sync.WaitGroup) {
	for user := range r.group.Load.Users {
		all.Go(func() {
			by := r.library.client(r.group, r.sockets)
			defer by.close()
			// A user's next call is intended when its last has ended: what the caller
			// itself takes in between is queueing.
			for at := nowNS(); r.admits(at); {
				at = r.one(by, r.shards[user%len(r.shards)], at)
			}
		})
	}
}

// open runs an open load: arrivals by the schedule, whatever became of the calls
// before them. Those that find no free place wait in a queue.
func (r *run) open(all *sync.WaitGroup) {
	places := &queue{}
	places.changed.L = &places.mu
	all.Go(func() {
		origin, arrivals := nowNS(), newSchedule(r.group.Load)
		workers := 0
		for {
			at := origin + arrivals.next()
			for nowNS() < at && !r.isOver() {
				sleepUntil(min(at, r.end.Load()), r.over)
				if nowNS() >= r.end.Load() {
					break
				}
			}
			if !r.admits(at) {
				break
			}
			if lag := nowNS() - at; !r.isBefore(at) {
				r.shards[0].addLag(max(lag, 1))
			}
			if waiting := places.put(at); waiting > 0 && workers < r.group.Load.InFlightMax {
				worker := workers
				workers++
				all.Go(func() { r.work(places, worker) })
			} else if waiting > 0 {
				r.queueMax.Store(max(r.queueMax.Load(), int64(waiting)))
			}
		}
		places.finish()
	})
}

func (r *run) work(places *queue, worker int) {
	by := r.library.client(r.group, r.sockets)
	defer by.close()
	for {
		at, more := places.take()
		if !more {
			return
		}
		r.one(by, r.shards[worker%len(r.shards)], at)
	}
}

// queue holds the arrivals that wait for a free place, first come first served.
type queue struct {
	mu       sync.Mutex
	changed  sync.Cond
	waiting  []int64
	idle     int
	finished bool
}

// put adds an arrival, and returns how many wait beyond the idle places.
func (q *queue) put(at int64) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, at)
	q.changed.Signal()
	return len(q.waiting) - q.idle
}

// take waits for an arrival; false when there are no more.
func (q *queue) take() (int64, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.idle++
	for len(q.waiting) == 0 && !q.finished {
		q.changed.Wait()
	}
	q.idle--
	if len(q.waiting) == 0 {
		return 0, false
	}
	at := q.waiting[0]
	q.waiting = q.waiting[1:]
	return at, true
}

func (q *queue) finish() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.finished = true
	q.changed.Broadcast()
}

// bytesNow are the counters of the sockets at one moment.
type bytesNow struct{ sent, received int64 }

func (r *run) bytes() bytesNow {
	return bytesNow{r.sockets.sent.Load(), r.sockets.received.Load()}
}

// warmed is how the warm-up went.
type warmed struct {
	Seconds    float64 `json:"seconds"`
	Calls      uint64  `json:"calls"`
	Stationary bool    `json:"stationary"`
}

// warmUp waits until the series is stationary, or the plan's bound.
func (r *run) warmUp(report func(phase string, began int64)) warmed {
	began, bounds := nowNS(), r.group.Warmup
	users := 0
	if r.group.Load.IsClosed() {
		users = r.group.Load.Users
	}
	var counts []uint64
	var seen uint64
	found := warmed{}
	for tick := int64(1); !r.isOver(); tick++ {
		until := began + min(tick*sampleNS, int64(seconds(bounds.MaxS)))
		select {
		case <-time.After(time.Duration(until - nowNS())):
		case <-r.over:
		}
		now := r.completed.Load()
		counts = append(counts, now-seen)
		seen = now
		report("warmup", began)
		elapsed := float64(nowNS()-began) / 1e9
		found.Stationary = stationary(counts, users)
		if elapsed >= bounds.MaxS || elapsed >= bounds.MinS && found.Stationary {
			break
		}
	}
	found.Seconds, found.Calls = float64(nowNS()-began)/1e9, r.completed.Load()
	return found
}
