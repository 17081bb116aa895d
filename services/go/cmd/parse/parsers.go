package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"

	"github.com/fxamacker/cbor/v2"
	"google.golang.org/protobuf/proto"

	charging "wirelab/services/go/chargingpb"
)

// parsers are all parsers by their names in `wirelab parse`.
var parsers = map[string]struct {
	// module is the package, which names the library.
	module string
	make   func() parser
}{
	"encoding-xml": {"encoding/xml", func() parser { return xmlParser(readTokens) }},
	"etree":        {"github.com/beevik/etree", func() parser { return xmlParser(readTree) }},
	"json": {"encoding/json", func() parser {
		return messageParser(func(text []byte, into proto.Message) error { return json.Unmarshal(text, into) })
	}},
	"protobuf": {"google.golang.org/protobuf", func() parser { return messageParser(proto.Unmarshal) }},
	"cbor": {"github.com/fxamacker/cbor/v2", func() parser {
		return messageParser(func(text []byte, into proto.Message) error { return cbor.Unmarshal(text, into) })
	}},
}

// library is a module with its version in this binary; the standard library's is Go's.
func library(module string) string {
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, one := range build.Deps {
			if one.Path == module {
				return one.Path + " " + one.Version
			}
		}
	}
	return module + " " + runtime.Version()
}

// messageParser decodes the requests of charging in a format other than XML, into the
// messages of the service.
type messageParser func(document []byte, into proto.Message) error

// field is a field of a message, in the order of the contract.
type field struct {
	name  string
	value int32
}

// decode appends the fields of a message to a slice.
func (m messageParser) decode(name string, document []byte, into []field) ([]field, error) {
	switch name {
	case "reserve":
		var message charging.ReserveRequest
		err := m(document, &message)
		return append(into, field{"id", message.Id}, field{"am", message.Am}), err
	case "debitReservation":
		var message charging.DebitReservationRequest
		err := m(document, &message)
		return append(into, field{"id", message.Id}, field{"am", message.Am}, field{"res", message.Res}), err
	case "directDebit":
		var message charging.DirectDebitRequest
		err := m(document, &message)
		return append(into, field{"id", message.Id}, field{"am", message.Am}), err
	case "creditControl":
		var message charging.CreditControlRequest
		err := m(document, &message)
		return append(into, field{"id", message.Id}), err
	case "credit":
		var message charging.CreditRequest
		err := m(document, &message)
		return append(into, field{"id", message.Id}, field{"am", message.Am}), err
	case "releaseRes":
		var message charging.ReleaseResRequest
		err := m(document, &message)
		return append(into, field{"res", message.Res}), err
	case "confirmAction":
		var message charging.ConfirmActionRequest
		err := m(document, &message)
		return append(into, field{"cn", message.Cn}), err
	}
	return nil, fmt.Errorf("%w: no message of charging is named %q", errUsage, name)
}

func (m messageParser) parse(name string, document []byte) (uint64, error) {
	var room [3]field
	fields, err := m.decode(name, document, room[:0])
	sum := uint64(0)
	for _, one := range fields {
		sum += uint64(one.value)
	}
	return sum, err
}

func (m messageParser) fingerprint(name string, document []byte) (string, error) {
	fields, err := m.decode(name, document, nil)
	seen := newFingerprint()
	for _, one := range fields {
		seen.start("", one.name)
		seen.textString(strconv.Itoa(int(one.value)))
		seen.end()
	}
	return seen.hex(), err
}
