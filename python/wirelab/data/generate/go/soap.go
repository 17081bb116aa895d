package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// SOAP 1.1, document/literal, bare (W3C note SOAP 1.1).
const (
	soapNamespace = "http://schemas.xmlsoap.org/soap/envelope/"
	envelopeStart = declaration + `<soapenv:Envelope xmlns:soapenv="` + soapNamespace + `"><soapenv:Body>`
	envelopeEnd   = `</soapenv:Body></soapenv:Envelope>`
)

// fault is a reply that reports why there is no other; code is Client where it is empty.
type fault struct{ code, text string }

func (f *fault) Error() string { return f.text }

// writeFault is a fault's envelope.
func writeFault(err error) []byte {
	code, known := "Client", new(fault)
	if errors.As(err, &known) {
		code = known.code
	}
	into := bytes.NewBufferString(envelopeStart + "<soapenv:Fault><faultcode>soapenv:" + code + "</faultcode><faultstring>")
	_ = xml.EscapeText(into, []byte(err.Error())) // a buffer takes everything
	into.WriteString("</faultstring></soapenv:Fault>" + envelopeEnd)
	return into.Bytes()
}

// checkAction sees that the action is the operation's; none at all is not another one.
func checkAction(header http.Header) error {
	action := strings.Trim(strings.TrimSpace(header.Get("SOAPAction")), `"`)
	if action != "" && action != soapAction {
		return fmt.Errorf("action %.120s is not %s", action, soapAction)
	}
	return nil
}

func readEnvelope(text []byte, into any) error {
	from := openXML(text)
	root, err := nextElement(from)
	if err != nil {
		return err
	}
	if root == nil || root.Name.Local != "Envelope" {
		return errors.New("the root element is not Envelope")
	}
	if root.Name.Space != soapNamespace {
		return &fault{"VersionMismatch", "this service serves SOAP 1.1"}
	}
	part, err := nextElement(from)
	if err == nil && isSOAP(part, "Header") {
		if err = readHeader(from); err == nil {
			part, err = nextElement(from)
		}
	}
	if err != nil {
		return err
	}
	if !isSOAP(part, "Body") {
		return errors.New("the envelope has no Body where one must be")
	}
	return readBody(from, into)
}

func readBody(from *xml.Decoder, into any) error {
	child, err := nextElement(from)
	if err != nil {
		return err
	}
	if err := readElement(from, child, requestElement, into); err != nil {
		return err
	}
	for _, part := range []string{"Body", "Envelope"} {
		if more, err := nextElement(from); more != nil || err != nil {
			return errors.Join(errors.New("there is more in "+part), err)
		}
	}
	return readEnd(from)
}

// readHeader passes over the header's blocks; it knows none.
func readHeader(from *xml.Decoder) error {
	for {
		block, err := nextElement(from)
		if block == nil || err != nil {
			return err
		}
		for _, attribute := range block.Attr {
			isTrue := attribute.Value == "1" || attribute.Value == "true"
			if isTrue && attribute.Name == (xml.Name{Space: soapNamespace, Local: "mustUnderstand"}) {
				return &fault{"MustUnderstand", "a header block is not understood"}
			}
		}
		if err := from.Skip(); err != nil {
			return err
		}
	}
}

func isSOAP(part *xml.StartElement, name string) bool {
	return part != nil && part.Name == xml.Name{Space: soapNamespace, Local: name}
}

func writeEnvelope(message any) ([]byte, error) {
	into := bytes.NewBufferString(envelopeStart)
	err := writeElement(into, message)
	into.WriteString(envelopeEnd)
	return into.Bytes(), err
}
