package soap

import (
	"encoding/xml"
	"slices"

	"wirelab/services/go/internal/xmlmap"
)

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
			return &Fault{MustUnderstand, "header block " + shortened(block.Name.Local) + " is not understood"}
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

func shortened(name string) string { return name[:min(len(name), 80)] }
