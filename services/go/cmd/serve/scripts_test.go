package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// script is one row of scripts.json.
type script struct {
	Contract, Name string
	Store          map[string]any
	Steps          []step
}

type step struct {
	Operation, Error string
	Request, Reply   json.RawMessage
}

// TestScripts plays every sequence of charging and calendar over every stack.
func TestScripts(t *testing.T) {
	var scripts []script
	readVectors(t, "scripts.json", &scripts)
	if len(scripts) < 10 {
		t.Fatalf("only %d scripts", len(scripts))
	}
	for _, clientStack := range clientStacks() {
		for _, script := range scripts {
			t.Run(clientStack.name+": "+script.Contract+", "+script.Name, func(t *testing.T) {
				config := clientStack.config.with("contract", script.Contract)
				for key, value := range script.Store {
					config = config.with("store."+key, value)
				}
				p, numbers := start(t, config), numbers{}
				for i, step := range script.Steps {
					step.play(t, i, p, clientStack, script.Contract, numbers)
				}
			})
		}
	}
}

func (s *step) play(t *testing.T, at int, p *process, by clientStack, contract string, known numbers) {
	t.Helper()
	var want any
	if s.Reply != nil {
		want = known.insert(t, decodeExactly(t, s.Reply), true)
	}
	request := known.insert(t, decodeExactly(t, s.Request), false)
	got, problem := by.call(t, p, contract, s.Operation, request, want)
	if problem != s.Error {
		t.Fatalf("step %d, %s: error %q, want %q", at, s.Operation, problem, s.Error)
	}
	if s.Error != "" {
		return
	}
	known.learn(t, decodeExactly(t, s.Reply), got)
	if want = known.insert(t, decodeExactly(t, s.Reply), false); !same(got, want) {
		t.Fatalf("step %d, %s: %v, want %v", at, s.Operation, got, want)
	}
}

// numbers are those that a service gave, by the names that a script has for them.
type numbers map[string]json.Number

func (n numbers) insert(t *testing.T, object any, unknownAllowed bool) any {
	t.Helper()
	fields := object.(map[string]any)
	for _, field := range []string{"res", "cn"} {
		name, isName := fields[field].(string)
		if !isName {
			continue
		}
		number, known := n[name]
		if !known && !unknownAllowed {
			t.Fatalf("%s is used before it was given", name)
		}
		fields[field] = number
	}
	return fields
}

// learn takes new numbers from a reply; none may have been given before.
func (n numbers) learn(t *testing.T, pattern, got any) {
	t.Helper()
	for _, field := range []string{"res", "cn"} {
		name, isName := pattern.(map[string]any)[field].(string)
		if _, known := n[name]; !isName || known {
			continue
		}
		number, _ := got.(map[string]any)[field].(json.Number)
		if value, err := number.Int64(); err != nil || value < 1 || value > 1<<31-1 {
			t.Fatalf("%s is %v, not a positive int32", field, number)
		}
		for other, given := range n {
			if given == number && strings.HasPrefix(other, "$"+field) {
				t.Fatalf("%s was given as %s and as %s", number, other, name)
			}
		}
		n[name] = number
	}
}

// TestOperationVectorsOverEveryStack: the requests of operations.json are
// answered alike, whatever is spoken.
func TestOperationVectorsOverEveryStack(t *testing.T) {
	var vectors []*operationVector
	readVectors(t, "operations.json", &vectors)
	for _, clientStack := range clientStacks() {
		p, checked := start(t, clientStack.config), 0
		for _, vector := range vectors {
			// Repeated records and large files are for a binding each.
			if vector.Operation == "Download" || vector.RecordsRepeated > 0 || vector.DataPatternBytes > 1<<20 {
				continue
			}
			checked++
			t.Run(clientStack.name+": "+vector.Operation+", "+vector.Name, func(t *testing.T) {
				vector.playOver(t, p, clientStack)
			})
		}
		if checked < 5 {
			t.Errorf("only %d vectors", checked)
		}
	}
}

func (v *operationVector) playOver(t *testing.T, p *process, by clientStack) {
	t.Helper()
	var message any = v.submit
	if v.Operation == "Upload" {
		message = v.upload(t)
	} else {
		message = v.submit(t)
	}
	text, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	request := removeNull(decodeExactly(t, text))
	var want any
	if v.Reply != nil {
		want = decodeExactly(t, v.Reply)
	}
	got, problem := by.call(t, p, "transfer", v.Operation, request, want)
	if problem != v.Error || v.Error == "" && !same(got, want) {
		t.Errorf("%q, %.300v; want %q, %.300v", problem, got, v.Error, want)
	}
}

// removeNull leaves out what encoding/json writes for an empty list or no bytes.
func removeNull(object any) any {
	fields := object.(map[string]any)
	for name, value := range fields {
		if value == nil {
			delete(fields, name)
		}
	}
	return fields
}
