package service

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// configBytesMax bounds the configuration line.
const configBytesMax = 1 << 20

// Config is what the service is asked to be (docs/reference/process.md).
type Config struct {
	Contract      string    `json:"contract"`
	Stack         Stack     `json:"stack"`
	Listen        string    `json:"listen"`
	MetricsListen string    `json:"metrics_listen"`
	Store         Store     `json:"store"`
	TLS           TLS       `json:"tls"`
	Socket        Socket    `json:"socket"`
	Processors    *int      `json:"processors"`
	Collector     Collector `json:"collector"`
	Faults        Faults    `json:"faults"`
	// CodecTimes: replies are kept, so that their codec can be timed.
	CodecTimes bool `json:"codec_times"`
}

// Stack is the service's side of a stack.
type Stack struct {
	Binding      string `json:"binding"`
	Codec        string `json:"codec"`
	SOAP         string `json:"soap"`
	Compression  string `json:"compression"`
	Transport    string `json:"transport"`
	Security     string `json:"security"`
	EndOfMessage string `json:"end_of_message"`
	HTTPCache    string `json:"http_cache"`
	Flush        string `json:"flush"`
	CloseDelayMs int64  `json:"close_delay_ms"`
	Reply        string `json:"reply"`
}

// Store is what the service holds.
type Store struct {
	HelloBytes *int `json:"hello_bytes"`
	// Accounts of charging, and what each holds at the start.
	Accounts *int   `json:"accounts"`
	Balance  *int64 `json:"balance"`
	// What requests in SOAP must carry in a UsernameToken.
	Username *string `json:"username"`
	Password *string `json:"password"`
	// Where records and petclinic keep their rows.
	Kind      string `json:"kind"`
	URL       string `json:"url"`
	Pool      *int   `json:"pool"`
	TimeoutMs *int   `json:"timeout_ms"`
}

// TLS names files in PEM.
type TLS struct {
	Certificate string `json:"certificate"`
	Key         string `json:"key"`
	ClientCA    string `json:"client_ca"`
}

// Socket holds the options of accepted sockets; windows in bytes, nil: the
// kernel's or the library's.
type Socket struct {
	Nagle     bool   `json:"nagle"`
	Writes    string `json:"writes"`
	QuickACK  *bool  `json:"quickack"`
	TCPWindow *int   `json:"tcp_window"`
	H2Window  *int   `json:"h2_window"`
}

// Collector sets the garbage collector; nil: Go's own default.
type Collector struct {
	GOGC             *int   `json:"gogc"`
	MemoryLimitBytes *int64 `json:"memory_limit_bytes"`
}

// ReadConfig takes the configuration from the first line of input, completes it
// by defaults and checks that the service can honour it; else a *Refusal.
func ReadConfig(input *bufio.Reader) (*Config, error) {
	line, err := readLine(input)
	if err != nil {
		return nil, err
	}
	if err := checkKeys(line); err != nil {
		return nil, err
	}
	config := &Config{}
	if err := json.Unmarshal(line, config); err != nil {
		return nil, typeRefusal(err)
	}
	config.complete()
	if refusal := config.check(); refusal != nil {
		return nil, refusal
	}
	return config, nil
}

func readLine(input *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := input.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > configBytesMax {
			return nil, configRefusal(fmt.Sprintf("the line is longer than %d bytes", configBytesMax))
		}
		if err == nil || errors.Is(err, io.EOF) {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, fmt.Errorf("reading the configuration from standard input: %w", err)
		}
	}
	if len(strings.TrimSpace(string(line))) == 0 {
		return nil, configRefusal("standard input holds none")
	}
	return line, nil
}

func configRefusal(message string) *Refusal {
	return &Refusal{"configuration", message,
		"write one JSON object on one line of standard input (docs/reference/process.md)"}
}

func typeRefusal(err error) *Refusal {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return configRefusal(err.Error())
	}
	option := wrong.Field
	if option == "" {
		option = "configuration"
	}
	return &Refusal{option, "must be a JSON value for " + wrong.Type.String() + ", not " + wrong.Value,
		"see docs/reference/process.md for its type"}
}

