package main

import (
	"database/sql"
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	_ "modernc.org/sqlite" // driver `sqlite`

	pb "wirelab/services/go/recordspb"
)

const allocateAlice = `{"name":"Alice","id":113517,"courseCode":"CS31245"}`

// aliceTeam is the stored row of Jagannathan (2022), figure 2.1.
const aliceTeam = `{"member1":"Alice","member2":"Derek","member1id":113517,"member2id":113520,` +
	`"courseCode":"CS31245","groupId":879253}`

// configureStore returns a configuration of contract records on a new SQLite file.
func configureStore(t *testing.T, config options) options {
	t.Helper()
	return config.with("contract", "records").with("store.kind", "sqlite").
		with("store.url", filepath.Join(t.TempDir(), "records.db"))
}

// TestRecordsOverEveryStack makes the three operations, and one error of each, over
// every stack, in memory and on SQLite.
func TestRecordsOverEveryStack(t *testing.T) {
	for _, clientStack := range clientStacks() {
		for _, kind := range []string{"memory", "sqlite"} {
			t.Run(clientStack.name+" "+kind, func(t *testing.T) {
				config := clientStack.config.with("contract", "records")
				if kind == "sqlite" {
					config = configureStore(t, config)
				}
				p := start(t, config)
				for _, step := range []struct{ operation, request, reply, problem string }{
					{"CountAllocations", `{}`, `{"count":10001}`, ""},
					{"Allocate", allocateAlice, `{"message":"Your team has been allocated for the course","teamDetails":` +
						aliceTeam + `}`, ""},
					{"FindAllocation", `{"groupId":879253}`, `{"teamDetails":` + aliceTeam + `}`, ""},
					{"CountAllocations", `{}`, `{"count":10002}`, ""},
					{"Allocate", `{"name":"","id":0,"courseCode":""}`, "", "name must not be empty"},
					{"FindAllocation", `{"groupId":879254}`, "", "no such group"},
				} {
					checkStep(t, p, clientStack, step.operation, step.request, step.reply, step.problem)
				}
			})
		}
	}
}

// checkStep makes a call of contract records; request and reply are JSON.
func checkStep(t *testing.T, p *process, by clientStack, operation, request, reply, problem string) {
	t.Helper()
	var want any
	if reply != "" {
		want = decodeExactly(t, []byte(reply))
	}
	got, text := by.call(t, p, "records", operation, decodeExactly(t, []byte(request)), want)
	if text != problem || problem == "" && !same(got, want) {
		t.Errorf("%s: %v %q, want %v %q", operation, got, text, want, problem)
	}
}

// TestDatabaseUnavailable holds SQLite's write lock, so that Allocate cannot insert
// within the timeout; afterwards the service recovers by itself.
func TestDatabaseUnavailable(t *testing.T) {
	for _, row := range []struct {
		config options
		check  func(t *testing.T, p *process)
	}{
		{restJSON, checkUnavailableREST("application/json", allocateAlice, `{"error":"database unavailable"}`)},
		{stack("rest", "protobuf", "http/1.1"), checkUnavailableREST("application/x-protobuf",
			"\n\x05Alice\x10\xed\xf6\x06\x1a\aCS31245", "\n\x14database unavailable")},
		{stack("rest", "xml", "http/1.1"), checkUnavailableREST("application/xml",
			allocateElement, `<error>database unavailable</error>`)},
		{soapOnly, checkUnavailableSOAP("1.1", "Server")},
		{soapOnly.with("stack.soap", "1.2"), checkUnavailableSOAP("1.2", "Receiver")},
		{grpcOnly, func(t *testing.T, p *process) {
			t.Helper()
			checkStatus(t, allocateGRPC(t, p), codes.Unavailable, "database unavailable")
		}},
	} {
		// Long enough for the call after the outage on a busy machine.
		config := configureStore(t, row.config).with("store.timeout_ms", 1000)
		t.Run(config["stack.binding"].(string)+" "+config["stack.codec"].(string), func(t *testing.T) {
			p := start(t, config)
			release := lockSQLite(t, config["store.url"].(string))
			row.check(t, p)
			counts := metrics(t, p)
			checkCounts(t, counts, map[string]float64{`wirelab_calls_total{operation="Allocate"}`: 1,
				`wirelab_errors_total{operation="Allocate"}`: 0})
			release()
			checkRecovered(t, p, config)
			stop(t, p)
			if strings.Count(p.stderr.String(), "database unavailable") != 1 {
				t.Errorf("the outage is not logged once: %q", p.stderr)
			}
		})
	}
}

