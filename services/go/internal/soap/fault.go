package soap

import (
	"fmt"
	"net/http"

	"wirelab/services/go/internal/xmlmap"
)

// Code is a fault's code, whatever a version calls it.
type Code int

// The codes.
const (
	Sender Code = iota
	Receiver
	VersionMismatch
	MustUnderstand
)

// Fault is a reply that reports why there is no other.
type Fault struct {
	Code Code
	Text string
}

func (f *Fault) Error() string { return f.Text }

func senderFault(format string, values ...any) *Fault {
	return &Fault{Sender, fmt.Sprintf(format, values...)}
}

// Status is the HTTP status that goes with the fault (SOAP 1.1 section 6.2;
// SOAP 1.2 part 2, table 20).
func (f *Fault) Status(version *Version) int {
	if version == V12 && f.Code == Sender {
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}

func (f *Fault) code(version *Version) string {
	switch f.Code {
	case VersionMismatch:
		return "VersionMismatch"
	case MustUnderstand:
		return "MustUnderstand"
	case Receiver:
		return version.receiver
	}
	return version.sender
}

// Write is the fault's envelope.
func (f *Fault) Write(version *Version) []byte {
	into := openEnvelope(version, nil)
	if version == V12 {
		into = append(into, "<soapenv:Fault><soapenv:Code><soapenv:Value>soapenv:"+f.code(version)+
			`</soapenv:Value></soapenv:Code><soapenv:Reason><soapenv:Text xml:lang="en">`...)
		into = xmlmap.AppendAnyText(into, f.Text)
		return closeEnvelope(append(into, "</soapenv:Text></soapenv:Reason></soapenv:Fault>"...))
	}
	into = append(into, "<soapenv:Fault><faultcode>soapenv:"+f.code(version)+"</faultcode><faultstring>"...)
	into = xmlmap.AppendAnyText(into, f.Text)
	return closeEnvelope(append(into, "</faultstring></soapenv:Fault>"...))
}
