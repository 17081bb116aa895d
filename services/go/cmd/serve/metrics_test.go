package main

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	pb "wirelab/services/go/transferpb"
)

// metrics reads the Prometheus text of a service into name{labels} and value.
func metrics(t *testing.T, p *process) map[string]float64 {
	t.Helper()
	response, err := http.Get("http://" + p.Metrics + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	values := map[string]float64{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if number, err := strconv.ParseFloat(value, 64); err == nil {
			values[name] = number
		}
	}
	return values
}

func checkNear(t *testing.T, what string, got, low, high float64) {
	t.Helper()
	if math.IsNaN(got) || got < low || got > high {
		t.Errorf("%s is %v, want %v to %v", what, got, low, high)
	}
}

// TestCountersBeginAtZero: the call that the service made to itself is not in them.
func TestCountersBeginAtZero(t *testing.T) {
	for _, config := range []options{restJSON, grpcOnly} {
		values := metrics(t, start(t, config.with("faults.delay_us", 100)))
		for name, value := range values {
			if strings.HasPrefix(name, "wirelab_") && value != 0 {
				t.Errorf("%s is %v", name, value)
			}
		}
		for _, name := range []string{`wirelab_calls_total{operation="Download"}`, "wirelab_call_seconds_total",
			"wirelab_calls_in_flight", "wirelab_connections_total", "wirelab_delay_seconds_count",
			"process_cpu_seconds_total"} {
			if _, there := values[name]; !there {
				t.Errorf("%s is missing", name)
			}
		}
		// The kernel counts it in ticks of 10 ms, so it may still be 0.
		checkNear(t, "CPU seconds", values["process_cpu_seconds_total"], 0, 10)
		for _, name := range []string{"process_resident_memory_bytes",
			"go_memstats_heap_inuse_bytes", "go_memstats_heap_idle_bytes", "go_memstats_sys_bytes",
			"go_gc_duration_seconds_count", "go_threads"} {
			checkNear(t, name, values[name], 1e-6, 1e12)
		}
	}
}

func TestCallsErrorsAndConnectionsAreCounted(t *testing.T) {
	p := start(t, restJSON)
	for _, body := range []string{`{"batch":"b"}`, `{"batch":""}`, `{`} {
		mustCall(t, p, "http/1.1", "POST", "/transfer/submit", []byte(body), "Content-Type", "application/json")
	}
	mustCall(t, p, "http/1.1", "GET", "/nowhere", nil)
	checkCounts(t, metrics(t, p), map[string]float64{`wirelab_calls_total{operation="Submit"}`: 3,
		`wirelab_errors_total{operation="Submit"}`: 1, `wirelab_calls_total{operation="Hello"}`: 0,
		"wirelab_connections_total": 4, "wirelab_calls_in_flight": 0})

	p = start(t, grpcOnly)
	client := connect(t, p)
	for _, batch := range []string{"a", "", "b"} {
		_, _ = client.Submit(t.Context(), &pb.SubmitRequest{Batch: batch})
	}
	if stream, err := client.Download(t.Context(), &pb.DownloadRequest{Length: -1}); err == nil {
		_, _ = stream.Recv()
	}
	checkCounts(t, metrics(t, p), map[string]float64{`wirelab_calls_total{operation="Submit"}`: 3,
		`wirelab_errors_total{operation="Submit"}`: 1, `wirelab_calls_total{operation="Download"}`: 1,
		`wirelab_errors_total{operation="Download"}`: 1, "wirelab_connections_total": 1,
		"wirelab_calls_in_flight": 0})
}

func checkCounts(t *testing.T, got, want map[string]float64) {
	t.Helper()
	for name, value := range want {
		if there, ok := got[name]; !ok || there != value {
			t.Errorf("%s is %v, want %v", name, there, value)
		}
	}
}

// TestDelaysAreGivenAndReported: never shorter than asked for, and the sum of
// call times holds them.
func TestDelaysAreGivenAndReported(t *testing.T) {
	if testing.Short() {
		t.Skip("judges times: make test-go-alone")
	}
	for _, config := range []options{restText, grpcOnly} {
		for _, delay := range []time.Duration{100 * time.Microsecond, time.Millisecond, 10 * time.Millisecond} {
			p := start(t, config.with("faults.delay_us", delay.Microseconds()))
			for range 10 {
				if err := hello(p, config); err != nil {
					t.Fatal(err)
				}
			}
			values, want := metrics(t, p), delay.Seconds()
			checkNear(t, "count", values["wirelab_delay_seconds_count"], 10, 10)
			checkNear(t, "median", values[`wirelab_delay_seconds{quantile="0.5"}`], want*0.999, want*1.01+0.005)
			checkNear(t, "sum", values["wirelab_delay_seconds_sum"], 10*want, 10*want+1)
			checkNear(t, "call seconds", values["wirelab_call_seconds_total"], values["wirelab_delay_seconds_sum"], 10*want+1)
		}
	}
}

func TestCallsInFlightAreSeen(t *testing.T) {
	for _, config := range []options{restText, grpcOnly} {
		p := start(t, config.with("faults.delay_us", 500_000))
		done := make(chan error, 3)
		for range cap(done) {
			go func() { done <- hello(p, config) }()
		}
		time.Sleep(200 * time.Millisecond)
		checkNear(t, "calls in flight", metrics(t, p)["wirelab_calls_in_flight"], 3, 3)
		for range cap(done) {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		checkNear(t, "calls in flight at the end", metrics(t, p)["wirelab_calls_in_flight"], 0, 0)
	}
}
