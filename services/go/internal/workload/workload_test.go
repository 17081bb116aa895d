package workload

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	calendarpb "wirelab/services/go/calendarpb"
	chargingpb "wirelab/services/go/chargingpb"
	recordspb "wirelab/services/go/recordspb"
	transferpb "wirelab/services/go/transferpb"
)

func scriptOf(t *testing.T, document string) *Script {
	t.Helper()
	var w Workload
	if err := json.Unmarshal([]byte(document), &w); err != nil {
		t.Fatal(err)
	}
	script, err := New(w)
	if err != nil {
		t.Fatal(err)
	}
	return script
}

func TestASubmitHasItsSizeToTheByte(t *testing.T) {
	for bytes := submitBytesMin; bytes < 2500; bytes++ {
		if size := proto.Size(submitRequest(bytes)); size != bytes {
			t.Fatalf("%d bytes, not %d", size, bytes)
		}
	}
	for _, bytes := range []int{16_000, 150_000, 1_100_000, 3_000_000} {
		if size := proto.Size(submitRequest(bytes)); size != bytes {
			t.Errorf("%d bytes, not %d", size, bytes)
		}
	}
}

// Requests of the engine's workloads, as contracts/vectors/workloads.json has them.
func TestRequestsAreThoseOfTheEngine(t *testing.T) {
	file, err := os.ReadFile("../../../../contracts/vectors/workloads.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Workload json.RawMessage
		User     uint32
		Arrival  uint64
		Sha256   string
	}
	if err := json.Unmarshal(file, &vectors); err != nil || len(vectors) < 20 {
		t.Fatal(err, len(vectors))
	}
	for _, row := range vectors {
		call := scriptOf(t, string(row.Workload)).Begin(row.User, row.Arrival).Next()
		if digest := sha256Hex(compactJSON(t, call.Request)); digest != row.Sha256 {
			t.Errorf("%s, user %d, arrival %d: %s", row.Workload, row.User, row.Arrival, digest)
		}
	}
}

func TestRepliesThatDependOnTheRequestAloneAreComparedInFull(t *testing.T) {
	for _, row := range []struct {
		workload string
		spoil    func(proto.Message)
		said     string
	}{
		{`{"kind":"contract","contract":"transfer","operation":"Hello","bytes":14}`,
			func(m proto.Message) { m.(*transferpb.HelloReply).Text = "Hello, wirelaB" }, "text differs from the contract's at byte 13"},
		{`{"kind":"contract","contract":"transfer","operation":"HelloBytes","bytes":5}`,
			func(m proto.Message) { m.(*transferpb.HelloBytesReply).Text = nil }, "text has 0 bytes, not 5"},
		{`{"kind":"contract","contract":"transfer","operation":"Submit","bytes":2000}`,
			func(m proto.Message) { m.(*transferpb.SubmitReply).QuantityTotal++ }, "quantity_total is"},
		{`{"kind":"contract","contract":"transfer","operation":"Submit","bytes":2000}`,
			func(m proto.Message) { m.(*transferpb.SubmitReply).Refused[0].Id-- }, "refused[0].id is"},
		{`{"kind":"contract","contract":"transfer","operation":"Submit","bytes":2000}`,
			func(m proto.Message) { m.(*transferpb.SubmitReply).Refused = nil }, "refused has 0 items"},
		{`{"kind":"contract","contract":"transfer","operation":"Upload","bytes":3}`,
			func(m proto.Message) { m.(*transferpb.UploadReply).Length = 4 }, "length is 4, not 3"},
		{`{"kind":"contract","contract":"calendar","operation":"Deploy"}`,
			func(m proto.Message) { m.(*calendarpb.DeployReply).Status += "0" }, "status has 59 bytes, not 58"},
		{`{"kind":"contract","contract":"calendar","operation":"Book"}`,
			func(m proto.Message) { m.(*calendarpb.BookReply).Number = 1 }, "number is 1, not 0"},
		{`{"kind":"contract","contract":"records","operation":"FindAllocation"}`,
			func(m proto.Message) { m.(*recordspb.FindAllocationReply).TeamDetails = nil }, "teamDetails.member1 has 0 bytes"},
	} {
		call := scriptOf(t, row.workload).Begin(0, 0).Next()
		right := proto.Clone(call.answer)
		if err := call.Check(right); err != nil {
			t.Errorf("%s: %v", row.workload, err)
		}
		row.spoil(right)
		if err := call.Check(right); err == nil || !strings.Contains(err.Error(), row.said) {
			t.Errorf("%s: %v, not %q", row.workload, err, row.said)
		}
	}
}

