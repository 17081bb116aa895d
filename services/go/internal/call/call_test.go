package call

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func TestConstantArrivalsAreEvenlySpaced(t *testing.T) {
	arrivals := newSchedule(Load{Kind: "constant", Rate: 4})
	for i := range int64(5) {
		if at := arrivals.next(); at != i*250_000_000 {
			t.Errorf("arrival %d at %d ns", i, at)
		}
	}
}

// The first numbers of `wirelab-engine arrivals --rate 1000 --poisson-seed 7`.
func TestPoissonArrivalsAreThoseOfTheEngine(t *testing.T) {
	arrivals := newSchedule(Load{Kind: "poisson", Rate: 1000, Seed: 7})
	for i, expected := range poissonOfEngine {
		if at := arrivals.next(); at != expected {
			t.Errorf("arrival %d at %d ns, the engine has it at %d", i, at, expected)
		}
	}
}

func TestPoissonGapsHaveTheMeanAndTheDeviationOfAnExponential(t *testing.T) {
	arrivals, last, sum, squares := newSchedule(Load{Kind: "poisson", Rate: 1000, Seed: 3}), 0.0, 0.0, 0.0
	const n = 200_000
	for range n {
		at := float64(arrivals.next())
		sum, squares, last = sum+at-last, squares+(at-last)*(at-last), at
	}
	mean := sum / n
	if deviation := math.Sqrt(squares/n - mean*mean); math.Abs(mean-1e6) > 1e4 || math.Abs(deviation-1e6) > 2e4 {
		t.Errorf("gaps have mean %g and deviation %g ns", mean, deviation)
	}
}

func TestASeriesIsStationaryWhenItsLastSpansAreLevel(t *testing.T) {
	level := []uint64{1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000}
	for _, row := range []struct {
		counts []uint64
		users  int
		is     bool
	}{
		{level[:7], 0, false},
		{level, 0, true},
		{[]uint64{1000, 1100, 1200, 1300, 1400, 1500, 1600, 1700}, 0, false},
		{append([]uint64{10, 100, 500}, level...), 0, true},
		{[]uint64{3, 5, 4, 6, 5, 2, 4, 5}, 0, true},
		{make([]uint64, 8), 0, false},
		{level, 2667, false},
	} {
		if stationary(row.counts, row.users) != row.is {
			t.Errorf("%v with %d users: not %t", row.counts, row.users, row.is)
		}
	}
}

func TestADistributionHasTheValuesThatWereRecorded(t *testing.T) {
	var d distribution
	for ms := range int64(1000) {
		d.add((ms + 1) * 1_000_000)
	}
	times, err := d.times()
	if err != nil {
		t.Fatal(err)
	}
	if times.Count != 1000 || times.MeanNS != 500.5e6 || times.MinNS != 1e6 || times.MaxNS != 1000e6 {
		t.Errorf("%+v", times)
	}
	for name, expected := range map[string]float64{"p50": 500e6, "p90": 900e6, "p99": 990e6} {
		if got := float64(times.PercentilesNS[name]); math.Abs(got/expected-1) > 1e-3 {
			t.Errorf("%s is %g", name, got)
		}
	}
	if _, has := times.PercentilesNS["p99.9"]; has {
		t.Error("p99.9 of 1,000 samples has one above it only")
	}
	read, err := hdrhistogram.Decode([]byte(times.HDR))
	if err != nil || read.TotalCount() != 1000 {
		t.Errorf("the encoded histogram: %v", err)
	}
	if _, err := base64.StdEncoding.DecodeString(times.HDR); err != nil {
		t.Error(err)
	}
}

func TestACallBelongsToTheWindowByItsIntendedTime(t *testing.T) {
	s := newShard()
	s.record(stamps{intended: 50, sent: 60, done: 150}, nil, 100, 1000, true)    // before, ends within
	s.record(stamps{intended: 200, sent: 210, done: 300}, nil, 100, 1000, true)  // within
	s.record(stamps{intended: 900, sent: 910, done: 1500}, nil, 100, 1000, true) // ends behind
	if s.ok != 2 || s.ended != 2 {
		t.Errorf("%d in the window, %d ended in it", s.ok, s.ended)
	}
	if s.inFlightNS != 50+90+90 {
		t.Errorf("%d ns in flight", s.inFlightNS)
	}
	if _, has := s.times["write"]; has {
		t.Error("a time without its stamp is absent")
	}
}

