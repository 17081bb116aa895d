// Package soap reads and writes SOAP 1.1 and 1.2 envelopes of any contract in
// the styles document/literal and rpc/literal (contracts/README.md, SOAP). It
// knows bytes and messages, no HTTP.
package soap

import (
	"strings"

	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/contract"
	"wirelab/services/go/internal/xmlmap"
)

// Endpoint serves one contract in one version and one style.
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

// Version is a version of SOAP.
type Version struct {
	// Name is the axis' value.
	Name string
	// Namespace of the envelope.
	Namespace string
	// MediaType of requests and replies, parameters aside.
	MediaType string
	// Codes of faults, for Client and Server of 1.1.
	sender, receiver string
	// roles in which a service acts that is the message's last receiver.
	roleName string
	roles    []string
}

// The versions (W3C note SOAP 1.1; W3C recommendation SOAP 1.2, second edition).
var (
	V11 = &Version{
		Name:      "1.1",
		Namespace: "http://schemas.xmlsoap.org/soap/envelope/",
		MediaType: "text/xml",
		sender:    "Client",
		receiver:  "Server",
		roleName:  "actor",
		roles:     []string{"", "http://schemas.xmlsoap.org/soap/actor/next"},
	}
	V12 = &Version{
		Name:      "1.2",
		Namespace: "http://www.w3.org/2003/05/soap-envelope",
		MediaType: "application/soap+xml",
		sender:    "Sender",
		receiver:  "Receiver",
		roleName:  "role",
		roles: []string{"", "http://www.w3.org/2003/05/soap-envelope/role/next",
			"http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver"},
	}
)

// ContentType is what replies declare themselves to be.
func (v *Version) ContentType() string { return v.MediaType + "; charset=utf-8" }
