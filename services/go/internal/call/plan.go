// Package call carries out the engine's plan by the clients of Go's ecosystem:
// net/http for rest, grpc-go for grpc. docs/reference/process.md is its contract.
package call

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Plan is the part of contracts/process/plan.schema.json that this caller reads.
type Plan struct {
	ProgressMS int     `json:"progress_ms"`
	Groups     []Group `json:"groups"`
}

// Group is one kind of calls under one load.
type Group struct {
	Name     string            `json:"name"`
	Target   string            `json:"target"`
	Stack    map[string]string `json:"stack"`
	TimeoutS float64           `json:"timeout_s"`
	DrainS   float64           `json:"drain_s"`
	// FirstCalls are the calls at the start of the run whose response times are kept.
	FirstCalls uint64       `json:"first_calls"`
	Workload   Workload     `json:"workload"`
	Load       Load         `json:"load"`
	Window     Window       `json:"window"`
	Warmup     WarmupBounds `json:"warmup"`
}

// Workload is an operation of a contract.
type Workload struct {
	Kind      string          `json:"kind"`
	Contract  string          `json:"contract"`
	Operation string          `json:"operation"`
	Bytes     int             `json:"bytes"`
	Data      json.RawMessage `json:"data"`
}

// Load says when calls are made.
type Load struct {
	Kind        string          `json:"kind"`
	Users       int             `json:"users"`
	ThinkS      float64         `json:"think_s"`
	Iterations  *int            `json:"iterations"`
	Stages      json.RawMessage `json:"stages"`
	Rate        float64         `json:"rate"`
	Seed        uint64          `json:"seed"`
	InFlightMax int             `json:"in_flight_max"`
}

// IsClosed: users who send their next call when the last has ended.
func (l Load) IsClosed() bool { return l.Kind == "closed" }

// Window is a length of time, or a number of calls with a bound in time.
type Window struct {
	DurationS *float64 `json:"duration_s"`
	Calls     *struct {
		Calls uint64  `json:"calls"`
		MaxS  float64 `json:"max_s"`
	} `json:"calls"`
}

// longest is the time after which the window closes in any case.
func (w Window) longest() time.Duration {
	if w.Calls != nil {
		return seconds(w.Calls.MaxS)
	}
	return seconds(*w.DurationS)
}

// WarmupBounds are the least and the most seconds of the warm-up.
type WarmupBounds struct {
	MinS float64 `json:"min_s"`
	MaxS float64 `json:"max_s"`
}

// The plan's defaults, as contracts/process/plan.schema.json has them.
const (
	defaultProgressMS = 500
	defaultTimeoutS   = 10.0
	defaultDrainS     = 10.0
)

var defaultWarmup = WarmupBounds{MinS: 0.2, MaxS: 5.0}

// ReadPlan reads one JSON object and refuses what this caller cannot carry out.
func ReadPlan(input io.Reader) (*Plan, error) {
	plan := &Plan{ProgressMS: defaultProgressMS}
	if err := json.NewDecoder(input).Decode(plan); err != nil {
		return nil, fmt.Errorf("the plan is not one JSON object: %w", err)
	}
	if len(plan.Groups) != 1 {
		return nil, fmt.Errorf("groups: this caller carries out one group, not %d", len(plan.Groups))
	}
	return plan, plan.Groups[0].check()
}

// UnmarshalJSON puts the defaults where the plan says nothing.
func (g *Group) UnmarshalJSON(text []byte) error {
	type plain Group
	read := plain{TimeoutS: defaultTimeoutS, DrainS: defaultDrainS, Warmup: defaultWarmup}
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	*g = Group(read)
	return nil
}

func (g *Group) check() error {
	if g.FirstCalls > firstCallsMax {
		return fmt.Errorf("first_calls: at most %d can be kept", firstCallsMax)
	}
	if (g.Window.DurationS == nil) == (g.Window.Calls == nil) {
		return fmt.Errorf("window: either duration_s or calls is needed")
	}
	w := g.Workload
	if w.Kind != "contract" || w.Contract != "transfer" || (w.Operation != "Hello" && w.Operation != "HelloBytes") || w.Data != nil {
		return fmt.Errorf("workload: this caller calls Hello and HelloBytes of contract transfer, not %s %s", w.Kind, w.Operation)
	}
	return g.Load.check()
}

func (l Load) check() error {
	switch l.Kind {
	case "closed":
		if l.Users < 1 {
			return fmt.Errorf("load.users: at least one user is needed")
		}
		if l.ThinkS != 0 || l.Iterations != nil || l.Stages != nil {
			return fmt.Errorf("load: users of this caller have neither pauses, stages nor iterations")
		}
	case "constant", "poisson":
		if l.Rate <= 0 || l.InFlightMax < 1 {
			return fmt.Errorf("load: rate and in_flight_max must be positive")
		}
	default:
		return fmt.Errorf("load.kind: this caller holds closed, constant and poisson loads, not %q", l.Kind)
	}
	return nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
