package call

import (
	"time"

	"golang.org/x/sys/unix"

	"wirelab/services/go/internal/clock"
)

// nowNS is CLOCK_MONOTONIC in nanoseconds.
func nowNS() int64 { return clock.NowNS() }

// sleepUntil waits in the kernel: the runtime's own timers are rounded up to
// milliseconds when every processor is idle (runtime/netpoll_epoll.go). The
// first part is left to the runtime, so that a stop is heard.
func sleepUntil(atNS int64, stop <-chan struct{}) {
	const ownNS = 2_000_000
	if far := atNS - nowNS() - ownNS; far > 0 {
		select {
		case <-time.After(time.Duration(far)):
		case <-stop:
			return
		}
	}
	if left := atNS - nowNS(); left > 0 {
		until := unix.NsecToTimespec(left)
		// Cut short by a signal, the arrival is early by what is left; the loop looks again.
		_ = unix.Nanosleep(&until, nil)
	}
}