const allocateElement = `<AllocateRequest xmlns="urn:wirelab:records:v1"><name>Alice</name><id>113517</id>` +
	`<courseCode>CS31245</courseCode></AllocateRequest>`

func allocateGRPC(t *testing.T, p *process) error {
	t.Helper()
	connection, err := dialGRPC(p)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	_, err = pb.NewRecordsClient(connection).Allocate(t.Context(),
		&pb.AllocateRequest{Name: "Alice", Id: 113_517, CourseCode: "CS31245"})
	return err
}

func checkUnavailableREST(mediaType, request, body string) func(*testing.T, *process) {
	return func(t *testing.T, p *process) {
		t.Helper()
		answer := mustCall(t, p, p.transport, "POST", "/records/allocate", []byte(request), "Content-Type", mediaType)
		if answer.StatusCode != 503 || answer.Header.Get("Content-Type") != mediaType ||
			!strings.Contains(string(answer.body), body) {
			t.Errorf("status %d, %s: %q", answer.StatusCode, answer.Header.Get("Content-Type"), answer.body)
		}
	}
}

func checkUnavailableSOAP(version, code string) func(*testing.T, *process) {
	return func(t *testing.T, p *process) {
		t.Helper()
		answer := mustCall(t, p, p.transport, "POST", "/records/soap", []byte(makeEnvelope(version, "", allocateElement)),
			soapHeader(version, "urn:wirelab:records:v1#Allocate")...)
		if got := readFault(t, answer, version); answer.StatusCode != 500 || got != (fault{code, "database unavailable"}) {
			t.Errorf("status %d, %+v", answer.StatusCode, got)
		}
	}
}

// lockSQLite takes the write lock of a file until release is called.
func lockSQLite(t *testing.T, path string) (release func()) {
	t.Helper()
	pool, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	transaction, err := pool.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := transaction.Rollback(); err != nil {
			t.Error(err)
		}
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	}
}

// checkRecovered allocates over the service's own stack.
func checkRecovered(t *testing.T, p *process, config options) {
	t.Helper()
	for _, clientStack := range clientStacks() {
		of := clientStack.config
		if of["stack.binding"] != config["stack.binding"] || of["stack.codec"] != config["stack.codec"] ||
			of["stack.transport"] != config["stack.transport"] || !sameSOAP(of, config) {
			continue
		}
		var reply struct{ TeamDetails struct{ Member2 string } }
		like := `{"message":"","teamDetails":` + aliceTeam + `}`
		got, problem := clientStack.call(t, p, "records", "Allocate", decodeExactly(t, []byte(allocateAlice)),
			decodeExactly(t, []byte(like)))
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &reply); err != nil || problem != "" || reply.TeamDetails.Member2 != "Derek" {
			t.Errorf("after the outage: %s %q", text, problem)
		}
		return
	}
	t.Fatalf("no clientStack of %v", config)
}

// sameSOAP: a configuration without a version is of SOAP 1.1.
func sameSOAP(a, b options) bool {
	version := func(of options) any {
		if of["stack.soap"] == nil {
			return "1.1"
		}
		return of["stack.soap"]
	}
	return version(a) == version(b)
}

// TestStoreIsReported: the ready line names driver and pool, and the metrics count
// the pool's connections; in memory there is neither.
func TestStoreIsReported(t *testing.T) {
	p := start(t, restJSON.with("contract", "records"))
	checkStoreRows(t, p)
	if _, there := metrics(t, p)[`wirelab_store_connections{state="idle"}`]; there || p.Set["store_pool"] != nil {
		t.Errorf("in memory: set %v", p.Set)
	}
	p = start(t, configureStore(t, restJSON).with("store.pool", 3))
	checkStoreRows(t, p, "modernc.org/sqlite", "database/sql")
	checkVersions(t, buildVersions(t), p)
	if p.Set["store_pool"] != 3.0 {
		t.Errorf("set %v", p.Set)
	}
	checkCounts(t, metrics(t, p), map[string]float64{`wirelab_store_connections{state="in_use"}`: 0,
		`wirelab_store_connections{state="idle"}`: 1})
}

// checkStoreRows compares the rows of role store.
func checkStoreRows(t *testing.T, p *process, want ...string) {
	t.Helper()
	var got []string
	for _, row := range p.Libraries {
		if row.Role == "store" {
			got = append(got, row.Name)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("store rows %v, want %v", got, want)
	}
}
