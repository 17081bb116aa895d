package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
)

// element is an XML element as a tree, read by encoding/xml's own mapping and
// so by other code than the service's.
type element struct {
	XMLName  xml.Name
	Attr     []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []element  `xml:",any"`
}

func parseXML(t *testing.T, text []byte) element {
	t.Helper()
	var root element
	decoder := xml.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&root); err != nil {
		t.Fatalf("%v in %.300s", err, text)
	}
	if _, err := decoder.Token(); err != io.EOF {
		t.Fatalf("more after the root of %.300s", text)
	}
	return root
}

func (e element) children(name string) (found []element) {
	for _, child := range e.Children {
		if child.XMLName.Local == name {
			found = append(found, child)
		}
	}
	return found
}

// style is how a message lies in XML.
type style struct {
	namespace string // of the fields
	prefix    string // of the fields, with its colon
	parts     bool   // lists as rpc/literal has them
}

// fieldsXML writes an object of the JSON mapping as XML elements. Bytes are
// base64 in both, so no types are needed.
func (s style) fieldsXML(t *testing.T, object any, isMessage bool) string {
	t.Helper()
	var text strings.Builder
	for name, value := range object.(map[string]any) {
		items, isList := value.([]any)
		if !isList {
			fmt.Fprintf(&text, "<%s%s>%s</%[1]s%[2]s>\n", s.prefix, name, s.valueXML(t, value))
			continue
		}
		item := name
		if s.parts && isMessage {
			item = "item"
			fmt.Fprintf(&text, "<%s>", name)
		}
		for _, one := range items {
			fmt.Fprintf(&text, "<%s%s>%s</%[1]s%[2]s>", s.prefix, item, s.valueXML(t, one))
		}
		if s.parts && isMessage {
			fmt.Fprintf(&text, "</%s>", name)
		}
	}
	return text.String()
}

func (s style) valueXML(t *testing.T, value any) string {
	t.Helper()
	if _, isObject := value.(map[string]any); isObject {
		return s.fieldsXML(t, value, false)
	}
	var escaped bytes.Buffer
	if err := xml.EscapeText(&escaped, []byte(fmt.Sprint(value))); err != nil {
		t.Fatal(err)
	}
	return escaped.String()
}

// fromXML reads fields back into the JSON mapping, by the types of what is
// wanted, and complains of every element that does not belong there.
func (s style) fromXML(t *testing.T, of element, want any, isMessage bool) map[string]any {
	t.Helper()
	got, seen := map[string]any{}, 0
	for name, value := range want.(map[string]any) {
		children := of.children(name)
		items, isList := value.([]any)
		if !isList {
			if len(children) != 1 {
				t.Fatalf("%d elements %s in %s", len(children), name, of.XMLName.Local)
			}
			seen++
			got[name] = s.valueFrom(t, children[0], value)
			continue
		}
		seen += len(children)
		if s.parts && isMessage {
			if len(children) != 1 {
				t.Fatalf("%d elements for the list %s", len(children), name)
			}
			children = children[0].children("item")
		}
		list := []any{}
		for i, child := range children {
			var like any = map[string]any{}
			if len(items) > 0 {
				like = items[min(i, len(items)-1)]
			}
			list = append(list, s.valueFrom(t, child, like))
		}
		got[name] = list
	}
	if seen != len(of.Children) {
		t.Errorf("%d elements in %s, %d of them wanted", len(of.Children), of.XMLName.Local, seen)
	}
	return got
}

func (s style) valueFrom(t *testing.T, from element, like any) any {
	t.Helper()
	if from.XMLName.Space != s.namespace {
		t.Errorf("%s is in namespace %q, not %q", from.XMLName.Local, from.XMLName.Space, s.namespace)
	}
	switch like.(type) {
	case map[string]any:
		return s.fromXML(t, from, like, false)
	case json.Number:
		return json.Number(from.Text)
	case bool:
		return from.Text == "true"
	}
	return from.Text
}

// decodeExactly reads JSON with all digits of its numbers.
func decodeExactly(t *testing.T, text []byte) (value any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%v in %.300s", err, text)
	}
	return value
}

// same compares values of the JSON mapping; 1.0 and 1 are one number.
func same(got, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok || len(got) != len(want) {
			return false
		}
		for name := range want {
			if !same(got[name], want[name]) {
				return false
			}
		}
		return true
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(want) {
			return false
		}
		for i := range want {
			if !same(got[i], want[i]) {
				return false
			}
		}
		return true
	case json.Number:
		got, ok := got.(json.Number)
		return ok && (got == want || sameFloat(got, want))
	}
	return got == want
}

// sameFloat is false for whole numbers, whose digits must be the same.
func sameFloat(a, b json.Number) bool {
	if !strings.ContainsAny(string(a)+string(b), ".eE") {
		return false
	}
	x, errX := strconv.ParseFloat(string(a), 64)
	y, errY := strconv.ParseFloat(string(b), 64)
	return errX == nil && errY == nil && x == y
}
