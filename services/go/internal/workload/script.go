// Package workload makes the calls of the engine's workloads of contracts: which requests,
// in which order, and what their replies must say (crates/contract/src/workload.rs and
// crates/load/src/request). It knows no wire.
package workload

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"wirelab/services/go/internal/calendar"
	"wirelab/services/go/internal/charging"
	"wirelab/services/go/internal/contract"
	"wirelab/services/go/internal/transfer"
)

// Workload is the part of a plan's workload that this package reads.
type Workload struct {
	Kind      string `json:"kind"`
	Contract  string `json:"contract"`
	Operation string `json:"operation"`
	// Function is a sequence of charging.
	Function string `json:"function"`
	Steps    []Step `json:"steps"`
	Bytes    int64  `json:"bytes"`
	// ChunkBytes and Accounts have defaults, see [Workload.chunkBytes] and [Workload.accounts].
	ChunkBytes *int64 `json:"chunk_bytes"`
	Accounts   *int64 `json:"accounts"`
	Data       any    `json:"data"`
	Items      any    `json:"items"`
}

// Step is one call of a sequence.
type Step struct {
	Operation string  `json:"operation"`
	Bytes     int64   `json:"bytes"`
	Carry     []Carry `json:"carry"`
}

// Carry is a value of an earlier reply that goes into a request.
type Carry struct {
	// Step whose reply has the value, from 0; nil: the one before.
	Step *int   `json:"step"`
	From string `json:"from"`
	To   string `json:"to"`
}

const (
	chunkBytesDefault = 65_536
	accountsDefault   = 1_000
	accountsMax       = 1<<31 - 1
	stepsMax          = 100
)

func (w Workload) chunkBytes() int64 { return orDefault(w.ChunkBytes, chunkBytesDefault) }

func (w Workload) accounts() int64 { return orDefault(w.Accounts, accountsDefault) }

func orDefault(value *int64, otherwise int64) int64 {
	if value == nil {
		return otherwise
	}
	return *value
}

// Contracts are those whose operations can be called.
var Contracts = []string{"transfer", "charging", "calendar", "records"}

// contractOf has the contract's operations, and answers those that depend on the request
// alone as the contract demands. Its text is that of Hello.
func contractOf(name string, helloBytes int64) (*contract.Contract, error) {
	switch name {
	case "transfer":
		return transfer.New(int(helloBytes)), nil
	case "charging":
		return charging.New(1, 1), nil
	case "calendar":
		return calendar.New(), nil
	case "records":
		return freshRecords(), nil
	}
	return nil, fmt.Errorf("workload.contract: this caller calls %q, not %q", Contracts, name)
}

// Script makes the calls of a group, arrival by arrival. Users share it.
type Script struct {
	// Contract is what is called.
	Contract string
	// Service is the name of the .proto's service.
	Service string
	// IsSequence: an arrival is a sequence of calls, which is recorded as such.
	IsSequence bool
	// Operations that are called, each once, in the order of their first call.
	Operations []string
	steps      []step
}

// step makes the call of one place in the sequence.
type step struct {
	operation *contract.Operation
	// make makes the request for a user's arrival after earlier replies.
	make func(arrival *Arrival) *Call
	// fixed is the call where all are the same; nil: they differ.
	fixed *Call
	// carried are values of earlier replies.
	carried []carriedField
}

// carriedField is a value that goes from the reply of a step into this request.
type carriedField struct {
	from         int
	source, sink []protoreflect.FieldDescriptor
}

// New refuses a workload that cannot be made, by the name of what is at fault.
func New(w Workload) (*Script, error) {
	if w.Data != nil {
		return nil, fmt.Errorf("workload.data: this caller has no rows of values")
	}
	if w.Items != nil {
		return nil, fmt.Errorf("workload.items: this caller calls no streams of items")
	}
	if accounts := w.accounts(); accounts < 1 || accounts > accountsMax {
		return nil, fmt.Errorf("workload.accounts: %d is not 1 to %d", accounts, accountsMax)
	}
	of, err := contractOf(w.Contract, 0)
	if err != nil {
		return nil, err
	}
	s := &Script{Contract: w.Contract, Service: of.Service}
	switch w.Kind {
	case "contract":
		err = s.addOperation(w)
	case "sequence":
		err = s.addFunction(w)
	case "steps":
		err = s.addSteps(w)
	default:
		err = fmt.Errorf("workload.kind: this caller makes contract, sequence and steps, not %q", w.Kind)
	}
	if err != nil {
		return nil, err
	}
	for _, each := range s.steps {
		if name := each.operation.Name; !slices.Contains(s.Operations, name) {
			s.Operations = append(s.Operations, name)
		}
	}
	return s, nil
}

// operationOf is the operation of a contract that Hello's replies have a text of those
// bytes in.
func operationOf(contractName, name string, bytes int64) (*contract.Operation, error) {
	helloBytes := int64(0)
	if isHello(name) {
		if bytes < 0 || bytes > helloBytesMax {
			return nil, sizeError(name, bytes, 0, helloBytesMax)
		}
		helloBytes = bytes
	}
	of, err := contractOf(contractName, helloBytes)
	if err != nil {
		return nil, err
	}
	index := of.Index(name)
	if index < 0 {
		return nil, fmt.Errorf("workload.operation: contract %s has no operation %q", contractName, name)
	}
	return &of.Operations[index], nil
}