// runPlan runs a plan by Main, and returns the outcome's group.
func runPlan(t *testing.T, target, rest string) (groupOutcome, outcome) {
	t.Helper()
	plan := fmt.Sprintf(`{"progress_ms":0,"groups":[{"name":"main","target":%q,"stack":{"binding":"rest"},`+
		`"workload":{"kind":"contract","contract":"transfer","operation":"Hello","bytes":14},%s}]}`, target, rest)
	var output bytes.Buffer
	if code := Main(strings.NewReader(plan), &output); code != 0 {
		t.Fatalf("exit code %d: %s", code, output.String())
	}
	lines := strings.Split(strings.TrimSpace(output.String()), "\n")
	var found outcome
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &found); err != nil {
		t.Fatal(err)
	}
	return found.Groups[0], found
}

const (
	cold      = `"first_calls":1000,"warmup":{"min_s":0,"max_s":0}`
	tenOfOne  = `"load":{"kind":"closed","users":1},"window":{"calls":{"calls":10,"max_s":5}},` + cold
	shortTime = `,"timeout_s":0.05,"drain_s":0.1`
)

func startServer(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func hello(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"text":%q}`, text)
}

func TestEveryCallIsCountedByBothSides(t *testing.T) {
	var served atomic.Int64
	target := startServer(t, func(w http.ResponseWriter, _ *http.Request) { served.Add(1); hello(w, "Hello, wirelab") })
	group, all := runPlan(t, target, tenOfOne)
	if group.OK != 10 || served.Load() != 10 || group.CallsWholeRun != 10 || group.ConnectionsOpened != 1 {
		t.Errorf("%+v, served %d", group, served.Load())
	}
	if len(group.FirstCallsNS) != 10 || group.FirstCallsNS[0] <= 0 {
		t.Errorf("first calls %v", group.FirstCallsNS)
	}
	for _, name := range []string{"response", "service", "queueing", "write", "wait", "read", "connect"} {
		if group.Times[name].Count == 0 {
			t.Errorf("no time %s", name)
		}
	}
	if all.Stamps["flushed"] != "httptrace.WroteRequest" || all.Libraries["encoding/json"] == "" {
		t.Errorf("%v %v", all.Stamps, all.Libraries)
	}
}

func TestAnOpenLoadKeepsIntendedTimes(t *testing.T) {
	// Each call takes 50 ms and one is made at a time, but 100 arrive per second: the
	// queue grows, and with it the response time, not the service time.
	target := startServer(t, func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(50 * time.Millisecond)
		hello(w, "Hello, wirelab")
	})
	group, _ := runPlan(t, target,
		`"load":{"kind":"constant","rate":100,"in_flight_max":1},"window":{"duration_s":0.5},"drain_s":5,`+cold)
	if group.Calls != 50 || group.QueueMax < 20 {
		t.Errorf("%d calls, %d waited", group.Calls, group.QueueMax)
	}
	if longest := group.Times["response"].MaxNS; longest < 1_500_000_000 {
		t.Errorf("the longest response took %d ns", longest)
	}
	if longest := group.Times["service"].MaxNS; longest > 500_000_000 {
		t.Errorf("the longest service took %d ns", longest)
	}
}

// nobody is an address that nobody listens at.
func nobody(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func TestFailuresAreCountedByKindAndCause(t *testing.T) {
	dropping := startServer(t, func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			connection.Close()
		}
	})
	for _, row := range []struct{ name, target, kind, code, more string }{
		{"another text", startServer(t, func(w http.ResponseWriter, _ *http.Request) { hello(w, "Hello, wirelaB") }), "wrong", "wrong_reply", ""},
		{"a shorter text", startServer(t, func(w http.ResponseWriter, _ *http.Request) { hello(w, "Hello") }), "wrong", "wrong_reply", ""},
		{"no JSON", startServer(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "Hello, wirelab") }), "wrong", "wrong_reply", ""},
		{"status 500", startServer(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }), "application", "application_error", ""},
		{"nobody listens", nobody(t), "refused", "connection_refused", ""},
		{"closed", dropping, "closed", "connection_closed", ""},
		{"too slow", startServer(t, func(http.ResponseWriter, *http.Request) { time.Sleep(200 * time.Millisecond) }), "timeout", "timeout", shortTime},
	} {
		group, _ := runPlan(t, row.target, tenOfOne+row.more)
		if group.Errors != 10 || group.ErrorsByKind[row.kind] != 10 || group.ErrorsByCode[row.code] != 10 {
			t.Errorf("%s: %v %v %v", row.name, group.ErrorsByKind, group.ErrorsByCode, group.ErrorExamples)
		}
		if group.Times["response_failed"].Count != 10 {
			t.Errorf("%s: failed calls have a time, too", row.name)
		}
	}
}

func TestACallThatOutlivesTheDrainIsUnfinished(t *testing.T) {
	target := startServer(t, func(_ http.ResponseWriter, request *http.Request) { <-request.Context().Done() })
	group, _ := runPlan(t, target,
		`"load":{"kind":"closed","users":2},"window":{"duration_s":0.1},"drain_s":0.1,`+cold)
	if group.ErrorsByKind["unfinished"] != 2 {
		t.Errorf("%v", group.ErrorsByKind)
	}
}

func TestArrivalsThatOutliveTheDrainInTheQueueAreUnfinished(t *testing.T) {
	var served atomic.Uint64
	target := startServer(t, func(_ http.ResponseWriter, request *http.Request) {
		served.Add(1)
		<-request.Context().Done()
	})
	group, _ := runPlan(t, target,
		`"load":{"kind":"constant","rate":100,"in_flight_max":1},"window":{"duration_s":0.5},"drain_s":0.1,`+cold)
	if group.Calls != 50 || group.ErrorsByKind["unfinished"] != 50 {
		t.Errorf("%d calls, %v", group.Calls, group.ErrorsByKind)
	}
	if group.CallsWholeRun != 1 || served.Load() != 1 {
		t.Errorf("%d of the whole run, %d served", group.CallsWholeRun, served.Load())
	}
	if len(group.FirstCallsNS) != 50 || group.Times["response_failed"].Count != 50 {
		t.Errorf("%d first calls, %+v", len(group.FirstCallsNS), group.Times["response_failed"])
	}
}

func TestACallWithoutAConnectionWasNotSent(t *testing.T) {
	for _, binding := range []string{"rest", "grpc"} {
		group, _ := runPlan(t, nobody(t), `"stack":{"binding":"`+binding+`"},`+tenOfOne)
		if group.Errors != 10 || group.CallsWholeRun != 0 {
			t.Errorf("%s: %d errors, %d of the whole run", binding, group.Errors, group.CallsWholeRun)
		}
	}
}

// windowOfTwo is open since a second, and holds two calls that come after a warm-up.
func windowOfTwo(t *testing.T) (*run, int64) {
	t.Helper()
	plan, err := ReadPlan(strings.NewReader(`{"groups":[{"target":"127.0.0.1:1","stack":{"binding":"rest"},` +
		`"workload":{"kind":"contract","contract":"transfer","operation":"Hello"},` +
		`"load":{"kind":"closed","users":3},"window":{"calls":{"calls":2,"max_s":10}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	r := newRun(context.Background(), &plan.Groups[0], nil)
	start := nowNS() - 1_000_000_000
	r.start.Store(start)
	r.end.Store(start + 10_000_000_000)
	return r, start
}

func TestAWindowOfCallsHoldsTheLatestThatItAdmitted(t *testing.T) {
	r, start := windowOfTwo(t)
	if !r.admits(start+10) || !r.admits(start+50) || r.admits(start+20) {
		t.Fatal("the first two that ask are admitted")
	}
	if !r.isClosing() {
		t.Error("the window holds all its calls")
	}
	r.closeWindow()
	if end := r.windowEnd(); end != start+51 {
		t.Errorf("it ends %d ns behind its start", end-start)
	}
}

func TestAWindowOfCallsIsOpenUntilAllItsCallsAreNoted(t *testing.T) {
	r, start := windowOfTwo(t)
	r.admits(start + 10)
	r.quota.left.Add(-1) // of a user who has not come to note its arrival
	if r.admits(start+20) || r.isClosing() {
		t.Error("one call is still to be noted")
	}
}

func TestCallsThatEndBeforeTheEndIsSettledAreNotOfTheWindow(t *testing.T) {
	r, start := windowOfTwo(t)
	user := clientFunc(func(*stamps) error { return nil })
	r.admits(start)
	r.one(user, r.shards[0], start)
	between := nowNS()
	r.admits(start + 1)
	r.admits(between) // one too many
	r.one(user, r.shards[0], start+1)
	s := r.shards[0]
	s.settle(start, r.windowEnd())
	if s.ok != 2 || s.ended != 1 || s.fine != 1 {
		t.Errorf("%d calls, %d ended, %d of them well", s.ok, s.ended, s.fine)
	}
}

type clientFunc func(at *stamps) error

func (f clientFunc) call(_ context.Context, at *stamps) error { return f(at) }
func (clientFunc) close()                                     {}

func TestAWindowOfCallsHoldsExactlyThatNumber(t *testing.T) {
	target := startServer(t, func(w http.ResponseWriter, _ *http.Request) { hello(w, "Hello, wirelab") })
	const warm = `,"warmup":{"min_s":0.05,"max_s":0.1}`
	for _, row := range []struct{ name, rest string }{
		{"cold", `"load":{"kind":"closed","users":16},` + cold},
		{"more users than calls", `"load":{"kind":"closed","users":600},` + cold},
		{"one user", `"load":{"kind":"closed","users":1}` + warm},
		{"16 users", `"load":{"kind":"closed","users":16}` + warm},
		{"open", `"load":{"kind":"constant","rate":5000,"in_flight_max":16}` + warm},
		{"open and cold", `"load":{"kind":"poisson","rate":5000,"seed":1,"in_flight_max":16},` + cold},
	} {
		group, _ := runPlan(t, target, row.rest+`,"window":{"calls":{"calls":500,"max_s":20}}`)
		if group.Calls != 500 || group.OK != 500 {
			t.Errorf("%s: %d calls, %d of them well, %v", row.name, group.Calls, group.OK, group.ErrorExamples)
		}
		if group.WindowS <= 0 || group.WindowS > 19 {
			t.Errorf("%s: a window of %g s", row.name, group.WindowS)
		}
		var inSeries uint64
		for _, n := range group.Series {
			inSeries += n
		}
		if inSeries != group.Ended {
			t.Errorf("%s: %d ended, %d in the series", row.name, group.Ended, inSeries)
		}
	}
}

func TestAWindowOfCallsThatDoNotEndIsBounded(t *testing.T) {
	target := startServer(t, func(_ http.ResponseWriter, request *http.Request) { <-request.Context().Done() })
	group, _ := runPlan(t, target,
		`"load":{"kind":"closed","users":3},"window":{"calls":{"calls":2,"max_s":0.2}},"drain_s":0.1,`+cold)
	if group.Calls != 2 || group.ErrorsByKind["unfinished"] != 2 || group.WindowS != 0.2 {
		t.Errorf("%d calls, %v, in %g s", group.Calls, group.ErrorsByKind, group.WindowS)
	}
}

func TestAConnectionPerCall(t *testing.T) {
	target := startServer(t, func(w http.ResponseWriter, _ *http.Request) { hello(w, "Hello, wirelab") })
	plan := strings.Replace(tenOfOne, `"load"`, `"stack":{"binding":"rest","connection":"close"},"load"`, 1)
	if group, _ := runPlan(t, target, plan); group.ConnectionsOpened != 10 || group.OK != 10 {
		t.Errorf("%d connections for %d calls", group.ConnectionsOpened, group.OK)
	}
}

func TestWhatCannotBeCarriedOutIsRefusedByName(t *testing.T) {
	whole := `{"groups":[{"name":"m","target":"127.0.0.1:1","stack":{"binding":"rest"},"workload":{"kind":"contract","contract":"transfer","operation":"Hello"},"load":{"kind":"closed","users":1},"window":{"duration_s":1}}]}`
	for _, row := range []struct{ old, new, said string }{
		{`"rest"`, `"soap"`, "stack.binding"},
		{`"rest"`, `"rest","in_flight":"pipeline=2"`, "stack.in_flight"},
		{`"rest"`, `"rest","connection":"pool=2"`, "stack.connection"},
		{`"Hello"`, `"Submit"`, "workload"},
		{`"closed"`, `"bursts"`, "load.kind"},
		{`"users":1`, `"users":1,"think_s":1`, "load"},
		{`"users":1`, `"users":0`, "load.users"},
		{`{"groups"`, `{{`, "not one JSON object"},
	} {
		var output bytes.Buffer
		code := Main(strings.NewReader(strings.Replace(whole, row.old, row.new, 1)), &output)
		if code != exitRefused || !strings.Contains(output.String(), row.said) || !strings.Contains(output.String(), `"kind":"plan"`) {
			t.Errorf("%s: exit code %d, %s", row.new, code, output.String())
		}
	}
}

var poissonOfEngine = []int64{494017, 510948, 2821169, 3695670, 4297957}
