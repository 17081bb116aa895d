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
	return e.envelope(openEnvelope(e.Version, nil), reply, wrapper(operation)+"Response")
}

// Request is the envelope of a request, as a caller writes it.
func (e *Endpoint) Request(operation *contract.Operation, request proto.Message) []byte {
	return e.envelope(openEnvelope(e.Version, e.Credentials.token()), request, wrapper(operation))
}

// wrapper is an operation's element in rpc/literal: its name, the first letter
// in lower case.
func wrapper(operation *contract.Operation) string {
	return strings.ToLower(operation.Name[:1]) + operation.Name[1:]
}

// envelope completes an opened one.
func (e *Endpoint) envelope(into []byte, message proto.Message, wrapper string) []byte {
	namespace := e.Contract.Namespace()
	if !e.RPC {
		return closeEnvelope(xmlmap.AppendElement(into, message, namespace))
	}
	// A prefix, because the fields are in no namespace.
	into = append(into, `<w:`+wrapper+` xmlns:w="`+namespace+`">`...)
	into = append(xmlmap.AppendParts(into, message), `</w:`+wrapper+`>`...)
	return closeEnvelope(into)
}

// openEnvelope writes up to the body's child; header is what the Header holds,
// of which there is none when it is empty.
func openEnvelope(version *Version, header []byte) []byte {
	into := []byte(xmlmap.Declaration + `<soapenv:Envelope xmlns:soapenv="` + version.Namespace + `">`)
	if len(header) > 0 {
		into = append(append(append(into, `<soapenv:Header>`...), header...), `</soapenv:Header>`...)
	}
	return append(into, `<soapenv:Body>`...)
}

func closeEnvelope(into []byte) []byte {
	return append(into, `</soapenv:Body></soapenv:Envelope>`...)
}
