package clock

import "testing"

func TestNowIsTheClockOfTheKernel(t *testing.T) {
	for range 1000 {
		before, now, after := readNS(), NowNS(), readNS()
		// The base was read at two moments, which are microseconds apart unless the thread
		// lost its processor between them.
		const apartNS = 1_000_000
		if now < before-apartNS || now > after+apartNS {
			t.Fatalf("%d is not from %d to %d", now, before, after)
		}
	}
}
