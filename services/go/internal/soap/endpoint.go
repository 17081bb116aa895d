package soap

import (
	"strings"

	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/contract"
	"wirelab/services/go/internal/xmlmap"
)

// Endpoint speaks one contract in one version and one style.
type Endpoint struct {
	Contract *contract.Contract
	Version  *Version
	// RPC: rpc/literal; else document/literal, bare.
	RPC bool
	// Credentials that a request must carry; nil: none.
	Credentials *Credentials
}

// Action of an operation.
func (e *Endpoint) Action(operation *contract.Operation) string {
	return e.Contract.Namespace() + "#" + operation.Name
}

// Reply is the envelope of an operation's reply.
func (e *Endpoint) Reply(operation *contract.Operation, reply proto.Message) []byte {
	return e.envelope(reply, wrapper(operation)+"Response")
}

// Request is the envelope of a request, as a caller writes it.
func (e *Endpoint) Request(operation *contract.Operation, request proto.Message) []byte {
	return e.envelope(request, wrapper(operation))
}

// wrapper is an operation's element in rpc/literal: its name, the first letter
// in lower case.
func wrapper(operation *contract.Operation) string {
	return strings.ToLower(operation.Name[:1]) + operation.Name[1:]
}

func (e *Endpoint) envelope(message proto.Message, wrapper string) []byte {
	into, namespace := openEnvelope(e.Version), e.Contract.Namespace()
	if !e.RPC {
		return closeEnvelope(xmlmap.AppendElement(into, message, namespace))
	}
	// A prefix, because the fields are in no namespace.
	into = append(into, `<ns:`+wrapper+` xmlns:ns="`+namespace+`">`...)
	into = append(xmlmap.AppendParts(into, message), `</ns:`+wrapper+`>`...)
	return closeEnvelope(into)
}

func openEnvelope(version *Version) []byte {
	return []byte(xmlmap.Declaration + `<soapenv:Envelope xmlns:soapenv="` + version.Namespace + `"><soapenv:Body>`)
}

func closeEnvelope(into []byte) []byte {
	return append(into, `</soapenv:Body></soapenv:Envelope>`...)
}
