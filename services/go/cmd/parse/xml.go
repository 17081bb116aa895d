package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"

	"github.com/beevik/etree"
)

var errDirective = errors.New("the document has a document type declaration")

// parser reads documents. The name is the message's, for formats that do not carry it.
type parser interface {
	// parse returns a number that depends on every byte of texts and attribute values.
	parse(name string, document []byte) (uint64, error)
	// fingerprint is equal for all parsers of the same document.
	fingerprint(name string, document []byte) (string, error)
}

// xmlParser passes on the content of a document.
type xmlParser func(document []byte, into content) error

func (x xmlParser) parse(_ string, document []byte) (uint64, error) {
	var sum checksum
	err := x(document, &sum)
	return uint64(sum), err
}

func (x xmlParser) fingerprint(_ string, document []byte) (string, error) {
	seen := newFingerprint()
	err := x(document, seen)
	return seen.hex(), err
}

// readTokens reads by encoding/xml's Decoder, which resolves no entities but XML's five.
func readTokens(document []byte, into content) error {
	decoder := xml.NewDecoder(bytes.NewReader(document))
	open, roots := 0, 0
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			if roots != 1 {
				return fmt.Errorf("the document has %d root elements", roots)
			}
			return nil
		}
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if open == 0 {
				roots++
			}
			open++
			into.start(token.Name.Space, token.Name.Local)
			for _, one := range token.Attr {
				if one.Name.Space != "xmlns" && (one.Name.Space != "" || one.Name.Local != "xmlns") {
					into.attribute(one.Name.Space, one.Name.Local, one.Value)
				}
			}
		case xml.CharData:
			if open > 0 {
				into.text(token)
			}
		case xml.EndElement:
			open--
			into.end()
		case xml.Directive:
			return errDirective
		}
	}
}

// readTree builds a tree by etree, which is based on encoding/xml, and walks through it.
func readTree(document []byte, into content) error {
	tree := etree.NewDocument()
	if err := tree.ReadFromBytes(document); err != nil {
		return err
	}
	roots := 0
	for _, child := range tree.Child {
		switch child.(type) {
		case *etree.Directive:
			return errDirective
		case *etree.Element:
			roots++
		}
	}
	if roots != 1 {
		return fmt.Errorf("the document has %d root elements", roots)
	}
	walk(tree.Root(), into)
	return nil
}

func walk(element *etree.Element, into content) {
	into.start(element.NamespaceURI(), element.Tag)
	for at := range element.Attr {
		one := &element.Attr[at]
		if one.Space != "xmlns" && (one.Space != "" || one.Key != "xmlns") {
			into.attribute(attributeSpace(one), one.Key, one.Value)
		}
	}
	for _, child := range element.Child {
		switch child := child.(type) {
		case *etree.Element:
			walk(child, into)
		case *etree.CharData:
			into.textString(child.Data)
		}
	}
	into.end()
}

// attributeSpace is "" for an attribute without a prefix, which is in no namespace.
func attributeSpace(attribute *etree.Attr) string {
	if attribute.Space == "" {
		return ""
	}
	if attribute.Space == "xml" {
		return "http://www.w3.org/XML/1998/namespace"
	}
	return attribute.NamespaceURI()
}
