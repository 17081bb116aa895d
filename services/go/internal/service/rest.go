package service

import (
	"cmp"
	"crypto/tls"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/codec"
	"wirelab/services/go/internal/contract"
)

// rest serves a contract's operations at paths of their own, in one codec.
type rest struct {
	*web
	// binding is rest, sse or websocket.
	binding string
	// httpCache is none, revalidate or proxy.
	httpCache string
	codec     codec.Codec
	calls     *Calls
	// flushes: every item of a stream is sent at once.
	flushes bool
	// errorBody is the body of an answer with that status.
	errorBody func(status int, text string) codec.Body
}

func newREST(config *Config, of *contract.Contract, calls *Calls, security *tls.Config) *rest {
	r := &rest{binding: config.Stack.Binding, httpCache: config.Stack.HTTPCache, codec: restCodec(config, of), calls: calls,
		flushes: config.Stack.Flush == "item"}
	r.errorBody = func(_ int, text string) codec.Body { return r.codec.ErrorBody(text) }
	if of.HasErrorInfo && r.codec.Name == "json" {
		r.errorBody = func(status int, text string) codec.Body { return codec.ErrorInfo(http.StatusText(status), text) }
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", r.notFound)
	paths := map[string]methods{}
	for i := range of.Operations {
		if !r.serves(&of.Operations[i]) {
			continue
		}
		method, path := restPlace(of, &of.Operations[i])
		if paths[path] == nil {
			paths[path] = methods{}
		}
		paths[path][method] = i
	}
	for path, served := range paths {
		mux.HandleFunc(path, r.route(of, served))
	}
	r.web = newWeb(config, security, r.onlyCleanPaths(mux))
	return r
}

// restCodec is the codec of a configuration that was checked.
func restCodec(config *Config, of *contract.Contract) codec.Codec {
	row, err := codec.New(config.Stack.Codec, of.Namespace())
	if err != nil {
		panic(err) // Config.check refuses a codec without a row
	}
	return row
}

// methods are the operations at one path, by their index in the contract.
type methods map[string]int

// restPlace is an operation's method, and its path as a pattern of http.ServeMux.
func restPlace(of *contract.Contract, operation *contract.Operation) (method, path string) {
	method, path = http.MethodPost, "/"+of.Name+"/"+hyphenate(operation.Name)
	if route := operation.Route; route != nil {
		method = route.Method
		if route.Path != "" {
			path = route.Path
		}
	}
	return method, path
}

// hyphenate returns `direct-debit` of `DirectDebit`.
func hyphenate(name string) string {
	var path strings.Builder
	for i, letter := range name {
		if i > 0 && unicode.IsUpper(letter) {
			path.WriteByte('-')
		}
		path.WriteRune(unicode.ToLower(letter))
	}
	return path.String()
}

// route answers at one path. A pattern with a method would take HEAD for GET, which
// the contracts do not have.
func (r *rest) route(of *contract.Contract, served methods) http.HandlerFunc {
	allow := strings.Join(slices.Sorted(maps.Keys(served)), ", ")
	return func(w http.ResponseWriter, request *http.Request) {
		index, known := served[request.Method]
		if !known {
			r.refuseMethod(w, request, allow)
			return
		}
		r.serveCall(w, request, &of.Operations[index], index)
	}
}

func (r *rest) refuseMethod(w http.ResponseWriter, request *http.Request, allow string) {
	w.Header().Set("Allow", allow)
	r.fail(w, request, &httpError{http.StatusMethodNotAllowed, request.URL.Path + " takes " + allow + " only"})
}

// serveCall counts the call to its end, also where a stream is aborted.
func (r *rest) serveCall(w http.ResponseWriter, request *http.Request, operation *contract.Operation, index int) {
	call := r.calls.Begin(index)
	var err error
	defer func() { call.End(err) }()
	if operation.Stream != nil {
		err = r.serveStream(w, request, operation)
		return
	}
	err = r.serve(w, request, operation, &call)
}

func (r *rest) onlyCleanPaths(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if isUnclean(request.URL.Path) {
			r.notFound(w, request)
			return
		}
		mux.ServeHTTP(w, request)
	})
}

