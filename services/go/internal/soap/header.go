package soap

import (
	"crypto/subtle"
	"encoding/xml"
	"slices"

	"wirelab/services/go/internal/xmlmap"
)

// Names of Web Services Security: SOAP Message Security 1.1 and its
// UsernameToken Profile 1.1.
const (
	wsse         = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"
	passwordText = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0#PasswordText"
)

var security = xml.Name{Space: wsse, Local: "Security"}

// Credentials are what a request's UsernameToken must carry.
type Credentials struct{ Username, Password string }

// identity is what a request's header said of its sender.
type identity struct {
	given              bool
	username, password []byte
}

// match is true without credentials. Both are compared, in a time that does not
// depend on how much of them is right.
func (c *Credentials) match(by *identity) bool {
	if c == nil {
		return true
	}
	same := subtle.ConstantTimeCompare([]byte(c.Username), by.username) &
		subtle.ConstantTimeCompare([]byte(c.Password), by.password)
	return by.given && same == 1
}

// token is the header block that carries them; empty without credentials.
func (c *Credentials) token() []byte {
	if c == nil {
		return nil
	}
	into := []byte(`<wsse:Security xmlns:wsse="` + wsse + `" soapenv:mustUnderstand="1"><wsse:UsernameToken><wsse:Username>`)
	into = append(xmlmap.AppendText(into, c.Username), `</wsse:Username><wsse:Password Type="`+passwordText+`">`...)
	return append(xmlmap.AppendText(into, c.Password), `</wsse:Password></wsse:UsernameToken></wsse:Security>`...)
}

// readSecurity finds the UsernameToken in the header block Security.
func readSecurity(document *xmlmap.Document, into *identity) error {
	for {
		child, err := document.Child()
		if err != nil || child == nil {
			return err
		}
		if child.Name == (xml.Name{Space: wsse, Local: "UsernameToken"}) {
			err = readToken(document, into)
		} else {
			err = document.Skip()
		}
		if err != nil {
			return err
		}
	}
}

func readToken(document *xmlmap.Document, into *identity) error {
	for {
		child, err := document.Child()
		if err != nil || child == nil {
			return err
		}
		switch {
		case child.Name == xml.Name{Space: wsse, Local: "Username"}:
			into.username, err = document.Text(nil)
		case child.Name == xml.Name{Space: wsse, Local: "Password"} && isPlain(child):
			into.given = true
			into.password, err = document.Text(nil)
		default:
			err = document.Skip()
		}
		if err != nil {
			return err
		}
	}
}

// isPlain: without a Type, a password is a PasswordText (profile, section 3.1).
func isPlain(password *xml.StartElement) bool {
	for _, attribute := range password.Attr {
		if attribute.Name == (xml.Name{Local: "Type"}) {
			return attribute.Value == passwordText
		}
	}
	return true
}

// readHeader reads all header blocks. Without credentials to check, the service
// knows none, a UsernameToken neither.
func (e *Endpoint) readHeader(document *xmlmap.Document, into *identity) error {
	for {
		block, err := document.Child()
		if err != nil || block == nil {
			return err
		}
		switch {
		case e.Credentials != nil && block.Name == security && e.isOurs(block):
			err = readSecurity(document, into)
		case e.isOurs(block) && e.mustUnderstand(block):
			return &Fault{MustUnderstand, "header block " + shorten(block.Name.Local) + " is not understood"}
		default:
			err = document.Skip()
		}
		if err != nil {
			return err
		}
	}
}

// isOurs: the block is for the last receiver, or for whoever is next.
func (e *Endpoint) isOurs(block *xml.StartElement) bool {
	return slices.Contains(e.Version.roles, e.attribute(block, e.Version.roleName))
}

func (e *Endpoint) mustUnderstand(block *xml.StartElement) bool {
	value := e.attribute(block, "mustUnderstand")
	return value == "1" || value == "true"
}

// attribute of the envelope's namespace; empty when there is none.
func (e *Endpoint) attribute(block *xml.StartElement, name string) string {
	for _, attribute := range block.Attr {
		if attribute.Name == (xml.Name{Space: e.Version.Namespace, Local: name}) {
			return attribute.Value
		}
	}
	return ""
}

func shorten(name string) string { return name[:min(len(name), 80)] }
