// Package soap reads and writes SOAP 1.1 and 1.2 envelopes of any contract in
// the styles document/literal and rpc/literal (contracts/README.md, SOAP). It
// knows bytes and messages, no HTTP.
package soap

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