func (r *rest) notFound(w http.ResponseWriter, request *http.Request) {
	r.fail(w, request, &httpError{http.StatusNotFound, "no such path: " + request.URL.Path})
}

// serve answers one request; it returns the error that it answered with.
func (r *rest) serve(w http.ResponseWriter, request *http.Request, operation *contract.Operation, call *Call) error {
	route := operation.Route
	if route == nil {
		route = &contract.Route{Method: http.MethodPost}
	}
	message, err := r.receive(w, request, operation, route)
	if err != nil {
		r.failCall(w, request, route, err)
		return err
	}
	if r.allowCaches(w, request, operation.EntityTag) {
		return nil
	}
	answer, err := operation.Answer(message)
	if err != nil {
		r.failCall(w, request, route, internalUnlessKnown(err))
		return err
	}
	if route.Location != "" {
		w.Header().Set("Location", fillPath(route.Location, answer))
	}
	if route.Status == http.StatusNoContent {
		w.WriteHeader(route.Status)
		return nil
	}
	coded := codedReply{r.codec, operation, answer}
	call.replied(coded)
	encoded, err := coded.encode()
	if err != nil {
		r.fail(w, request, &httpError{http.StatusInternalServerError, err.Error()})
		return err
	}
	r.reply(w, request, cmp.Or(route.Status, http.StatusOK), r.codec.ContentType, encoded)
	return nil
}

// failCall answers a call with an error. Where operations have paths of their own, a row
// that does not exist is a 404 without a body, and a 400 has the field `errors` unless
// a parameter is wrong.
func (r *rest) failCall(w http.ResponseWriter, request *http.Request, route *contract.Route, err error) {
	if errors.Is(err, contract.ErrNotFound) {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if route.Path != "" && statusOf(err) == http.StatusBadRequest && !errors.As(err, new(*parameterError)) {
		w.Header().Set("errors", contract.ErrInvalid.Error())
	}
	r.fail(w, request, err)
}

// internalUnlessKnown: an answer that is not an application error is the service's
// own failure.
func internalUnlessKnown(err error) error {
	if isApplicationError(err) {
		return err
	}
	if errors.Is(err, contract.ErrUnavailable) {
		return &httpError{http.StatusServiceUnavailable, err.Error()}
	}
	return &httpError{http.StatusInternalServerError, err.Error()}
}

// receive is the request's message. With GET and DELETE all of it is in the path and
// query (RFC 9110 sections 9.3.1 and 9.3.5 give a body there no meaning).
func (r *rest) receive(w http.ResponseWriter, request *http.Request, operation *contract.Operation,
	route *contract.Route) (proto.Message, error) {
	if err := r.negotiate(request, operation); err != nil {
		return nil, err
	}
	message := operation.NewRequest()
	if hasBody(request.Method) {
		text, err := r.readBody(w, request)
		if err != nil {
			return nil, err
		}
		if route.CheckJSON != nil && r.codec.Name == "json" {
			if err := route.CheckJSON(text); err != nil {
				return nil, err
			}
		}
		if err := r.codec.Decode(text, message); err != nil {
			return nil, err
		}
	}
	return message, readParameters(request, route, message)
}

func hasBody(method string) bool { return method == http.MethodPost || method == http.MethodPut }

func (r *rest) negotiate(request *http.Request, operation *contract.Operation) error {
	reply, types := r.mediaTypes(operation)
	if !accepts(request.Header, reply) {
		return &httpError{http.StatusNotAcceptable, "this service answers in " + reply}
	}
	if hasBody(request.Method) && !hasMediaType(request.Header, types...) {
		return &httpError{http.StatusUnsupportedMediaType, "this service reads " + strings.Join(types, " and ")}
	}
	return nil
}

// fail answers with an error in the service's codec.
func (r *rest) fail(w http.ResponseWriter, request *http.Request, err error) {
	status := statusOf(err)
	r.reply(w, request, status, r.codec.ContentType, r.errorBody(status, err.Error()))
}