// complete fills in the defaults of keys that were left out.
func (c *Config) complete() {
	codec, transport := "json", "http/1.1"
	switch c.Stack.Binding {
	case "grpc":
		codec, transport = "protobuf", "http/2"
	case "soap":
		codec = "soap-literal"
	}
	for _, field := range []struct {
		value *string
		unset string
	}{
		{&c.Stack.Codec, codec},
		{&c.Stack.Transport, transport},
		{&c.Stack.Compression, "none"},
		{&c.Stack.Flush, "item"},
		{&c.Stack.Security, "none"},
		{&c.Stack.HTTPCache, "none"},
		{&c.Stack.Reply, "two-way"},
		{&c.Socket.Writes, "joined"},
		{&c.MetricsListen, "127.0.0.1:0"},
	} {
		if *field.value == "" {
			*field.value = field.unset
		}
	}
	if c.Stack.Binding != "grpc" && c.Stack.EndOfMessage == "" {
		c.Stack.EndOfMessage = "content-length"
	}
	if c.Stack.Binding == "soap" && c.Stack.SOAP == "" {
		c.Stack.SOAP = "1.1"
	}
	c.Store.complete()
}

// complete: the contract's defaults. The size of Hello's text has none.
func (s *Store) complete() {
	accounts, balance := 1_000, int64(1_000_000_000)
	if s.Accounts == nil {
		s.Accounts = &accounts
	}
	if s.Balance == nil {
		s.Balance = &balance
	}
	if s.Kind == "" {
		s.Kind = "memory"
	}
	if s.TimeoutMs == nil {
		timeoutMs := 2000
		s.TimeoutMs = &timeoutMs
	}
}

// sections names every key that a configuration may have, by the object that
// holds it. encoding/json alone would take `Codec` for `codec` and would not
// report where an unknown key is.
var sections = map[string][]string{
	"": {"contract", "stack", "listen", "metrics_listen", "store", "tls", "socket", "processors",
		"collector", "faults", "codec_times"},
	"stack": {"binding", "codec", "soap", "compression", "transport", "security", "end_of_message",
		"http_cache", "flush", "close_delay_ms", "reply"},
	"store":     {"hello_bytes", "accounts", "balance", "username", "password", "kind", "url", "pool", "timeout_ms"},
	"tls":       {"certificate", "key", "client_ca"},
	"socket":    {"nagle", "writes", "quickack", "tcp_window", "h2_window"},
	"collector": {"gogc", "memory_limit_bytes"},
	"faults":    append([]string{"delay_us"}, rustFaults...),
}

// checkKeys refuses keys that the process contract does not know.
func checkKeys(line []byte) error {
	top, err := object(line)
	if err != nil {
		return configRefusal("not a JSON object: " + err.Error())
	}
	if err := checkSection("", top); err != nil {
		return err
	}
	for _, name := range sections[""] {
		if sections[name] == nil || top[name] == nil {
			continue
		}
		keys, err := object(top[name])
		if err != nil {
			return &Refusal{name, "must be a JSON object: " + err.Error(), "write {} for the defaults"}
		}
		if err := checkSection(name, keys); err != nil {
			return err
		}
	}
	return nil
}

func object(text []byte) (map[string]json.RawMessage, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	var keys map[string]json.RawMessage
	if err := decoder.Decode(&keys); err != nil {
		return nil, err
	}
	if decoder.More() {
		return nil, fmt.Errorf("more follows after the object")
	}
	return keys, nil
}

func checkSection(section string, keys map[string]json.RawMessage) error {
	known := sections[section]
	for key := range keys {
		if !slices.Contains(known, key) {
			return &Refusal{strings.TrimPrefix(section+"."+key, "."), "there is no such option",
				"the options here are " + strings.Join(known, ", ")}
		}
	}
	return nil
}

// Refusal reports that the service cannot be what it was asked to be: which
// option, why, and what to do.
type Refusal struct {
	Option  string `json:"option"`
	Message string `json:"message"`
	Remedy  string `json:"remedy"`
}

func (r *Refusal) Error() string {
	return r.Option + ": " + r.Message + " (" + r.Remedy + ")"
}
