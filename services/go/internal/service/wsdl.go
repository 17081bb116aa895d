package service

import (
	"regexp"
	"strings"

	"wirelab/contracts"
	"wirelab/services/go/internal/contract"
)

// placeholder is the address that the committed descriptions name.
const placeholder = `location="http://127.0.0.1/`

// A host and port, and nothing that XML would have to escape: it comes from the client.
var hostPattern = regexp.MustCompile(`^[A-Za-z0-9.:_\[\]-]+$`)

// description is a contract's WSDL 1.1.
type description struct {
	committed string
	scheme    string
}

func newDescription(of *contract.Contract, codec string, isSecure bool) *description {
	name := "wsdl/" + of.Name + map[string]string{"soap-rpc": "-rpc"}[codec] + ".wsdl"
	text, err := contracts.WSDL.ReadFile(name)
	if err != nil {
		panic(err) // every contract that is offered over SOAP has its file
	}
	scheme := "http"
	if isSecure {
		scheme = "https"
	}
	return &description{committed: string(text), scheme: scheme}
}

// describe returns the WSDL with the address at which it was asked for, because clients
// generate their endpoint from it; the committed address stays where host is none.
func (d *description) describe(host string) string {
	if !hostPattern.MatchString(host) {
		return d.committed
	}
	return strings.ReplaceAll(d.committed, placeholder, `location="`+d.scheme+`://`+host+`/`)
}
