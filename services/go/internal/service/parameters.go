package service

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"wirelab/services/go/internal/contract"
)

// wildcards are the names in the braces of a path.
func wildcards(path string) (names []string) {
	for part := range strings.SplitSeq(path, "/") {
		if name, opened := strings.CutPrefix(part, "{"); opened {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// fieldOf is the field of a message that a route names.
func fieldOf(message proto.Message, name string) protoreflect.FieldDescriptor {
	return message.ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(name))
}

// fillPath returns a path with fields of a message, which are numbers, in its braces.
func fillPath(path string, message proto.Message) string {
	for _, name := range wildcards(path) {
		value := message.ProtoReflect().Get(fieldOf(message, name)).Int()
		path = strings.Replace(path, "{"+name+"}", strconv.FormatInt(value, 10), 1)
	}
	return path
}

// parameterError is a parameter of a path or query that cannot be read.
type parameterError struct{ text string }

func (e *parameterError) Error() string { return e.text }

// readParameters sets the fields of a message that are in the path and in the query.
func readParameters(request *http.Request, route *contract.Route, into proto.Message) error {
	for _, name := range wildcards(route.Path) {
		value, err := strconv.ParseInt(request.PathValue(name), 10, 32)
		if err != nil {
			return &parameterError{name + " must be an int32"}
		}
		into.ProtoReflect().Set(fieldOf(into, name), protoreflect.ValueOfInt32(int32(value)))
	}
	if route.Query == "" || request.URL.RawQuery == "" {
		return nil
	}
	query, err := url.ParseQuery(request.URL.RawQuery)
	value := strings.ToValidUTF8(query.Get(route.Query), "\uFFFD")
	// A text has no NUL, and PostgreSQL does not read one.
	if err != nil || strings.ContainsRune(value, 0) {
		return &parameterError{route.Query + " must have no NUL"}
	}
	into.ProtoReflect().Set(fieldOf(into, route.Query), protoreflect.ValueOfString(value))
	return nil
}
