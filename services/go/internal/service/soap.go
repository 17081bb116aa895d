package service

import (
	"bytes"
	"crypto/tls"
	"errors"
	"mime"
	"net/http"
	"strings"

	"wirelab/services/go/internal/codec"
	"wirelab/services/go/internal/contract"
	"wirelab/services/go/internal/soap"
)

// soapServer serves a contract at one path; the envelope names the operation.
type soapServer struct {
	*web
	endpoint    *soap.Endpoint
	calls       *Calls
	description *description
}

func newSOAP(config *Config, of *contract.Contract, calls *Calls, security *tls.Config) *soapServer {
	s := &soapServer{endpoint: newEndpoint(config, of), calls: calls,
		description: newDescription(of, config.Stack.Codec, security != nil)}
	s.web = newWeb(config, security, http.HandlerFunc(s.serve))
	return s
}

func newEndpoint(config *Config, of *contract.Contract) *soap.Endpoint {
	endpoint := &soap.Endpoint{Contract: of, Version: soap.V11, RPC: config.Stack.Codec == "soap-rpc"}
	if config.Stack.SOAP == soap.V12.Name {
		endpoint.Version = soap.V12
	}
	if config.Store.Username != nil {
		endpoint.Credentials = &soap.Credentials{Username: *config.Store.Username, Password: *config.Store.Password}
	}
	return endpoint
}

func soapPath(of *contract.Contract) string { return "/" + of.Name + "/soap" }

func (s *soapServer) serve(w http.ResponseWriter, request *http.Request) {
	path := soapPath(s.endpoint.Contract)
	switch {
	case request.URL.Path != path:
		s.plain(w, request, http.StatusNotFound, "no such path: "+request.URL.Path)
	// A convention of the toolkits, in either case.
	case request.Method == http.MethodGet && strings.EqualFold(request.URL.RawQuery, "wsdl"):
		s.reply(w, request, http.StatusOK, "text/xml; charset=utf-8", codec.Text(s.description.describe(request.Host)))
	case request.Method != http.MethodPost:
		w.Header().Set("Allow", "GET, POST")
		s.plain(w, request, http.StatusMethodNotAllowed, "call with POST; GET ?wsdl returns the description")
	// The other version's type is accepted here, because its answer is VersionMismatch.
	case !hasMediaType(request.Header, soap.V11.MediaType, soap.V12.MediaType):
		s.plain(w, request, http.StatusUnsupportedMediaType, "this service reads "+s.endpoint.Version.MediaType)
	default:
		call := s.calls.Enter()
		call.End(s.answer(w, request, &call))
	}
}

// plain answers what is not a SOAP message.
func (s *soapServer) plain(w http.ResponseWriter, request *http.Request, status int, text string) {
	s.reply(w, request, status, "text/plain; charset=utf-8", codec.Text(text))
}

// answer answers a message; it returns the error that it answered with.
func (s *soapServer) answer(w http.ResponseWriter, request *http.Request, call *Call) error {
	envelope, err := s.envelope(w, request, call)
	status := http.StatusOK
	if err != nil {
		fault := faultOf(err)
		envelope, status = fault.Write(s.endpoint.Version), fault.Status(s.endpoint.Version)
		if rejected := new(httpError); errors.As(err, &rejected) {
			status = rejected.status
		}
	}
	s.reply(w, request, status, s.endpoint.Version.ContentType(), bytes.NewReader(envelope))
	return err
}

// envelope is that of the reply.
func (s *soapServer) envelope(w http.ResponseWriter, request *http.Request, call *Call) ([]byte, error) {
	text, err := s.readBody(w, request)
	if err != nil {
		return nil, err
	}
	index, message, err := s.endpoint.ReadRequest(text, s.action(request.Header))
	if err != nil {
		return nil, err
	}
	if !hasMediaType(request.Header, s.endpoint.Version.MediaType) {
		return nil, &httpError{http.StatusUnsupportedMediaType, "SOAP " + s.endpoint.Version.Name +
			" is of type " + s.endpoint.Version.MediaType}
	}
	call.Is(index)
	operation := &s.endpoint.Contract.Operations[index]
	answer, err := operation.Answer(message)
	if err != nil {
		if !isApplicationError(err) {
			err = &soap.Fault{Code: soap.Receiver, Text: err.Error()}
		}
		return nil, err
	}
	return s.endpoint.Reply(operation, answer), nil
}

// action is the action in the request's header, or empty.
func (s *soapServer) action(header http.Header) string {
	if s.endpoint.Version == soap.V12 {
		_, parameters, err := mime.ParseMediaType(header.Get("Content-Type"))
		if err != nil {
			return ""
		}
		return parameters["action"]
	}
	return strings.Trim(strings.TrimSpace(header.Get("SOAPAction")), `"`)
}

func faultOf(err error) *soap.Fault {
	fault := new(soap.Fault)
	if errors.As(err, &fault) {
		return fault
	}
	return &soap.Fault{Code: soap.Sender, Text: err.Error()}
}
