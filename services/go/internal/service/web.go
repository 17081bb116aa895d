package service

import (
	"context"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"wirelab/services/go/internal/codec"
	"wirelab/services/go/internal/compression"
)

// chunkedAboveBytes: without Content-Length, a larger body goes out in chunks;
// net/http holds that much back and sets the length where it has seen the end.
const chunkedAboveBytes = 2048

// web is what the bindings over HTTP have in common: package net/http, set as
// the stack asks for.
type web struct {
	server *http.Server
	// http10: every reply is of HTTP/1.0.
	http10     bool
	endMessage string
	coding     compression.Coding // nil: none
}

func newWeb(config *Config, security *tls.Config, handler http.Handler) *web {
	s := &web{
		http10:     config.Stack.Transport == "http/1.0",
		endMessage: config.Stack.EndOfMessage,
		coding:     compression.New(config.Stack.Compression),
	}
	s.server = &http.Server{Handler: s.shape(handler), Protocols: new(http.Protocols), TLSConfig: security}
	switch {
	case config.Stack.Transport != "http/2":
		s.server.Protocols.SetHTTP1(true)
		s.server.SetKeepAlivesEnabled(!s.http10)
	case security != nil:
		s.server.Protocols.SetHTTP2(true)
	default:
		s.server.Protocols.SetUnencryptedHTTP2(true)
	}
	s.server.HTTP2 = http2Windows(config.Socket)
	return s
}

func http2Windows(socket Socket) *http.HTTP2Config {
	windows := &http.HTTP2Config{}
	if socket.H2Window != nil {
		windows.MaxReceiveBufferPerStream = *socket.H2Window
		windows.MaxReceiveBufferPerConnection = *socket.H2Window
	}
	return windows
}

// shape makes net/http frame replies as the stack asks for. It takes the
// version of a reply from the request, and goes on to the end of the connection
// where a reply has no length and its coding is named `identity`.
func (s *web) shape(handler http.Handler) http.Handler {
	if !s.http10 && s.endMessage != "until-close" {
		return handler
	}
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if s.http10 {
			request.Proto, request.ProtoMajor, request.ProtoMinor = "HTTP/1.0", 1, 0
			// Else a client that asks for keep-alive is promised it.
			w.Header().Set("Connection", "close")
		}
		if s.endMessage == "until-close" {
			w.Header().Set("Transfer-Encoding", "identity")
		}
		handler.ServeHTTP(w, request)
	})
}

// reply sends a body. One that cannot be sent any more is logged: its caller
// has seen the connection break.
func (s *web) reply(w http.ResponseWriter, request *http.Request, status int, contentType string, content codec.Body) {
	header := w.Header()
	header.Set("Content-Type", contentType)
	content, err := s.pack(header, request, content)
	if err == nil {
		if s.endMessage == "content-length" {
			header.Set("Content-Length", strconv.Itoa(content.Len()))
		}
		w.WriteHeader(status)
		_, err = content.WriteTo(w)
	}
	if err != nil && !errors.Is(err, http.ErrBodyNotAllowed) {
		log.Printf("%s %s: reply not sent: %v", request.Method, request.URL.Path, err)
	}
}

// pack compresses a body where service and request allow it.
func (s *web) pack(header http.Header, request *http.Request, content codec.Body) (codec.Body, error) {
	if !s.choosesCoding(header, request) {
		return content, nil
	}
	return compression.Compress(s.coding, content)
}

// choosesCoding states in the header of a reply whether it is compressed.
func (s *web) choosesCoding(header http.Header, request *http.Request) bool {
	if s.coding == nil {
		return false
	}
	header.Set("Vary", "Accept-Encoding")
	if !acceptsCoding(request.Header, s.coding.Name()) {
		return false
	}
	header.Set("Content-Encoding", s.coding.Name())
	return true
}

// isUnclean: a path that ServeMux would redirect to a cleaner spelling is
// unknown by the contract.
func isUnclean(path string) bool {
	return strings.Contains(path, "//") || strings.Contains(path, "/.")
}

func (s *web) serveOn(listener net.Listener) error {
	serve := s.server.Serve
	if s.server.TLSConfig != nil {
		serve = func(listener net.Listener) error { return s.server.ServeTLS(listener, "", "") }
	}
	if err := serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (s *web) stop(grace time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if s.server.Shutdown(ctx) != nil {
		_ = s.server.Close() // what is cut off here has had its grace
	}
}
