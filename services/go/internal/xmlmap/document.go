// Package xmlmap is the contracts' mapping of messages to XML
// (contracts/README.md, XML), over encoding/xml's tokens and the descriptors of
// the generated messages. encoding/xml's own mapping to structs cannot say it:
// it writes bytes as they are instead of in base64, repeats xmlns on every
// element, takes `T` for true, and passes over document type declarations.
package xmlmap

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// DepthMax bounds how deep elements may be nested.
const DepthMax = 64

// Errors of documents that are well-formed but not taken.
var (
	ErrDoctype = errors.New("document type declarations are refused")
	ErrDepth   = fmt.Errorf("elements are nested more than %d deep", DepthMax)
)

// Document reads a document from its root on.
type Document struct {
	decoder *xml.Decoder
	scope   scope
	begun   bool   // the first token was read
	scratch []byte // text of the last field, its memory used again
}

// Open begins to read a document in UTF-8.
func Open(text []byte) (*Document, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("the document is not UTF-8")
	}
	if err := checkMarkup(text); err != nil {
		return nil, err
	}
	text = bytes.TrimPrefix(text, []byte("\uFEFF")) // XML 1.0 section 4.3.3
	return &Document{decoder: xml.NewDecoder(bytes.NewReader(text))}, nil
}

// token is the next start, its names resolved, end or text; comments and
// processing instructions are skipped, other markup is refused.
func (d *Document) token() (xml.Token, error) {
	for {
		token, err := d.decoder.RawToken()
		if err != nil {
			return nil, err
		}
		first := !d.begun
		d.begun = true
		switch token := token.(type) {
		case xml.Directive:
			return nil, ErrDoctype
		case xml.ProcInst:
			if token.Target == "xml" && !first {
				return nil, errors.New("an XML declaration is allowed only at the beginning")
			}
		case xml.StartElement:
			if d.depth() >= DepthMax {
				return nil, ErrDepth
			}
			err := d.scope.enter(&token)
			return token, err
		case xml.EndElement:
			return token, d.scope.leave(token)
		case xml.CharData:
			return token, nil
		}
	}
}

// depth is the number of elements that are open.
func (d *Document) depth() int { return len(d.scope.open) }

// Child is the next element within the current one, the document's root at
// first; nil at the end of the current one.
func (d *Document) Child() (*xml.StartElement, error) {
	for {
		token, err := d.token()
		if err != nil {
			return nil, convertEOF(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			return &token, nil
		case xml.EndElement:
			return nil, nil
		case xml.CharData:
			if !isSpace(token) {
				return nil, errors.New("there is text where only elements are allowed")
			}
		}
	}
}

// Root is the document's root element.
func (d *Document) Root() (*xml.StartElement, error) { return d.Child() }

// Text is the text of the current element, appended to into; the element has
// no others in it, and is the current one no longer.
func (d *Document) Text(into []byte) ([]byte, error) {
	for {
		token, err := d.token()
		if err != nil {
			return nil, convertEOF(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			return nil, fmt.Errorf("element %s is in a place where only text is allowed", token.Name.Local)
		case xml.EndElement:
			return into, nil
		case xml.CharData:
			into = append(into, token...)
		}
	}
}

// Skip passes over the rest of the current element.
func (d *Document) Skip() error {
	for above := d.depth() - 1; d.depth() > above; {
		if _, err := d.token(); err != nil {
			return convertEOF(err)
		}
	}
	return nil
}

// End is nil when nothing more follows than may follow a root element.
func (d *Document) End() error {
	for {
		token, err := d.token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if text, isText := token.(xml.CharData); !isText || !isSpace(text) {
			return errors.New("there is more after the root element")
		}
	}
}

// convertEOF: encoding/xml calls the end of a document EOF, elements open or not.
func convertEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// space is white space as XML has it (XML 1.0 section 2.3), which is less than
// Unicode's.
const space = " \t\r\n"

func isSpace(text []byte) bool { return len(bytes.Trim(text, space)) == 0 }
