package contract_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"wirelab/services/go/internal/calendar"
	"wirelab/services/go/internal/charging"
	"wirelab/services/go/internal/contract"
	"wirelab/services/go/internal/stream"
	"wirelab/services/go/internal/transfer"
)

func contracts() []*contract.Contract {
	return []*contract.Contract{transfer.New(14), charging.New(10, 10), calendar.New(), stream.New()}
}

var rpc = regexp.MustCompile(`  rpc (\w+)\((stream )?(\w+)\) returns \((stream )?(\w+)\);`)

// TestOperationsAreThoseOfTheContract: names, order, messages and streams.
func TestOperationsAreThoseOfTheContract(t *testing.T) {
	for _, of := range contracts() {
		source, err := os.ReadFile("../../../../contracts/" + of.Name + ".proto")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(source), "service "+of.Service+" {") {
			t.Errorf("%s has no service %s", of.Name, of.Service)
		}
		rows := rpc.FindAllStringSubmatch(string(source), -1)
		if len(rows) != len(of.Operations) {
			t.Fatalf("%s has %d operations, not %d", of.Name, len(rows), len(of.Operations))
		}
		for i, row := range rows {
			checkOperation(t, &of.Operations[i], row)
			if of.Index(row[1]) != i {
				t.Errorf("index of %s is %d", row[1], of.Index(row[1]))
			}
		}
	}
}

func checkOperation(t *testing.T, operation *contract.Operation, row []string) {
	t.Helper()
	if operation.Name != row[1] {
		t.Errorf("found %s where the contract has %s", operation.Name, row[1])
	}
	if stream := operation.Stream; stream != nil {
		if stream.FromClient != (row[2] != "") || stream.FromServer != (row[4] != "") {
			t.Errorf("%s streams otherwise", operation.Name)
		}
		return
	}
	request := operation.NewRequest().ProtoReflect().Descriptor()
	reply := operation.NewReply().ProtoReflect().Descriptor()
	if string(request.Name()) != row[3] || string(reply.Name()) != row[5] {
		t.Errorf("%s takes %s and answers %s", operation.Name, request.Name(), reply.Name())
	}
	checkOrder(t, request)
	checkOrder(t, reply)
}

// checkOrder: messages are written in the order of the .proto, which the
// mapping wants to be that of the numbers.
func checkOrder(t *testing.T, message protoreflect.MessageDescriptor) {
	t.Helper()
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		if i > 0 && message.Fields().Get(i-1).Number() >= field.Number() {
			t.Errorf("%s is behind a field of a greater number", field.FullName())
		}
		if field.Message() != nil {
			checkOrder(t, field.Message())
		}
	}
}
