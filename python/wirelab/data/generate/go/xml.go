package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
)

const declaration = `<?xml version="1.0" encoding="UTF-8"?>`

// document reads the tokens of a document. encoding/xml passes over document type declarations.
type document struct{ *xml.Decoder }

// Token implements xml.TokenReader.
func (d document) Token() (xml.Token, error) {
	token, err := d.RawToken()
	if _, isDirective := token.(xml.Directive); isDirective {
		return nil, errors.New("document type declarations are refused")
	}
	return token, err
}

func openXML(text []byte) *xml.Decoder {
	text = bytes.TrimPrefix(text, []byte("\uFEFF")) // XML 1.0 section 4.3.3
	return xml.NewTokenDecoder(document{xml.NewDecoder(bytes.NewReader(text))})
}

func readXML(text []byte, element string, into any) error {
	from := openXML(text)
	start, err := nextElement(from)
	if err != nil {
		return err
	}
	if err := readElement(from, start, element, into); err != nil {
		return err
	}
	return readEnd(from)
}

// readElement reads an element that must be of that name.
func readElement(from *xml.Decoder, start *xml.StartElement, element string, into any) error {
	if start == nil || start.Name != (xml.Name{Space: namespace, Local: element}) {
		return fmt.Errorf("the element is not %s of %s", element, namespace)
	}
	return from.DecodeElement(into, start)
}

// nextElement is the next element within the current one; nil at its end.
func nextElement(from *xml.Decoder) (*xml.StartElement, error) {
	for {
		token, err := from.Token()
		if errors.Is(err, io.EOF) {
			return nil, io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			return &token, nil
		case xml.EndElement:
			return nil, nil
		case xml.CharData:
			if len(bytes.TrimSpace(token)) > 0 {
				return nil, errors.New("there is text where only elements are allowed")
			}
		}
	}
}

// readEnd is nil where nothing more follows than may follow a root element.
func readEnd(from *xml.Decoder) error {
	_, err := nextElement(from)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return errors.Join(errors.New("there is more after the root element"), err)
}

func writeXML(message any) ([]byte, error) {
	var into bytes.Buffer
	into.WriteString(declaration)
	err := writeElement(&into, message)
	return into.Bytes(), err
}

func writeElement(into *bytes.Buffer, message any) error {
	root := xml.StartElement{Name: xml.Name{Space: namespace, Local: replyElement}}
	return xml.NewEncoder(into).EncodeElement(message, root)
}
