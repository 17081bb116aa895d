package service

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"os"
	"sync/atomic"
	"time"
)

// security is TLS (RFC 8446, RFC 5246) on both ends: the service's own, and
// that of the call which it makes to itself before it is ready.
type security struct {
	server, client *tls.Config
	// negotiated by the service's call to itself.
	negotiated tls.ConnectionState
	// openings: what new connections are met with; nil without mtls.
	openings atomic.Pointer[tls.Config]
	strict   *tls.Config
}

// newSecurity is nil without TLS; its error is a *Refusal.
func newSecurity(config *Config) (*security, error) {
	if config.Stack.Security == "none" {
		return nil, nil
	}
	own, err := tls.LoadX509KeyPair(config.TLS.Certificate, config.TLS.Key)
	if err != nil {
		return nil, &Refusal{"tls.certificate", err.Error(),
			"name files in PEM that this service can read, in tls.certificate and tls.key"}
	}
	s := &security{server: &tls.Config{
		Certificates:     []tls.Certificate{own},
		MinVersion:       tls.VersionTLS12,
		NextProtos:       alpn(config.Stack.Transport),
		VerifyConnection: requireHTTP2(config.Stack.Transport),
	}}
	s.client = &tls.Config{
		// What the service shows to itself must be its own certificate, whoever
		// has signed it.
		InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			if s.negotiated = state; !bytes.Equal(state.PeerCertificates[0].Raw, own.Certificate[0]) {
				return errors.New("the service was shown a certificate that is not its own")
			}
			return nil
		},
	}
	if config.Stack.Security == "mtls" {
		return s, s.demandCertificates(config.TLS.ClientCA)
	}
	return s, nil
}

// alpn are the names for RFC 7301.
func alpn(transport string) []string {
	switch transport {
	case "http/2":
		return []string{"h2"}
	case "http/1.0":
		return []string{"http/1.0", "http/1.1"}
	}
	return []string{"http/1.1"}
}

// requireHTTP2 refuses a client that does not name HTTP/2 where only that is served;
// net/http would answer it in HTTP/1.1.
func requireHTTP2(transport string) func(tls.ConnectionState) error {
	return func(state tls.ConnectionState) error {
		if transport == "http/2" && state.NegotiatedProtocol != "h2" {
			return errors.New("this service serves HTTP/2 only: offer h2 by ALPN")
		}
		return nil
	}
}

// demandCertificates lets in whom the authorities in that file have signed, and,
// until the service is ready, the service itself.
func (s *security) demandCertificates(file string) error {
	text, err := os.ReadFile(file)
	authorities := x509.NewCertPool()
	if err == nil && !authorities.AppendCertsFromPEM(text) {
		err = errors.New(file + " holds no certificate")
	}
	if err != nil {
		return &Refusal{"tls.client_ca", err.Error(), "name a file in PEM with the authority that signs clients' certificates"}
	}
	certificate, leaf, err := selfCallCertificate()
	if err != nil {
		return err
	}
	s.client.Certificates = []tls.Certificate{certificate}
	s.server.ClientAuth, s.server.ClientCAs = tls.RequireAndVerifyClientCert, authorities
	s.strict = s.server.Clone()
	starting := s.server.Clone()
	starting.ClientCAs = authorities.Clone()
	starting.ClientCAs.AddCert(leaf)
	s.openings.Store(starting)
	s.server.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return s.openings.Load(), nil }
	return nil
}

// forgetSelf ends what was only for the call to itself.
func (s *security) forgetSelf() {
	if s.strict != nil {
		s.openings.Store(s.strict)
	}
	s.client = nil
}

// selfCallCertificateLife is longer than a service needs to call itself.
const selfCallCertificateLife = time.Hour

// selfCallCertificate is one that nobody else has the key of, for the service's
// call to itself with mtls: it does not have a client's.
func selfCallCertificate() (tls.Certificate, *x509.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "wirelab-go-service"},
		NotBefore:    now.Add(-selfCallCertificateLife),
		NotAfter:     now.Add(selfCallCertificateLife),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, leaf, err
}
