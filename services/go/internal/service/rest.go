package service

import (
	"crypto/tls"
	"errors"
	"net/http"
	"strings"
	"unicode"

	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/codec"
	"wirelab/services/go/internal/contract"
)

// rest serves a contract's operations at paths of their own, in one codec.
type rest struct {
	*web
	codec codec.Codec
	calls *Calls
}

func newREST(config *Config, of *contract.Contract, calls *Calls, security *tls.Config) *rest {
	r := &rest{codec: restCodec(config, of), calls: calls}
	mux := http.NewServeMux()
	mux.HandleFunc("/", r.notFound)
	for i := range of.Operations {
		if r.codec.Serves(&of.Operations[i]) {
			r.route(mux, of, i)
		}
	}
	r.web = newWeb(config, security, r.onlyCleanPaths(mux))
	return r
}

// restCodec is the codec of a configuration that was checked.
func restCodec(config *Config, of *contract.Contract) codec.Codec {
	row, err := codec.Named(config.Stack.Codec, of.Namespace())
	if err != nil {
		panic(err) // Config.check refuses a codec without a row
	}
	return row
}

// restPlace is an operation's method and path.
func restPlace(of *contract.Contract, operation *contract.Operation) (method, path string) {
	method = http.MethodPost
	if operation.Route != nil {
		method = operation.Route.Method
	}
	return method, "/" + of.Name + "/" + hyphenated(operation.Name)
}

// hyphenated is `direct-debit` of `DirectDebit`.
func hyphenated(name string) string {
	var path strings.Builder
	for i, letter := range name {
		if i > 0 && unicode.IsUpper(letter) {
			path.WriteByte('-')
		}
		path.WriteRune(unicode.ToLower(letter))
	}
	return path.String()
}

func (r *rest) route(mux *http.ServeMux, of *contract.Contract, index int) {
	operation := &of.Operations[index]
	method, path := restPlace(of, operation)
	mux.HandleFunc(path, func(w http.ResponseWriter, request *http.Request) {
		if request.Method != method {
			w.Header().Set("Allow", method)
			r.fail(w, request, &httpError{http.StatusMethodNotAllowed, path + " takes " + method + " only"})
			return
		}
		call := r.calls.Begin(index)
		call.End(r.serve(w, request, operation))
	})
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

// serve answers one request; what it returns is the error that it answered with.
func (r *rest) serve(w http.ResponseWriter, request *http.Request, operation *contract.Operation) error {
	message, err := r.receive(w, request, operation)
	if err != nil {
		r.fail(w, request, err)
		return err
	}
	answer, err := operation.Answer(message)
	if err != nil {
		r.fail(w, request, internalUnlessKnown(err))
		return err
	}
	encoded, err := r.codec.Encode(answer)
	if err != nil {
		r.fail(w, request, &httpError{http.StatusInternalServerError, err.Error()})
		return err
	}
	r.reply(w, request, http.StatusOK, r.codec.ContentType, encoded)
	return nil
}

// internalUnlessKnown: an answer that is no application error is the service's
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

// receive is the request's message.
func (r *rest) receive(w http.ResponseWriter, request *http.Request, operation *contract.Operation) (proto.Message, error) {
	if err := r.negotiate(request); err != nil {
		return nil, err
	}
	message := operation.NewRequest()
	if request.Method == http.MethodGet {
		return message, nil
	}
	text, err := r.readBody(w, request)
	if err != nil {
		return nil, err
	}
	return message, r.codec.Decode(text, message)
}

func (r *rest) negotiate(request *http.Request) error {
	types := r.codec.MediaTypes
	if !accepts(request.Header, types[0]) {
		return &httpError{http.StatusNotAcceptable, "this service answers in " + types[0]}
	}
	if request.Method == http.MethodPost && !hasMediaType(request.Header, types...) {
		return &httpError{http.StatusUnsupportedMediaType, "this service reads " + strings.Join(types, " and ")}
	}
	return nil
}

// fail answers with an error in the service's codec.
func (r *rest) fail(w http.ResponseWriter, request *http.Request, err error) {
	r.reply(w, request, statusOf(err), r.codec.ContentType, r.codec.ErrorBody(err.Error()))
}
