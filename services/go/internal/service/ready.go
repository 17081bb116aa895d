package service

import (
	"crypto/tls"
	"net"
	"os"
	"runtime"

	"wirelab/services/go/internal/store"
)

// Defaults of the libraries for the HTTP/2 window that a server offers.
const (
	// grpcWindow is where grpc-go starts; it then follows its estimate of the
	// bandwidth-delay product.
	grpcWindow = 65_535
	// restWindow is what net/http offers, per stream and per connection.
	restWindow = 1 << 20
)

// Ready is the line which states that the service can be called.
type Ready struct {
	Ready     bool      `json:"ready"`
	Address   string    `json:"address"`
	Metrics   string    `json:"metrics"`
	PID       int       `json:"pid"`
	Language  string    `json:"language"`
	Runtime   string    `json:"runtime"`
	Libraries []Library `json:"libraries"`
	Set       Set       `json:"set"`
}

// Set is what was really set; sockets and runtime were asked, not the
// configuration.
type Set struct {
	Nagle  bool   `json:"nagle"`
	Writes string `json:"writes"`
	// ReceiveBytes is SO_RCVBUF of an accepted socket as the kernel reports it:
	// twice what was set.
	ReceiveBytes      int    `json:"so_rcvbuf,omitempty"`
	H2Window          int    `json:"h2_window,omitempty"`
	H2WindowDynamic   bool   `json:"h2_window_dynamic,omitempty"`
	EndOfMessage      string `json:"end_of_message,omitempty"`
	HTTPCache         string `json:"http_cache,omitempty"`
	ChunkedAboveBytes int    `json:"chunked_above_bytes,omitempty"`
	Processors        int    `json:"processors"`
	GOGC              int64  `json:"gogc"`
	MemoryLimitBytes  *int64 `json:"memory_limit_bytes"`
	CloseDelayMs      int64  `json:"close_delay_ms,omitempty"`
	TLSVersion        string `json:"tls_version,omitempty"`
	TLSCipher         string `json:"tls_cipher,omitempty"`
	DelayUs           int64  `json:"delay_us,omitempty"`
	// StorePool is absent without a database.
	StorePool int `json:"store_pool,omitempty"`
}

// newReady fails where this binary does not hold the versions of its libraries.
func newReady(config *Config, listener *Listener, metrics net.Listener, security *security) (Ready, error) {
	libraries, err := libraries(config)
	return Ready{
		Ready:     true,
		Address:   address(listener),
		Metrics:   address(metrics),
		PID:       os.Getpid(),
		Language:  "go",
		Runtime:   runtime.Version(),
		Libraries: libraries,
		Set:       newSet(config, listener.first.Load(), security),
	}, err
}

func newSet(config *Config, socket *socketState, security *security) Set {
	set := Set{Writes: config.Socket.Writes, EndOfMessage: config.Stack.EndOfMessage,
		CloseDelayMs: config.Stack.CloseDelayMs}
	if security != nil {
		set.TLSVersion = tls.VersionName(security.negotiated.Version)
		set.TLSCipher = tls.CipherSuiteName(security.negotiated.CipherSuite)
	}
	set.Processors, set.GOGC, set.MemoryLimitBytes = runtimeState()
	if socket != nil {
		set.Nagle, set.ReceiveBytes = socket.Nagle, socket.ReceiveBytes
	}
	if config.Stack.HTTPCache != "none" {
		set.HTTPCache = config.Stack.HTTPCache
	}
	if set.EndOfMessage == "chunked" {
		set.ChunkedAboveBytes = chunkedAboveBytes
	}
	if config.Stack.Transport == "http/2" {
		set.H2Window, set.H2WindowDynamic = h2Window(config)
	}
	if config.Faults.DelayUs != nil {
		set.DelayUs = *config.Faults.DelayUs
	}
	if config.Store.Kind != "memory" {
		set.StorePool = store.DefaultPool()
		if config.Store.Pool != nil {
			set.StorePool = *config.Store.Pool
		}
	}
	return set
}

func h2Window(config *Config) (bytes int, dynamic bool) {
	switch {
	case config.Socket.H2Window != nil:
		return *config.Socket.H2Window, false
	case config.Stack.Binding == "grpc":
		return grpcWindow, true
	default:
		return restWindow, false
	}
}
