package service

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"
)

// TestGzipPoolKeepsCallsApart: what is taken from the pool belongs to one user,
// also when readers are read beyond their end.
func TestGzipPoolKeepsCallsApart(t *testing.T) {
	var pool gzipPool
	var done sync.WaitGroup
	for worker := range 8 {
		done.Go(func() {
			for round := range 50 {
				text := strings.Repeat(string(rune('a'+worker)), 1000*(1+round%7))
				if got := roundTrip(t, &pool, text); got != text {
					t.Errorf("worker %d got %d bytes, %.20q", worker, len(got), got)
				}
			}
		})
	}
	done.Wait()
}

func roundTrip(t *testing.T, pool *gzipPool, text string) string {
	packed, err := pool.compress(strings.NewReader(text))
	if err != nil {
		t.Error(err)
		return ""
	}
	reader, err := pool.reader(packed)
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
