package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// authority signs certificates for a test.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	der         []byte
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func template(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		DNSNames:     []string{"localhost"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, own := newKey(t), template("authority")
	own.IsCA, own.BasicConstraintsValid, own.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, own, own, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{certificate, key, der}
}

// issue is a certificate for that use, as PEM, with its key.
func (a *authority) issue(t *testing.T, use x509.ExtKeyUsage) (certificate, key []byte) {
	t.Helper()
	private, own := newKey(t), template("localhost")
	own.ExtKeyUsage = []x509.ExtKeyUsage{use}
	der, err := x509.CreateCertificate(rand.Reader, own, a.certificate, &private.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: packed})
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

func write(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// configure returns a configuration with all files that security may need.
func (a *authority) configure(t *testing.T, config options, security string) options {
	t.Helper()
	certificate, key := a.issue(t, x509.ExtKeyUsageServerAuth)
	return config.with("stack.security", security).with("tls.certificate", write(t, "cert.pem", certificate)).
		with("tls.key", write(t, "key.pem", key)).
		with("tls.client_ca", write(t, "ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.der})))
}

// client verifies the service; with mtls it also shows a certificate.
func (a *authority) client(t *testing.T, security string) *tls.Config {
	t.Helper()
	config := &tls.Config{RootCAs: a.pool(), ServerName: "localhost"}
	if security == "mtls" {
		config.Certificates = []tls.Certificate{a.clientCertificate(t)}
	}
	return config
}

func (a *authority) clientCertificate(t *testing.T) tls.Certificate {
	t.Helper()
	certificate, err := tls.X509KeyPair(a.issue(t, x509.ExtKeyUsageClientAuth))
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

// secureStacks are one of each transport and binding.
func secureStacks() []options {
	return []options{restJSON, stack("rest", "xml", "http/1.0"), stack("rest", "protobuf", "http/2"),
		stack("soap", "soap-rpc", "http/2"), soapOnly, grpcOnly, websocketJSON,
		connectProto, connectJSON}
}

func TestTLS(t *testing.T) {
	authority, otherAuthority := newAuthority(t), newAuthority(t)
	for _, security := range []string{"tls", "mtls"} {
		for _, config := range secureStacks() {
			t.Run(security+" "+config["stack.binding"].(string)+" "+config["stack.transport"].(string), func(t *testing.T) {
				p := start(t, authority.configure(t, config, security))
				if p.Set["tls_version"] != "TLS 1.3" || p.Set["tls_cipher"] == nil {
					t.Errorf("set %v", p.Set)
				}
				p.security = authority.client(t, security)
				if err := hello(p, config); err != nil {
					t.Error(err)
				}
				p.security = nil
				if hello(p, config) == nil {
					t.Error("answered without TLS")
				}
				p.security = otherAuthority.client(t, security)
				if hello(p, config) == nil {
					t.Error("the test's client trusts everybody")
				}
			})
		}
	}
}

// TestMutualTLS: who is not signed by client_ca is not answered, nor is who was
// signed by nobody, as the service itself was before it was ready.
func TestMutualTLS(t *testing.T) {
	authority, otherAuthority := newAuthority(t), newAuthority(t)
	for _, config := range secureStacks() {
		p := start(t, authority.configure(t, config, "mtls"))
		for name, certificates := range map[string][]tls.Certificate{
			"none":                nil,
			"another authority's": {otherAuthority.clientCertificate(t)},
			"a service's": {func() tls.Certificate {
				certificate, err := tls.X509KeyPair(authority.issue(t, x509.ExtKeyUsageServerAuth))
				if err != nil {
					t.Fatal(err)
				}
				return certificate
			}()},
		} {
			p.security = authority.client(t, "tls")
			p.security.Certificates = certificates
			if hello(p, config) == nil {
				t.Errorf("%v: answered with %s certificate", config["stack.transport"], name)
			}
		}
		p.security = authority.client(t, "mtls")
		if err := hello(p, config); err != nil {
			t.Errorf("refused with a right one: %v", err)
		}
	}
}

// TestALPN: only what is served is agreed on.
func TestALPN(t *testing.T) {
	authority := newAuthority(t)
	for transport, offers := range map[string]map[string]bool{
		"http/1.1": {"http/1.1": true, "h2": false, "": true},
		"http/1.0": {"http/1.0": true, "http/1.1": true, "h2": false, "": true},
		"http/2":   {"h2": true, "http/1.1": false, "": false},
	} {
		p := start(t, authority.configure(t, stack("rest", "json", transport), "tls"))
		for offer, agreed := range offers {
			client := authority.client(t, "tls")
			if offer != "" {
				client.NextProtos = []string{offer}
			}
			conn, err := tls.Dial("tcp", p.Address, client)
			if err == nil {
				// A server that refuses after the handshake of TLS 1.3 reports it later.
				_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
				if _, err = conn.Write([]byte("GET /transfer/hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")); err == nil && offer != "h2" {
					_, err = conn.Read(make([]byte, 1))
				}
				if err == nil && conn.ConnectionState().NegotiatedProtocol != offer {
					t.Errorf("%s: offered %q, agreed on %q", transport, offer, conn.ConnectionState().NegotiatedProtocol)
				}
				_ = conn.Close()
			}
			if (err == nil) != agreed {
				t.Errorf("%s: offered %q: %v", transport, offer, err)
			}
		}
	}
}

func TestUnusableTLSFilesAreRefused(t *testing.T) {
	authority := newAuthority(t)
	good, other := authority.configure(t, restJSON, "mtls"), authority.configure(t, restJSON, "mtls")
	checkRefused(t, good.with("tls.key", other["tls.key"]).line(t), "tls.certificate", "match")
	checkRefused(t, good.with("tls.certificate", write(t, "bad", []byte("x"))).line(t), "tls.certificate", "PEM")
	checkRefused(t, good.with("tls.client_ca", write(t, "bad", []byte("x"))).line(t), "tls.client_ca", "certificate")
	checkRefused(t, good.with("tls.client_ca", "/none").line(t), "tls.client_ca", "/none")
}