func (s *Script) addOperation(w Workload) error {
	operation, err := operationOf(w.Contract, w.Operation, w.Bytes)
	if err != nil {
		return err
	}
	if isCarried(w.Operation) {
		return fmt.Errorf("workload.operation: %s takes a number from an earlier reply; use workload kind sequence", w.Operation)
	}
	fixed, err := makeFixedCall(operation, w.Bytes, w.chunkBytes())
	if err != nil {
		return err
	}
	if request := makeUserRequests(w.Operation, w.accounts()); request != nil {
		s.steps = []step{{operation: operation, make: func(arrival *Arrival) *Call {
			return newCall(operation, request(arrival))
		}}}
		return nil
	}
	s.steps = []step{{operation: operation, fixed: fixed}}
	return nil
}

// makeUserRequests gives requests that differ from user to user; nil: those of the operation do not.
func makeUserRequests(operation string, accounts int64) func(*Arrival) proto.Message {
	switch operation {
	case "Credit", "DirectDebit", "Reserve", "CreditControl":
		return func(arrival *Arrival) proto.Message {
			return chargingRequest(operation, arrival.account(accounts), nil)
		}
	case "Book":
		return func(arrival *Arrival) proto.Message { return book(arrival.User, arrival.Number) }
	}
	return nil
}

func (s *Script) addFunction(w Workload) error {
	if w.Contract != "charging" {
		return fmt.Errorf("workload.contract: sequences exist in charging only")
	}
	operations, known := functions[w.Function]
	if !known {
		return fmt.Errorf("workload.function: charging has no function %q", w.Function)
	}
	s.IsSequence = true
	for _, name := range operations {
		operation, err := operationOf(w.Contract, name, 0)
		if err != nil {
			return err
		}
		s.steps = append(s.steps, step{operation: operation, make: func(arrival *Arrival) *Call {
			return newCall(operation, chargingRequest(name, arrival.account(w.accounts()), &arrival.numbers))
		}})
	}
	return nil
}

func (s *Script) addSteps(w Workload) error {
	if len(w.Steps) < 1 || len(w.Steps) > stepsMax {
		return fmt.Errorf("workload.steps: there are %d, not 1 to %d", len(w.Steps), stepsMax)
	}
	s.IsSequence = true
	for at, each := range w.Steps {
		added, err := s.stepOf(w.Contract, each, at)
		if err != nil {
			return fmt.Errorf("steps[%d]: %w", at, err)
		}
		s.steps = append(s.steps, added)
	}
	return nil
}

func (s *Script) stepOf(contractName string, each Step, at int) (step, error) {
	operation, err := operationOf(contractName, each.Operation, each.Bytes)
	if err != nil {
		return step{}, err
	}
	if operation.Stream != nil {
		return step{}, fmt.Errorf("%s is a stream of messages", each.Operation)
	}
	if isCarried(each.Operation) {
		return step{}, fmt.Errorf("%s takes a number from an earlier reply; use workload kind sequence", each.Operation)
	}
	fixed, err := makeFixedCall(operation, each.Bytes, chunkBytesDefault)
	if err != nil {
		return step{}, err
	}
	added := step{operation: operation, fixed: fixed}
	for _, carry := range each.Carry {
		field, err := s.findCarriedField(operation, carry, at)
		if err != nil {
			return step{}, fmt.Errorf("carry: %w", err)
		}
		added.carried = append(added.carried, field)
	}
	return added, nil
}

func (s *Script) findCarriedField(to *contract.Operation, carry Carry, at int) (carriedField, error) {
	from := at - 1
	if carry.Step != nil {
		from = *carry.Step
	}
	if from < 0 || from >= at {
		return carriedField{}, fmt.Errorf("there is no earlier step %d", from)
	}
	source, err := fieldPath(s.steps[from].operation.NewReply(), carry.From)
	if err != nil {
		return carriedField{}, err
	}
	sink, err := fieldPath(to.NewRequest(), carry.To)
	if err != nil {
		return carriedField{}, err
	}
	if !sameType(source[len(source)-1], sink[len(sink)-1]) {
		return carriedField{}, fmt.Errorf("fields %s and %s have different types", carry.From, carry.To)
	}
	return carriedField{from: from, source: source, sink: sink}, nil
}

// Arrival is one call, or one sequence of calls.
type Arrival struct {
	// User of a closed load, or number of the arrival of an open one.
	User uint32
	// Number of the user's arrivals before, from 0; an open load's are all 0.
	Number  uint64
	script  *Script
	step    int
	numbers numbers
	replies []proto.Message
}

// Begin is the arrival number n, from 0, of a user.
func (s *Script) Begin(user uint32, n uint64) *Arrival {
	return &Arrival{User: user, Number: n, script: s}
}

// account of the user; the service numbers them from 1.
func (a *Arrival) account(accounts int64) int32 { return int32(1 + int64(a.User)%accounts) }

// Next is the call that comes next, nil behind the last one.
func (a *Arrival) Next() *Call {
	if a.step >= len(a.script.steps) {
		return nil
	}
	of := &a.script.steps[a.step]
	if of.fixed == nil {
		return of.make(a)
	}
	if len(of.carried) == 0 {
		return of.fixed
	}
	request := proto.Clone(of.fixed.Request)
	for _, field := range of.carried {
		setField(request, field.sink, getField(a.replies[field.from], field.source))
	}
	return newCall(of.operation, request)
}

// Take notes the right reply to the call that was made last.
func (a *Arrival) Take(reply proto.Message) {
	a.step++
	if !a.script.IsSequence || a.step >= len(a.script.steps) {
		return
	}
	a.numbers.take(reply)
	a.replies = append(a.replies, reply)
}
