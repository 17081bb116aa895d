package soap

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/calendar"
	"wirelab/services/go/internal/charging"
	"wirelab/services/go/internal/contract"
	"wirelab/services/go/internal/records"
	"wirelab/services/go/internal/transfer"
)

// envelopeVector is one row of envelopes.json.
type envelopeVector struct {
	Operation, Codec, SOAP, Action string
	Request, Reply                 json.RawMessage
	RequestEnvelope                string `json:"request_envelope"`
	TokenEnvelope                  string `json:"token_envelope"`
	ReplyEnvelope                  string `json:"reply_envelope"`
	Error                          string
	ErrorEnvelope                  string `json:"error_envelope"`
}

// endpoint is the one of the row's contract, which its action names.
func (v *envelopeVector) endpoint(t *testing.T) (*Endpoint, int) {
	t.Helper()
	version := map[string]*Version{"1.1": V11, "1.2": V12}[v.SOAP]
	for _, of := range []*contract.Contract{transfer.New(14), charging.New(1, 1), calendar.New(),
		records.New(records.NewMemory())} {
		if strings.HasPrefix(v.Action, of.Namespace()+"#") {
			return &Endpoint{Contract: of, Version: version, RPC: v.Codec == "soap-rpc"}, of.Index(v.Operation)
		}
	}
	t.Fatalf("no contract of action %s", v.Action)
	return nil, 0
}

func message(t *testing.T, text json.RawMessage, into proto.Message) proto.Message {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
	return into
}

func envelopeVectors(t *testing.T) []envelopeVector {
	t.Helper()
	var vectors []envelopeVector
	text, err := os.ReadFile("../../../../contracts/vectors/envelopes.json")
	if err == nil {
		err = json.Unmarshal(text, &vectors)
	}
	if err != nil {
		t.Fatal(err)
	}
	return vectors
}

// TestEnvelopeVectors: every operation in both literal styles and versions.
func TestEnvelopeVectors(t *testing.T) {
	checked := 0
	for _, vector := range envelopeVectors(t) {
		if vector.Codec != "soap-encoded" {
			checked++
			t.Run(vector.Operation+" "+vector.Codec+" "+vector.SOAP, vector.check)
		}
	}
	if checked < 60 {
		t.Errorf("only %d envelopes", checked)
	}
}

func (v *envelopeVector) check(t *testing.T) {
	e, index := v.endpoint(t)
	operation := &e.Contract.Operations[index]
	request := message(t, v.Request, operation.NewRequest())
	found, got, err := e.ReadRequest([]byte(v.RequestEnvelope), v.Action)
	if err != nil || found != index || !proto.Equal(got, request) {
		t.Errorf("%v: %v, want %v", err, got, request)
	}
	reply := message(t, v.Reply, operation.NewReply())
	back, err := e.ReadReply([]byte(v.ReplyEnvelope), operation)
	if err != nil || !proto.Equal(back, reply) {
		t.Errorf("%v: %v, want %v", err, back, reply)
	}
	for got, want := range map[string]string{
		string(e.Request(operation, request)):              v.RequestEnvelope,
		string(e.Reply(operation, reply)):                  v.ReplyEnvelope,
		string((&Fault{Sender, v.Error}).Write(e.Version)): v.ErrorEnvelope,
	} {
		if got != want {
			t.Errorf("wrote %s\nwant  %s", got, want)
		}
	}
	if _, err := e.ReadReply([]byte(v.ErrorEnvelope), operation); err == nil {
		t.Error("a fault was taken for a reply")
	}
}

// TestTokenVectors: requests that carry credentials.
func TestTokenVectors(t *testing.T) {
	checked := 0
	for _, vector := range envelopeVectors(t) {
		if vector.TokenEnvelope != "" && vector.Codec != "soap-encoded" {
			checked++
			t.Run(vector.Codec+" "+vector.SOAP, vector.checkToken)
		}
	}
	if checked != 4 {
		t.Errorf("%d envelopes with a token", checked)
	}
}

func (v *envelopeVector) checkToken(t *testing.T) {
	e, index := v.endpoint(t)
	e.Credentials = &Credentials{"lab", "a & b"}
	request := message(t, v.Request, e.Contract.Operations[index].NewRequest())
	found, got, err := e.ReadRequest([]byte(v.TokenEnvelope), v.Action)
	if err != nil || found != index || !proto.Equal(got, request) {
		t.Errorf("%v: %v, want %v", err, got, request)
	}
	if written := e.Request(&e.Contract.Operations[index], request); string(written) != v.TokenEnvelope {
		t.Errorf("wrote %s\nwant  %s", written, v.TokenEnvelope)
	}
	e.Credentials.Password += "!"
	if _, _, err := e.ReadRequest([]byte(v.TokenEnvelope), v.Action); err == nil || err.Error() != "authentication failed" {
		t.Errorf("another password: %v", err)
	}
}
