package service

import (
	"crypto/tls"
	"net/http"

	"wirelab/services/go/internal/codec"
	"wirelab/services/go/internal/contract"
)

// bindingRow is how messages of a contract are carried: by a server and by the caller of the
// service's own first call.
type bindingRow struct {
	serve  func(*Config, *contract.Contract, *Calls, *tls.Config) server
	caller func(config *Config, of *contract.Contract, at string, security *security) caller
	// servers are the packages of the server. net/http has HTTP/2 within it; grpc-go takes its
	// frames from golang.org/x/net.
	servers []string
	// codecs are the packages of a codec.
	codecs func(name string) []string
}

// bindings are those of service.json.
var bindings = map[string]bindingRow{
	"rest":      {serveBy(newREST), callOverHTTP(restCaller), []string{"net/http"}, codecLibraries},
	"sse":       {serveBy(newREST), callOverHTTP(restCaller), []string{"net/http"}, codecLibraries},
	"soap":      {serveBy(newSOAP), callOverHTTP(soapCaller), []string{"net/http"}, xmlLibraries},
	"websocket": {serveBy(newWebsocket), callOverHTTP(websocketCaller), []string{"github.com/coder/websocket", "net/http"}, codecLibraries},
	"connect":   {serveBy(newConnect), callOverHTTP(connectCaller), []string{"connectrpc.com/connect", "net/http"}, protobufLibraries},
	"grpc":      {serveBy(newGRPC), grpcCaller, []string{"google.golang.org/grpc", "golang.org/x/net/http2"}, protobufLibraries},
}

// serveBy makes a server of any type.
func serveBy[S server](of func(*Config, *contract.Contract, *Calls, *tls.Config) S) func(
	*Config, *contract.Contract, *Calls, *tls.Config) server {
	return func(config *Config, contract *contract.Contract, calls *Calls, security *tls.Config) server {
		return of(config, contract, calls, security)
	}
}

// callOverHTTP makes a caller that reaches the service by net/http.
func callOverHTTP(by func(*Config, *contract.Contract, *http.Transport) caller) func(
	*Config, *contract.Contract, string, *security) caller {
	return func(config *Config, of *contract.Contract, at string, security *security) caller {
		return by(config, of, newTransport(config, at, security))
	}
}

// codecLibraries are those of the codecs of REST, which name theirs in internal/codec.
func codecLibraries(name string) []string {
	row, err := codec.New(name, "")
	if err != nil {
		panic(err) // Config.check refuses a codec without a row
	}
	return row.Libraries
}

func xmlLibraries(string) []string { return codec.XMLLibraries }

// protobufLibraries are those of messages in Protocol Buffers and in their JSON.
func protobufLibraries(name string) []string {
	if name == "json" {
		return []string{"google.golang.org/protobuf/encoding/protojson"}
	}
	return []string{"google.golang.org/protobuf/proto"}
}
