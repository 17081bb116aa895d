package soap

import (
	"encoding/xml"
	"errors"

	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/contract"
	"wirelab/services/go/internal/xmlmap"
)

// ReadRequest reads an envelope into the index of its operation and the request.
// The action is the one that HTTP carried; an empty one is not an action. The error
// is a *Fault.
func (e *Endpoint) ReadRequest(text []byte, action string) (operation int, request proto.Message, err error) {
	err = e.read(text, func(document *xmlmap.Document, child *xml.StartElement) error {
		found, err := e.operation(child.Name, action)
		if err != nil {
			return err
		}
		operation, request = found, e.Contract.Operations[found].NewRequest()
		return e.fields(document, request)
	})
	return operation, request, asFault(err)
}

// ReadReply reads the envelope of an operation's reply, as a caller does.
func (e *Endpoint) ReadReply(text []byte, operation *contract.Operation) (reply proto.Message, err error) {
	reply = operation.NewReply()
	want := string(reply.ProtoReflect().Descriptor().Name())
	if e.RPC {
		want = wrapper(operation) + "Response"
	}
	trusting := *e
	trusting.Credentials = nil // a reply carries none
	return reply, trusting.read(text, func(document *xmlmap.Document, child *xml.StartElement) error {
		if child.Name != (xml.Name{Space: e.Contract.Namespace(), Local: want}) {
			return senderFault("the body holds %.80s, not %s", child.Name.Local, want)
		}
		return e.fields(document, reply)
	})
}

// fields reads the body's element as a message.
func (e *Endpoint) fields(document *xmlmap.Document, into proto.Message) error {
	if e.RPC {
		return document.Parts(into)
	}
	return document.Message(into, e.Contract.Namespace())
}

// read takes an envelope apart: headers, and one child of the body.
func (e *Endpoint) read(text []byte, take func(*xmlmap.Document, *xml.StartElement) error) error {
	document, err := xmlmap.Open(text)
	if err != nil {
		return err
	}
	root, err := document.Root()
	if err != nil {
		return err
	}
	if err := e.checkEnvelope(root.Name); err != nil {
		return err
	}
	part, err := document.Child()
	if err != nil {
		return err
	}
	identity := &identity{}
	if e.is(part, "Header") {
		if err := e.readHeader(document, identity); err != nil {
			return err
		}
		if part, err = document.Child(); err != nil {
			return err
		}
	}
	if !e.is(part, "Body") {
		return senderFault("the envelope has no Body where one must be")
	}
	if !e.Credentials.match(identity) {
		return senderFault("authentication failed")
	}
	return readBody(document, take)
}

func readBody(document *xmlmap.Document, take func(*xmlmap.Document, *xml.StartElement) error) error {
	child, err := document.Child()
	if err != nil {
		return err
	}
	if child == nil {
		return senderFault("the Body is empty")
	}
	if err := take(document, child); err != nil {
		return err
	}
	for _, of := range []string{"Body", "Envelope"} {
		more, err := document.Child()
		if err != nil {
			return err
		}
		if more != nil {
			return senderFault("the %s holds another element, %.80s", of, more.Name.Local)
		}
	}
	return document.End()
}

func (e *Endpoint) checkEnvelope(root xml.Name) error {
	switch {
	case root.Local != "Envelope":
		return senderFault("the root element is %.80s, not Envelope", root.Local)
	case root.Space != e.Version.Namespace:
		return &Fault{VersionMismatch, "this service serves SOAP " + e.Version.Name + ", not namespace " +
			shorten(root.Space)}
	}
	return nil
}

func (e *Endpoint) is(part *xml.StartElement, name string) bool {
	return part != nil && part.Name == xml.Name{Space: e.Version.Namespace, Local: name}
}

// operation finds what a body's element and an action ask for. Two operations
// may take the same message; then only the action distinguishes them.
func (e *Endpoint) operation(element xml.Name, action string) (int, error) {
	candidates := 0
	found := -1
	for i := range e.Contract.Operations {
		operation := &e.Contract.Operations[i]
		if operation.Stream != nil || element != e.requestElement(operation) {
			continue
		}
		if action == e.Action(operation) {
			return i, nil
		}
		candidates, found = candidates+1, i
	}
	switch {
	case candidates == 0:
		return 0, senderFault("no operation takes %.80s of namespace %.80s", element.Local, element.Space)
	case action != "":
		return 0, senderFault("action %.120s is not one of %s", action, element.Local)
	case candidates > 1:
		return 0, senderFault("%s is of several operations: an action must say which", element.Local)
	}
	return found, nil
}

func (e *Endpoint) requestElement(operation *contract.Operation) xml.Name {
	name := wrapper(operation)
	if !e.RPC {
		name = string(operation.NewRequest().ProtoReflect().Descriptor().Name())
	}
	return xml.Name{Space: e.Contract.Namespace(), Local: name}
}

// asFault makes every other error in reading the sender's fault.
func asFault(err error) error {
	if err == nil || errors.As(err, new(*Fault)) {
		return err
	}
	return &Fault{Sender, "the envelope cannot be understood: " + err.Error()}
}