func TestRepliesThatDependOnEarlierCallsKeepTheirRules(t *testing.T) {
	allocated, err := allocate(&recordspb.AllocateRequest{Name: "Alice", Id: 113_517, CourseCode: "CS31245"})
	if err != nil {
		t.Fatal(err)
	}
	allocated.TeamDetails.GroupId = 5
	other := proto.CloneOf(allocated)
	other.TeamDetails.GroupId = 0
	for _, row := range []struct {
		contract, operation string
		reply               proto.Message
		said                string
	}{
		{"charging", "Credit", &chargingpb.CreditReply{Cn: 1}, ""},
		{"charging", "Credit", &chargingpb.CreditReply{}, "cn is 0, not 1 to 2147483647"},
		{"charging", "Reserve", &chargingpb.ReserveReply{Res: 1}, "cn is 0"},
		{"charging", "CreditControl", &chargingpb.CreditControlReply{Balance: 2, Reserved: 2}, ""},
		{"charging", "CreditControl", &chargingpb.CreditControlReply{Balance: 2, Reserved: 3}, "reserved is 3, not 0 to 2"},
		{"calendar", "Entries", &calendarpb.EntriesReply{Entries: []*calendarpb.Entry{{Slot: 4}, {Slot: 47}}}, ""},
		{"calendar", "Entries", &calendarpb.EntriesReply{Entries: []*calendarpb.Entry{{Slot: 4}, {Slot: 4}}}, "entries[1].slot is 4, not 5 to 47"},
		{"records", "CountAllocations", &recordspb.CountAllocationsReply{Count: 10_001}, ""},
		{"records", "CountAllocations", &recordspb.CountAllocationsReply{Count: 10_000}, "count is 10000"},
		{"records", "Allocate", allocated, ""},
		{"records", "Allocate", other, "teamDetails.groupId is 0"},
		{"records", "Allocate", &recordspb.AllocateReply{}, "teamDetails.groupId is 0"},
	} {
		call := scriptOf(t, `{"kind":"contract","contract":"`+row.contract+`","operation":"`+row.operation+`"}`).Begin(0, 0).Next()
		err := call.Check(row.reply)
		if row.said == "" && err != nil || row.said != "" && (err == nil || !strings.Contains(err.Error(), row.said)) {
			t.Errorf("%s: %v, not %q", row.operation, err, row.said)
		}
	}
}

func TestADownloadIsCheckedChunkByChunk(t *testing.T) {
	call := scriptOf(t, `{"kind":"contract","contract":"transfer","operation":"Download","bytes":10,"chunk_bytes":4}`).Begin(0, 0).Next()
	whole := pattern(10)
	for i, chunk := range [][]byte{whole[:4], whole[4:8], whole[8:]} {
		if err := call.CheckChunk(i, chunk); err != nil {
			t.Error(err)
		}
	}
	if call.CheckChunks(3) != nil || call.CheckChunks(2) == nil || call.CheckChunk(3, nil) == nil || call.CheckChunk(0, whole[:5]) == nil {
		t.Error("three chunks of 4, 4 and 2 bytes are right, and no others")
	}
}

func TestAStepTakesAFieldOfAnyEarlierReply(t *testing.T) {
	script := scriptOf(t, `{"kind":"steps","contract":"records","steps":[{"operation":"Allocate"},{"operation":"CountAllocations"},
		{"operation":"FindAllocation","carry":[{"step":0,"from":"teamDetails.groupId","to":"groupId"}]}]}`)
	arrival := script.Begin(0, 0)
	for _, reply := range []proto.Message{
		&recordspb.AllocateReply{TeamDetails: &recordspb.Team{GroupId: 77}}, &recordspb.CountAllocationsReply{Count: 1},
	} {
		arrival.Next()
		arrival.Take(reply)
	}
	if found := arrival.Next().Request.(*recordspb.FindAllocationRequest).GetGroupId(); found != 77 {
		t.Errorf("group %d", found)
	}
	arrival.Take(&recordspb.FindAllocationReply{})
	if arrival.Next() != nil {
		t.Error("there are three steps")
	}
}

func TestCarriedFieldsThatDoNotExistAreRefused(t *testing.T) {
	for _, row := range []struct{ carry, said string }{
		{`{"from":"cn","to":"number"}`, `CreditControlRequest has no field "number"`},
		{`{"from":"nr","to":"id"}`, `CreditReply has no field "nr"`},
		{`{"step":1,"from":"cn","to":"id"}`, "there is no earlier step 1"},
	} {
		var w Workload
		document := `{"kind":"steps","contract":"charging","steps":[{"operation":"Credit"},{"operation":"CreditControl","carry":[` + row.carry + `]}]}`
		if err := json.Unmarshal([]byte(document), &w); err != nil {
			t.Fatal(err)
		}
		if _, err := New(w); err == nil || !strings.Contains(err.Error(), row.said) {
			t.Errorf("%s: %v", row.carry, err)
		}
	}
}

func compactJSON(t *testing.T, message proto.Message) []byte {
	t.Helper()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(message); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

func sha256Hex(text []byte) string {
	digest := sha256.Sum256(text)
	return hex.EncodeToString(digest[:])
}
