package call

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/charging"
	"wirelab/services/go/internal/contract"
)

// chargingServer answers charging in JSON, and lets change spoil a reply.
func chargingServer(t *testing.T, change func(operation string, n int64, reply map[string]any)) (string, *[]string) {
	t.Helper()
	of := charging.New(1000, 1_000_000_000)
	var lock sync.Mutex
	var seen []string
	var calls atomic.Int64
	target := startServer(t, func(w http.ResponseWriter, request *http.Request) {
		operation := operationAt(of, request.URL.Path)
		message := operation.NewRequest()
		if err := json.NewDecoder(request.Body).Decode(message); err != nil {
			t.Error(err)
		}
		lock.Lock()
		seen = append(seen, operation.Name)
		lock.Unlock()
		answer, err := operation.Answer(message)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		fields := fieldsOf(t, answer)
		change(operation.Name, calls.Add(1), fields)
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(fields); err != nil {
			t.Error(err)
		}
	})
	return target, &seen
}

func operationAt(of *contract.Contract, path string) *contract.Operation {
	for i := range of.Operations {
		if path == "/charging/"+hyphenate(of.Operations[i].Name) {
			return &of.Operations[i]
		}
	}
	panic("no operation at " + path)
}

func fieldsOf(t *testing.T, message proto.Message) map[string]any {
	t.Helper()
	text, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

// runWorkload runs ten arrivals of one user.
func runWorkload(t *testing.T, target, workload string) groupOutcome {
	t.Helper()
	group, _ := runPlan(t, target, `"workload":`+workload+`,`+tenOfOne)
	return group
}

const reservationDebit = `{"kind":"sequence","contract":"charging","function":"ReservationDebit"}`

func TestASequenceCarriesNumbersOfRepliesIntoRequests(t *testing.T) {
	target, seen := chargingServer(t, func(string, int64, map[string]any) {})
	group := runWorkload(t, target, reservationDebit)
	if group.Calls != 40 || group.Errors != 0 || group.Sequences == nil || group.Sequences.Count != 10 {
		t.Fatalf("%+v %v", group, group.ErrorExamples)
	}
	first := strings.Join((*seen)[:4], " ")
	if first != "Reserve ConfirmAction DebitReservation ConfirmAction" {
		t.Error(first)
	}
	var each []string
	for _, operation := range group.Operations {
		each = append(each, fmt.Sprintf("%s %d", operation.Operation, operation.Calls))
	}
	if found := strings.Join(each, ", "); found != "Reserve 10, ConfirmAction 20, DebitReservation 10" {
		t.Error(found)
	}
	if group.Sequences.Response.Count != 10 || group.Sequences.ResponseGood != nil {
		t.Errorf("%+v", group.Sequences)
	}
}

func TestAWrongReplyInTheMiddleOfASequenceEndsIt(t *testing.T) {
	for _, row := range []struct {
		name, field, operation, kind, said string
		value                              int
		calls                              uint64
	}{
		{"another number is confirmed", "cn", "ConfirmAction", "wrong", "cn is 1000000, not", 1_000_000, 20},
		{"a reservation without a number", "res", "Reserve", "wrong", "res is 0, not 1 to 2147483647", 0, 10},
		{"a reservation that nobody made", "res", "Reserve", "application", "400 Bad Request", 999_999, 30},
	} {
		target, _ := chargingServer(t, func(operation string, _ int64, reply map[string]any) {
			if operation == row.operation {
				reply[row.field] = row.value
			}
		})
		group := runWorkload(t, target, reservationDebit)
		if group.Calls != row.calls || group.ErrorsByKind[row.kind] != 10 || group.Sequences.Errors != 10 {
			t.Errorf("%s: %d calls, %v, %+v", row.name, group.Calls, group.ErrorsByKind, group.Sequences)
		}
		if said := strings.Join(group.ErrorExamples, "; "); !strings.Contains(said, row.said) {
			t.Errorf("%s: %s", row.name, said)
		}
	}
}

func TestStepsCarryFieldsAndOneOfThemFails(t *testing.T) {
	const steps = `{"kind":"steps","contract":"charging","steps":[{"operation":"Reserve"},
		{"operation":"CreditControl","carry":[{"from":"%s","to":"%s"}]}]}`
	target, _ := chargingServer(t, func(operation string, n int64, reply map[string]any) {
		if operation == "CreditControl" && n%4 == 0 {
			reply["reserved"] = 1_000_000_001
		}
	})
	group := runWorkload(t, target, fmt.Sprintf(steps, "res", "id"))
	if group.Calls != 20 || group.ErrorsByKind["wrong"] != 5 || group.Sequences.Errors != 5 {
		t.Errorf("%d calls, %v %v", group.Calls, group.ErrorsByKind, group.ErrorExamples)
	}
	if group.Sequences.ResponseGood == nil || group.Sequences.ResponseGood.Count != 5 {
		t.Errorf("%+v", group.Sequences)
	}
}

func TestASequenceEndsWithTheDrain(t *testing.T) {
	target := startServer(t, func(_ http.ResponseWriter, request *http.Request) {
		// A server notices that its client has gone once the body is read.
		_, _ = io.Copy(io.Discard, request.Body)
		<-request.Context().Done()
	})
	group, _ := runPlan(t, target, `"workload":`+reservationDebit+
		`,"load":{"kind":"closed","users":2},"window":{"duration_s":0.1},"drain_s":0.1,`+cold)
	if group.ErrorsByKind["unfinished"] != 2 || group.Sequences.Errors != 2 || group.CallsWholeRun != 2 {
		t.Errorf("%v, %+v, %d sent", group.ErrorsByKind, group.Sequences, group.CallsWholeRun)
	}
}
