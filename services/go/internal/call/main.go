package call

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// projectVersion is the version of wirelab: the linker sets it, as the build
// command of caller.json states.
var projectVersion = "development"

// Exit codes (docs/reference/process.md).
const (
	exitRefused = 2
	exitMachine = 3
)

type fault struct {
	Event   string `json:"event"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Remedy  string `json:"remedy"`
}

type progress struct {
	Event    string  `json:"event"`
	Phase    string  `json:"phase"`
	ElapsedS float64 `json:"elapsed_s"`
	Calls    uint64  `json:"calls"`
	Errors   uint64  `json:"errors"`
	InFlight int64   `json:"in_flight"`
}

// outcome is the last line (contracts/process/caller-event.schema.json).
type outcome struct {
	Event       string            `json:"event"`
	Caller      string            `json:"caller"`
	Version     string            `json:"version"`
	Runtime     string            `json:"runtime"`
	Libraries   map[string]string `json:"libraries"`
	Processors  int               `json:"processors"`
	Stamps      map[string]string `json:"stamps"`
	Interrupted bool              `json:"interrupted"`
	Groups      []groupOutcome    `json:"groups"`
}

type groupOutcome struct {
	Name              string            `json:"name"`
	Load              string            `json:"load"`
	WindowStartNS     int64             `json:"window_start_ns"`
	WindowS           float64           `json:"window_s"`
	Warmup            warmed            `json:"warmup"`
	CallsPlanned      *uint64           `json:"calls_planned"`
	RatePlannedPerS   *float64          `json:"rate_planned_per_s"`
	Calls             uint64            `json:"calls"`
	OK                uint64            `json:"ok"`
	Errors            uint64            `json:"errors"`
	Ended             uint64            `json:"ended"`
	ErrorsByKind      map[string]uint64 `json:"errors_by_kind"`
	ErrorsByCode      map[string]uint64 `json:"errors_by_code"`
	ErrorExamples     []string          `json:"error_examples"`
	RatePerS          float64           `json:"rate_per_s"`
	Concurrency       float64           `json:"concurrency"`
	QueueMax          int64             `json:"queue_max"`
	ConnectionsOpened int64             `json:"connections_opened"`
	ConnectionsPeak   int64             `json:"connections_peak"`
	BytesSent         int64             `json:"bytes_sent"`
	BytesReceived     int64             `json:"bytes_received"`
	CallsWholeRun     uint64            `json:"calls_whole_run"`
	Times             map[string]Times  `json:"times"`
	Series            []uint64          `json:"series"`
	FirstCallsNS      []int64           `json:"first_calls_ns,omitempty"`
}

// Main reads a plan, carries it out and prints JSON lines. It returns the exit code.
func Main(input io.Reader, output io.Writer) int {
	lines := json.NewEncoder(output)
	refuse := func(kind, message, remedy string, code int) int {
		if err := lines.Encode(fault{"error", kind, message, remedy}); err != nil {
			log.Print(err)
		}
		return code
	}
	plan, err := ReadPlan(input)
	if err != nil {
		return refuse("plan", err.Error(), "use caller=engine", exitRefused)
	}
	lib, err := libraryOf(&plan.Groups[0])
	if err != nil {
		return refuse("plan", err.Error(), "use caller=engine", exitRefused)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT)
	found, err := carryOut(plan, lib, lines, stop)
	if err == nil {
		err = lines.Encode(found)
	}
	if err != nil {
		return refuse("internal", err.Error(), "see the log", exitMachine)
	}
	return 0
}

// carryOut runs warm-up, window and drain.
func carryOut(plan *Plan, lib *library, lines *json.Encoder, stop <-chan os.Signal) (*outcome, error) {
	group := &plan.Groups[0]
	calls, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	r := newRun(calls, group, lib)
	var interrupted atomic.Bool
	finished := make(chan struct{})
	defer close(finished)
	var signalled sync.WaitGroup
	signalled.Go(func() {
		select {
		case <-stop:
			interrupted.Store(true)
			r.stop()
		case <-finished:
		}
	})
	reporting := newReporter(r, lines, time.Duration(plan.ProgressMS)*time.Millisecond)

	var users sync.WaitGroup
	if !r.hasWarmup() {
		r.openWindow()
	}
	if group.Load.IsClosed() {
		r.runClosed(&users)
	} else {
		r.open(&users)
	}
	warm := warmed{}
	if r.hasWarmup() {
		warm = r.warmUp(reporting.tick)
		r.openWindow()
	}
	opened := r.bytes()
	allEnded := make(chan struct{})
	go func() { users.Wait(); close(allEnded) }()
	reporting.measure(allEnded)
	r.closeWindow()
	closed := r.bytes()
	r.stop()
	reporting.now("drain", nowNS())
	select {
	case <-allEnded:
	case <-time.After(seconds(group.DrainS)):
		cancel(errUnfinished)
		<-allEnded
	}
	found, err := r.outcome(warm, opened, closed)
	if err != nil {
		return nil, err
	}
	return &outcome{
		Event: "result", Caller: "go", Version: projectVersion, Runtime: runtime.Version(),
		Libraries: versions(lib.packages), Processors: runtime.GOMAXPROCS(0), Stamps: lib.stamps,
		Interrupted: interrupted.Load(), Groups: []groupOutcome{found},
	}, reporting.err
}

func (r *run) openWindow() {
	r.opening.Lock()
	defer r.opening.Unlock()
	now := nowNS()
	r.end.Store(now + int64(r.group.Window.longest()))
	r.start.Store(now)
}

// closeWindow settles the end: a window of calls closes when one call more
// arrives, that of a closed load without a warm-up when its last call has ended.
func (r *run) closeWindow() {
	end := min(r.start.Load()+int64(r.group.Window.longest()), nowNS())
	if r.quota != nil && r.endsWithUsers() && r.completed.Load() >= uint64(r.quota.calls) {
		end = min(end, r.lastDone.Load()+1)
	}
	r.end.Store(end)
}

// isClosing: the window is over, or holds all its calls.
func (r *run) isClosing() bool {
	if r.isOver() || nowNS() >= r.start.Load()+int64(r.group.Window.longest()) {
		return true
	}
	// The last call of a closed load without a warm-up ends with its users.
	return r.quota != nil && !r.endsWithUsers() && r.quota.closesAt() != math.MaxInt64
}

func (r *run) outcome(warm warmed, opened, closed bytesNow) (groupOutcome, error) {
	all := newShard()
	for _, one := range r.shards {
		one.settle(r.start.Load(), r.windowEnd())
		all.merge(one)
	}
	times, err := all.allTimes()
	if err != nil {
		return groupOutcome{}, err
	}
	length := max(1, r.windowEnd()-r.start.Load())
	window := float64(length) / 1e9
	slots := min(len(all.series), int((length+slotNS-1)/slotNS))
	found := groupOutcome{
		Name: r.group.Name, Load: "open", WindowStartNS: r.start.Load(), WindowS: window, Warmup: warm,
		Calls: all.ok + all.errors, OK: all.ok, Errors: all.errors, Ended: all.ended,
		ErrorsByKind: all.kinds, ErrorsByCode: all.codes, ErrorExamples: append([]string{}, all.examples...),
		RatePerS: float64(all.fine) / window, Concurrency: float64(all.inFlightNS) / 1e9 / window,
		QueueMax:          r.queueMax.Load(),
		ConnectionsOpened: r.sockets.opened.Load(), ConnectionsPeak: r.sockets.peak.Load(),
		BytesSent: closed.sent - opened.sent, BytesReceived: closed.received - opened.received,
		CallsWholeRun: r.sent.Load(), Times: times, Series: append([]uint64{}, all.series[:slots]...),
		FirstCallsNS: r.first,
	}
	if r.group.Load.IsClosed() {
		found.Load = "closed"
	} else {
		found.RatePlannedPerS = &r.group.Load.Rate
	}
	if calls := r.group.Window.Calls; calls != nil {
		found.CallsPlanned = &calls.Calls
	}
	return found, nil
}

// reporter prints progress lines.
type reporter struct {
	run    *run
	lines  *json.Encoder
	every  time.Duration
	due    int64
	before uint64
	failed uint64
	err    error
}

func newReporter(r *run, lines *json.Encoder, every time.Duration) *reporter {
	return &reporter{run: r, lines: lines, every: every}
}

// tick prints a line when one is due.
func (p *reporter) tick(phase string, began int64) {
	if now := nowNS(); p.every > 0 && now >= p.due {
		p.due = now + int64(p.every)
		p.now(phase, began)
	}
}

// now prints a line.
func (p *reporter) now(phase string, began int64) {
	err := p.lines.Encode(progress{
		"progress", phase, float64(nowNS()-began) / 1e9,
		p.run.completed.Load() - p.before, p.run.failed.Load() - p.failed, p.run.inFlight.Load(),
	})
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("standard output: %w", err)
	}
}

// measure waits for the end of the window.
func (p *reporter) measure(ended <-chan struct{}) {
	const lookEvery = time.Millisecond
	began := p.run.start.Load()
	p.before, p.failed = p.run.completed.Load(), p.run.failed.Load()
	p.now("measure", began)
	for !p.run.isClosing() {
		select {
		case <-ended:
			return
		case <-time.After(lookEvery):
		}
		p.tick("measure", began)
	}
}

// versions of the modules that hold these packages; those of the standard
// library have the version of Go.
func versions(packages []string) map[string]string {
	found := map[string]string{}
	built, _ := debug.ReadBuildInfo()
	for _, name := range packages {
		found[name] = runtime.Version()
		if built == nil {
			continue
		}
		for _, module := range built.Deps {
			if module.Path == name {
				found[name] = module.Version
			}
		}
	}
	return found
}
