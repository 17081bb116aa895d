package soap

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/contract"
	"wirelab/services/go/internal/transfer"
	transferpb "wirelab/services/go/transferpb"
)

func endpoints() []*Endpoint {
	all := []*Endpoint{}
	for _, version := range []*Version{V11, V12} {
		for _, rpc := range []bool{false, true} {
			for _, credentials := range []*Credentials{nil, {"u<", "p&"}} {
				all = append(all, &Endpoint{Contract: transfer.New(14), Version: version, RPC: rpc, Credentials: credentials})
			}
		}
	}
	return all
}

func submission() *transferpb.SubmitRequest {
	return &transferpb.SubmitRequest{Batch: "b", Records: []*transferpb.Record{{Id: 1, Quantity: 2, Item: " <i>\r"}, {}}}
}

// TestEnvelopes: to the letter of contracts/README.md.
func TestEnvelopes(t *testing.T) {
	reply := &transferpb.SubmitReply{Batch: "b", Refused: []*transferpb.Refusal{{Id: 1, Reason: "r"}}}
	const fields = `<batch>b</batch><accepted>0</accepted><quantity_total>0</quantity_total>`
	const open = `<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="ENVELOPE"><soapenv:Body>`
	const end = `</soapenv:Body></soapenv:Envelope>`
	for _, e := range endpoints() {
		want := `<SubmitReply xmlns="urn:wirelab:transfer:v1">` + fields + `<refused><id>1</id><reason>r</reason></refused></SubmitReply>`
		if e.RPC {
			want = `<w:submitResponse xmlns:w="urn:wirelab:transfer:v1">` + fields +
				`<refused><item><id>1</id><reason>r</reason></item></refused></w:submitResponse>`
		}
		want = strings.Replace(open, "ENVELOPE", e.Version.Namespace, 1) + want + end
		operation := &e.Contract.Operations[e.Contract.Index("Submit")]
		text := e.Reply(operation, reply)
		if string(text) != want {
			t.Errorf("got  %s\nwant %s", text, want)
		}
		if back, err := e.ReadReply(text, operation); err != nil || !proto.Equal(back, reply) {
			t.Errorf("%v, %v", back, err)
		}
	}
}

func TestFaults(t *testing.T) {
	const open = `<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="`
	for version, want := range map[*Version]string{
		V11: open + `http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body><soapenv:Fault><faultcode>soapenv:Client</faultcode>` +
			`<faultstring>a&lt;` + "\ufffd" + `</faultstring></soapenv:Fault></soapenv:Body></soapenv:Envelope>`,
		V12: open + `http://www.w3.org/2003/05/soap-envelope"><soapenv:Body><soapenv:Fault><soapenv:Code><soapenv:Value>soapenv:Sender` +
			`</soapenv:Value></soapenv:Code><soapenv:Reason><soapenv:Text xml:lang="en">a&lt;` + "\ufffd" +
			`</soapenv:Text></soapenv:Reason></soapenv:Fault></soapenv:Body></soapenv:Envelope>`,
	} {
		if got := string((&Fault{Sender, "a<\x00"}).Write(version)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	for code, row := range map[Code]struct {
		v11, v12 string
		status12 int
	}{Sender: {"Client", "Sender", 400}, Receiver: {"Server", "Receiver", 500},
		VersionMismatch: {"VersionMismatch", "VersionMismatch", 500}, MustUnderstand: {"MustUnderstand", "MustUnderstand", 500}} {
		fault := &Fault{code, "t"}
		if fault.code(V11) != row.v11 || fault.code(V12) != row.v12 || fault.Status(V11) != 500 || fault.Status(V12) != row.status12 {
			t.Errorf("%d: %s %d, %s %d", code, fault.code(V11), fault.Status(V11), fault.code(V12), fault.Status(V12))
		}
	}
}

// TestTruncation: an envelope is refused wherever it is cut, with a fault.
func TestTruncation(t *testing.T) {
	for _, e := range endpoints() {
		operation := &e.Contract.Operations[e.Contract.Index("Submit")]
		text := e.Request(operation, submission())
		index, request, err := e.ReadRequest(text, e.Action(operation))
		if err != nil || e.Contract.Operations[index].Name != "Submit" || !proto.Equal(request, submission()) {
			t.Fatalf("%s: %v, %v", text, request, err)
		}
		for end := range text {
			if _, _, err := e.ReadRequest(text[:end], ""); !errors.As(err, new(*Fault)) {
				t.Fatalf("%v when cut after %d bytes: %s", err, end, text[:end])
			}
		}
	}
}

// TestOperationsByTheirElements: every operation of one request and one reply
// is found by its action, streams are not.
func TestOperationsByTheirElements(t *testing.T) {
	for _, e := range endpoints() {
		for i := range e.Contract.Operations {
			operation := &e.Contract.Operations[i]
			if operation.Stream != nil {
				operation = &contract.Operation{Name: operation.Name, NewRequest: func() proto.Message { return &transferpb.DownloadRequest{} }}
			}
			text := e.Request(operation, operation.NewRequest())
			found, _, err := e.ReadRequest(text, e.Action(operation))
			if operation.Answer != nil && (err != nil || found != i) || operation.Answer == nil && err == nil {
				t.Errorf("%s: %d, %v", operation.Name, found, err)
			}
		}
	}
}

func FuzzReadRequest(f *testing.F) {
	all := endpoints()
	for i, e := range all {
		operation := &e.Contract.Operations[e.Contract.Index("Submit")]
		f.Add(uint8(i), e.Request(operation, submission()), e.Action(operation))
	}
	f.Fuzz(func(t *testing.T, which uint8, text []byte, action string) {
		e := all[int(which)%len(all)]
		if _, request, err := e.ReadRequest(text, action); err == nil && request == nil || err != nil && !errors.As(err, new(*Fault)) {
			t.Errorf("%v, %v", request, err)
		}
	})
}
