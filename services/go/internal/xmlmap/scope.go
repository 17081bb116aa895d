package xmlmap

import (
	"encoding/xml"
	"errors"
	"fmt"
	"strings"
)

// Limits on names. The cost of looking one up grows with them.
const (
	AttributesMax = 64  // of an element
	BindingsMax   = 128 // of prefixes, in scope at a time
)

// Errors of names (Namespaces in XML 1.0).
var (
	ErrAttributes = fmt.Errorf("an element has at most %d attributes, %d namespaces are in scope at most", AttributesMax, BindingsMax)
	ErrTwice      = errors.New("an attribute appears twice")
	ErrPrefix     = errors.New("a prefix is not declared")
	ErrCrossed    = errors.New("the end tag does not match the open element")
)

// xmlNamespace is that of the prefix xml, which needs no declaration.
const xmlNamespace = "http://www.w3.org/XML/1998/namespace"

// scope matches tags and resolves prefixes. encoding/xml would do it too, but
// takes prefixes that are not declared, and attributes that appear twice.
type scope struct {
	open     []xml.Name // as written
	bindings []binding
}

// binding is a prefix, empty for the default namespace, and the depth of the
// element that declares it.
type binding struct {
	prefix, namespace string
	depth             int
}

// enter begins an element and resolves its names.
func (s *scope) enter(start *xml.StartElement) error {
	s.open = append(s.open, start.Name)
	if err := s.declare(start.Attr); err != nil {
		return err
	}
	if err := s.resolve(&start.Name, true); err != nil {
		return err
	}
	for i := range start.Attr {
		if isDeclaration(start.Attr[i].Name) {
			continue
		}
		if err := s.resolve(&start.Attr[i].Name, false); err != nil {
			return err
		}
	}
	return checkTwice(start.Attr)
}

func (s *scope) declare(attributes []xml.Attr) error {
	if len(attributes) > AttributesMax {
		return ErrAttributes
	}
	for _, attribute := range attributes {
		if !isDeclaration(attribute.Name) {
			continue
		}
		prefix := attribute.Name.Local
		if attribute.Name.Space == "" {
			prefix = ""
		} else if attribute.Value == "" || prefix == "xmlns" {
			return fmt.Errorf("%.40q cannot be declared so: %w", prefix, ErrPrefix)
		}
		s.bindings = append(s.bindings, binding{prefix, attribute.Value, len(s.open)})
	}
	if len(s.bindings) > BindingsMax {
		return ErrAttributes
	}
	return nil
}

func isDeclaration(name xml.Name) bool {
	return name.Space == "xmlns" || name.Space == "" && name.Local == "xmlns"
}

// resolve puts the namespace for the prefix; attributes without one have none.
func (s *scope) resolve(name *xml.Name, isElement bool) error {
	switch {
	case strings.Contains(name.Local, ":"):
		return fmt.Errorf("%.40q is not a name: %w", name.Local, ErrPrefix)
	case name.Space == "" && !isElement:
		return nil
	case name.Space == "xml":
		name.Space = xmlNamespace
		return nil
	}
	for i := len(s.bindings) - 1; i >= 0; i-- {
		if s.bindings[i].prefix == name.Space {
			name.Space = s.bindings[i].namespace
			return nil
		}
	}
	if name.Space != "" {
		return fmt.Errorf("%.40q: %w", name.Space, ErrPrefix)
	}
	return nil
}

func checkTwice(attributes []xml.Attr) error {
	for i := range attributes {
		for j := range i {
			if attributes[i].Name == attributes[j].Name {
				return ErrTwice
			}
		}
	}
	return nil
}

// leave ends the element that was begun last.
func (s *scope) leave(end xml.EndElement) error {
	last := len(s.open) - 1
	if last < 0 || s.open[last] != end.Name {
		return ErrCrossed
	}
	for n := len(s.bindings); n > 0 && s.bindings[n-1].depth > last; n-- {
		s.bindings = s.bindings[:n-1]
	}
	s.open = s.open[:last]
	return nil
}
