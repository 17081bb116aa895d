package compression

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"
)

// TestPoolsKeepCallsApart: what is taken from the pool belongs to one user,
// also when readers are read beyond their end.
func TestPoolsKeepCallsApart(t *testing.T) {
	for _, name := range []string{"gzip", "zstd"} {
		coding := New(name)
		var done sync.WaitGroup
		for worker := range 8 {
			done.Go(func() {
				for round := range 50 {
					text := strings.Repeat(string(rune('a'+worker)), 1000*(1+round%7))
					if got := roundTrip(t, coding, text); got != text {
						t.Errorf("%s: worker %d got %d bytes, %.20q", name, worker, len(got), got)
					}
				}
			})
		}
		done.Wait()
	}
}

func roundTrip(t *testing.T, coding Coding, text string) string {
	packed, err := Compress(coding, strings.NewReader(text))
	if err != nil {
		t.Error(err)
		return ""
	}
	reader, err := coding.Reader(packed)
	if err != nil {
		t.Error(err)
		return ""
	}
	var plain bytes.Buffer
	if _, err := plain.ReadFrom(reader); err != nil {
		t.Error(err)
	}
	for range 3 {
		if n, err := reader.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("%d bytes, %v behind the end", n, err)
		}
	}
	return plain.String()
}
