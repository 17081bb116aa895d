package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// executable is the service as the lab builds it.
var executable string

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "wirelab-go-service")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := 1
	if err := build(folder); err == nil {
		code = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, err)
	}
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// projectVersion stands for the version of wirelab.
const projectVersion = "1.2.3-test"

// build runs the build command of service.json.
func build(folder string) error {
	text, err := os.ReadFile("../../service.json")
	if err != nil {
		return err
	}
	var manifest struct{ Build, Start []string }
	if err := json.Unmarshal(text, &manifest); err != nil {
		return err
	}
	fill := strings.NewReplacer("{out}", folder, "{version}", projectVersion).Replace
	for i, word := range manifest.Build {
		manifest.Build[i] = fill(word)
	}
	executable = fill(manifest.Start[0])
	command := exec.Command(manifest.Build[0], manifest.Build[1:]...)
	command.Dir, command.Stderr = "../..", os.Stderr
	return command.Run()
}

// options are keys of the configuration, dotted, with their values.
type options map[string]any

func (o options) with(key string, value any) options {
	changed := maps.Clone(o)
	changed[key] = value
	return changed
}

func (o options) line(t *testing.T) string {
	t.Helper()
	config := map[string]any{}
	for key, value := range o {
		section, name, nested := strings.Cut(key, ".")
		if !nested {
			config[key] = value
			continue
		}
		if config[section] == nil {
			config[section] = map[string]any{}
		}
		config[section].(map[string]any)[name] = value
	}
	line, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	return string(line) + "\n"
}

func stack(binding, codec, transport string) options {
	return options{"contract": "transfer", "stack.binding": binding, "stack.codec": codec,
		"stack.transport": transport, "listen": "127.0.0.1:0", "store.hello_bytes": 14}
}

var (
	restText = stack("rest", "text", "http/1.1")
	restJSON = stack("rest", "json", "http/1.1")
	soapOnly = stack("soap", "soap-literal", "http/1.1")
	grpcOnly = stack("grpc", "protobuf", "http/2")
)

// process is a running service.
type process struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	stdout  *bufio.Reader
	stderr  *bytes.Buffer
	Address string
	Metrics string
	PID     int
	Runtime string
	Set     map[string]any
	Refused struct{ Option, Message, Remedy string }

	transport string
	codec     any
	security  *tls.Config // of calls to it; nil: none

	Language  string
	Libraries []library
}

// launch starts the binary and hands it a configuration line.
func launch(t *testing.T, line string, environment ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(executable), stderr: &bytes.Buffer{}}
	p.cmd.Env = append(os.Environ(), environment...)
	p.cmd.Stderr = p.stderr
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdin, p.stdout = stdin, bufio.NewReader(stdout)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
	// A service that has read enough to refuse does not read on.
	if _, err := io.WriteString(p.stdin, line); err != nil && !errors.Is(err, syscall.EPIPE) {
		t.Fatal(err)
	}
	return p
}

// start launches a service and waits until it is ready.
func start(t *testing.T, config options, environment ...string) *process {
	t.Helper()
	p := launch(t, config.line(t), environment...)
	p.transport, p.codec = config["stack.transport"].(string), config["stack.codec"]
	p.readLine(t)
	if p.Address == "" {
		t.Fatalf("not ready: %+v\n%s", p.Refused, p.stderr)
	}
	return p
}

func (p *process) readLine(t *testing.T) {
	t.Helper()
	line, err := p.stdout.ReadBytes('\n')
	if err != nil {
		t.Fatalf("no line on standard output: %v\n%s", err, p.stderr)
	}
	if err := json.Unmarshal(line, p); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
}

// exitCode waits for the end, which must come soon.
func (p *process) exitCode(t *testing.T, within time.Duration) int {
	t.Helper()
	late := time.AfterFunc(within, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

func TestReadyReportsWhatWasSet(t *testing.T) {
	p := start(t, restJSON.with("processors", 1).with("collector.gogc", 50).
		with("collector.memory_limit_bytes", 1<<30).with("socket.tcp_window", 40_000).
		with("socket.nagle", true), "GOGC=7", "GOMAXPROCS=2", "GOMEMLIMIT=12345678")
	if p.PID != p.cmd.Process.Pid || p.Language != "go" || !strings.HasPrefix(p.Runtime, "go1.") {
		t.Errorf("process id %d, language %q, runtime %q", p.PID, p.Language, p.Runtime)
	}
	want := map[string]any{"processors": 1.0, "gogc": 50.0, "memory_limit_bytes": float64(1 << 30),
		"so_rcvbuf": 80_000.0, "nagle": true, "writes": "joined", "end_of_message": "content-length"}
	if !maps.Equal(p.Set, want) {
		t.Errorf("set %v, want %v", p.Set, want)
	}
}

func TestDefaultsDoNotComeFromTheEnvironment(t *testing.T) {
	p := start(t, grpcOnly, "GOGC=7", "GOMEMLIMIT=12345678")
	if p.Set["gogc"] != 100.0 || p.Set["memory_limit_bytes"] != nil || p.Set["nagle"] != false {
		t.Errorf("set %v", p.Set)
	}
	if p.Set["h2_window"] != 65_535.0 || p.Set["h2_window_dynamic"] != true {
		t.Errorf("window %v, dynamic %v", p.Set["h2_window"], p.Set["h2_window_dynamic"])
	}
}

func TestCollectorCanBeOff(t *testing.T) {
	if p := start(t, restText.with("collector.gogc", -1)); p.Set["gogc"] != -1.0 {
		t.Errorf("gogc %v, want -1", p.Set["gogc"])
	}
}

func TestRefusals(t *testing.T) {
	for name, row := range map[string]struct {
		config options
		option string
		word   string
	}{
		"unknown contract":       {restJSON.with("contract", "shop"), "contract", "transfer"},
		"petclinic as SOAP":      {soapOnly.with("contract", "petclinic"), "contract", "another binding"},
		"petclinic as XML":       {stack("rest", "xml", "http/1.1").with("contract", "petclinic"), "stack.codec", "codec=protobuf"},
		"store of charging":      {restJSON.with("contract", "charging").with("store.kind", "sqlite"), "store.kind", "memory"},
		"unknown binding":        {restJSON.with("stack.binding", "mqtt"), "stack.binding", "rest"},
		"CORBA":                  {restJSON.with("stack.binding", "iiop").with("stack.codec", "cdr"), "stack.binding", "iiop@rust"},
		"raw":                    {restJSON.with("stack.binding", "raw").with("stack.codec", "soap-literal"), "stack.binding", "raw@rust"},
		"encoded SOAP":           {soapOnly.with("stack.codec", "soap-encoded"), "stack.codec", "soap@java"},
		"SOAP 1.3":               {soapOnly.with("stack.soap", "1.3"), "stack.soap", "soap=1.1"},
		"SOAP of REST":           {restJSON.with("stack.soap", "1.1"), "stack.soap", "binding=soap"},
		"one-way":                {restJSON.with("stack.reply", "one-way"), "stack.reply", "raw"},
		"calendar as text":       {restText.with("contract", "calendar"), "stack.codec", "codec=json"},
		"user of REST":           {restJSON.with("store.username", "u").with("store.password", "p"), "store.username", "binding=soap"},
		"user alone":             {soapOnly.with("store.username", "u"), "store.password", "both"},
		"password alone":         {soapOnly.with("store.password", "p"), "store.username", "both"},
		"no accounts":            {restJSON.with("store.accounts", 0), "store.accounts", "1 to"},
		"balance of int64":       {restJSON.with("store.balance", 1<<31), "store.balance", "2147483647"},
		"key of stores":          {restJSON.with("store.path", "x"), "store.path", "accounts"},
		"unknown codec":          {restJSON.with("stack.codec", "cdr"), "stack.codec", "codec=json"},
		"json over gRPC":         {grpcOnly.with("stack.codec", "json"), "stack.codec", "codec=protobuf"},
		"gRPC over HTTP/1.1":     {grpcOnly.with("stack.transport", "http/1.1"), "stack.transport", "http/2"},
		"HTTP/3":                 {restJSON.with("stack.transport", "http/3"), "stack.transport", "http/1.1"},
		"gRPC over HTTP/1.0":     {grpcOnly.with("stack.transport", "http/1.0"), "stack.transport", "http/2"},
		"brotli":                 {restJSON.with("stack.compression", "br"), "stack.compression", "zstd"},
		"SSL":                    {restJSON.with("stack.security", "ssl"), "stack.security", "security=tls"},
		"TLS without files":      {restJSON.with("stack.security", "tls"), "tls.certificate", "PEM"},
		"TLS without a key":      {restJSON.with("stack.security", "tls").with("tls.certificate", "/none"), "tls.key", "PEM"},
		"no such certificate":    {restJSON.with("stack.security", "tls").with("tls.certificate", "/none").with("tls.key", "/none"), "tls.certificate", "PEM"},
		"mTLS without clients":   {restJSON.with("stack.security", "mtls").with("tls.certificate", "/none").with("tls.key", "/none"), "tls.client_ca", "PEM"},
		"delay under TLS":        {restJSON.with("stack.security", "tls").with("stack.close_delay_ms", 1), "stack.close_delay_ms", "security=none"},
		"delay of HTTP/2":        {grpcOnly.with("stack.close_delay_ms", 1), "stack.close_delay_ms", "http/1.0"},
		"negative close delay":   {restJSON.with("stack.close_delay_ms", -1), "stack.close_delay_ms", "0 to"},
		"chunks in HTTP/1.0":     {restJSON.with("stack.transport", "http/1.0").with("stack.end_of_message", "chunked"), "stack.end_of_message", "until-close"},
		"chunks in gRPC":         {grpcOnly.with("stack.end_of_message", "chunked"), "stack.end_of_message", "length"},
		"chunks in HTTP/2":       {stack("rest", "json", "http/2").with("stack.end_of_message", "chunked"), "stack.end_of_message", "RFC 9113"},
		"until-close in HTTP/2":  {stack("rest", "json", "http/2").with("stack.end_of_message", "until-close"), "stack.end_of_message", "http/1.1"},
		"another end":            {restJSON.with("stack.end_of_message", "pause"), "stack.end_of_message", "chunked"},
		"misspelt key":           {restJSON.with("stack.codecc", "json"), "stack.codecc", "codec"},
		"key in other case":      {restJSON.with("Listen", "127.0.0.1:0"), "Listen", "listen"},
		"misspelt top key":       {restJSON.with("procesors", 1), "procesors", "processors"},
		"every address":          {restJSON.with("listen", "0.0.0.0:0"), "listen", "loopback"},
		"no host":                {restJSON.with("listen", ":0"), "listen", "loopback"},
		"foreign host":           {restJSON.with("listen", "192.0.2.1:80"), "listen", "loopback"},
		"above the links":        {restJSON.with("listen", "198.20.0.0:80"), "listen", "198.18.0.0/15"},
		"below the links":        {restJSON.with("listen", "198.17.255.255:80"), "listen", "198.18.0.0/15"},
		"metrics on a link":      {restJSON.with("metrics_listen", "198.18.0.2:0"), "metrics_listen", "loopback"},
		"no port":                {restJSON.with("listen", "127.0.0.1"), "listen", "loopback"},
		"no Unix path":           {restJSON.with("listen", "unix:"), "listen", "unix:/path"},
		"metrics for everyone":   {restJSON.with("metrics_listen", "0.0.0.0:0"), "metrics_listen", "loopback"},
		"text too large":         {restJSON.with("store.hello_bytes", 1<<30), "store.hello_bytes", "67108864"},
		"negative text":          {restJSON.with("store.hello_bytes", -1), "store.hello_bytes", "-1"},
		"text of no size":        {restJSON.with("store.hello_bytes", nil), "store.hello_bytes", "missing"},
		"size as a word":         {restJSON.with("store.hello_bytes", "14"), "store.hello_bytes", "string"},
		"split writes":           {restJSON.with("socket.writes", "split"), "socket.writes", "joined"},
		"other writes":           {restJSON.with("socket.writes", "torn"), "socket.writes", "joined"},
		"quickack on":            {restJSON.with("socket.quickack", true), "socket.quickack", "TCP_QUICKACK"},
		"quickack off":           {restJSON.with("socket.quickack", false), "socket.quickack", "TCP_QUICKACK"},
		"TCP window of none":     {restJSON.with("socket.tcp_window", 0), "socket.tcp_window", "1 to"},
		"TCP window too small":   {restJSON.with("socket.tcp_window", 10), "socket.tcp_window", "kernel"},
		"TCP window too large":   {restJSON.with("socket.tcp_window", 1<<30-1), "socket.tcp_window", "rmem_max"},
		"window of HTTP/1.1":     {restJSON.with("socket.h2_window", 1<<20), "socket.h2_window", "transport=http/2"},
		"HTTP/2 window of 1":     {grpcOnly.with("socket.h2_window", 1), "socket.h2_window", "65535"},
		"no processors":          {restJSON.with("processors", 0), "processors", "1 to"},
		"collector of Java":      {restJSON.with("collector.name", "G1"), "collector.name", "gogc"},
		"gogc of -2":             {restJSON.with("collector.gogc", -2), "collector.gogc", "-1 (off)"},
		"no memory":              {restJSON.with("collector.memory_limit_bytes", 0), "collector.memory_limit_bytes", "at least 1"},
		"freeze":                 {restJSON.with("faults.freeze", map[string]int{"at_call": 1, "ms": 5}), "faults.freeze", "embedded Rust"},
		"slow text check":        {grpcOnly.with("faults.text_check_ns_per_kb", 5), "faults.text_check_ns_per_kb", "embedded Rust"},
		"unknown fault":          {restJSON.with("faults.slow", 1), "faults.slow", "delay_us"},
		"negative delay":         {restJSON.with("faults.delay_us", -1), "faults.delay_us", "0 to"},
		"times of a text":        {restText.with("codec_times", true), "codec_times", "binding=rest"},
		"times of gRPC":          {grpcOnly.with("codec_times", true), "codec_times", "binding=rest"},
		"section of a kind":      {restJSON.with("collector", []int{1}), "collector", "object"},
		"Nagle on a Unix socket": {restJSON.with("listen", "unix:/tmp/none.sock").with("socket.nagle", true), "socket", "Unix"},
	} {
		t.Run(name, func(t *testing.T) { checkRefused(t, row.config.line(t), row.option, row.word) })
	}
}

func TestRefusesWhatIsNotAConfiguration(t *testing.T) {
	for _, line := range []string{"\n", "garbage\n", "[]\n", `{"contract":"transfer"} {}` + "\n",
		strings.Repeat("x", 2<<20) + "\n"} {
		checkRefused(t, line, "configuration", "")
	}
}

// TestEveryRustFaultIsRefused holds the list of switches against the table of
// the process contract.
func TestEveryRustFaultIsRefused(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/reference/process.md")
	if err != nil {
		t.Fatal(err)
	}
	_, faults, _ := strings.Cut(string(page), "## Faults")
	faults, _, _ = strings.Cut(faults, "\n## ")
	count := 0
	for row := range strings.SplitSeq(faults, "\n") {
		_, cell, isRow := strings.Cut(row, "| `")
		name := cell[:max(0, strings.IndexAny(cell+":`", ":`"))]
		if !isRow || name == "delay_us" {
			continue
		}
		count++
		checkRefused(t, restJSON.with("faults."+name, 1).line(t), "faults."+name, "embedded Rust")
	}
	if count < 10 {
		t.Errorf("found only %d switches in docs/reference/process.md", count)
	}
}

func checkRefused(t *testing.T, line, option, word string) {
	t.Helper()
	p := launch(t, line)
	p.readLine(t)
	if p.Refused.Option != option || p.Refused.Message == "" || p.Refused.Remedy == "" {
		t.Errorf("refused %+v, want option %q", p.Refused, option)
	}
	if !strings.Contains(p.Refused.Message+p.Refused.Remedy, word) {
		t.Errorf("%+v does not mention %q", p.Refused, word)
	}
	if code := p.exitCode(t, 5*time.Second); code != 2 {
		t.Errorf("exit code %d, want 2", code)
	}
}

func TestBusyAddressIsRefused(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, option := range []string{"listen", "metrics_listen"} {
		checkRefused(t, restJSON.with(option, taken.Addr().String()).line(t), option, "in use")
	}
}

func TestStops(t *testing.T) {
	orders := map[string]func(*process) error{
		"end of input": func(p *process) error { return p.stdin.Close() },
		"SIGTERM":      func(p *process) error { return p.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGINT":       func(p *process) error { return p.cmd.Process.Signal(syscall.SIGINT) },
	}
	for name, order := range orders {
		for _, config := range []options{restJSON, stack("rest", "json", "http/2"), grpcOnly} {
			t.Run(name+" of "+config["stack.transport"].(string), func(t *testing.T) {
				p := start(t, config)
				if err := order(p); err != nil {
					t.Fatal(err)
				}
				if code := p.exitCode(t, 3*time.Second); code != 0 {
					t.Errorf("exit code %d, want 0\n%s", code, p.stderr)
				}
			})
		}
	}
}

// TestStopGivesCallsInFlightTheirGrace: a call of 300 ms ends well, one of 20 s
// does not hold the service up.
func TestStopGivesCallsInFlightTheirGrace(t *testing.T) {
	for _, config := range []options{restText, grpcOnly} {
		p := start(t, config.with("faults.delay_us", 300_000))
		answered := make(chan error, 1)
		go func() { answered <- hello(p, config) }()
		time.Sleep(100 * time.Millisecond)
		_ = p.stdin.Close()
		if err := <-answered; err != nil {
			t.Errorf("the call in flight was cut off: %v", err)
		}
		if code := p.exitCode(t, 2*time.Second); code != 0 {
			t.Errorf("exit code %d, want 0", code)
		}
	}
}

func TestStopDoesNotWaitForEver(t *testing.T) {
	for _, config := range []options{restText, grpcOnly} {
		t.Run(config["stack.binding"].(string), func(t *testing.T) {
			t.Parallel() // both wait more than they work
			p := start(t, config.with("faults.delay_us", 4_000_000))
			cut := make(chan error, 1)
			go func() { cut <- hello(p, config) }()
			time.Sleep(100 * time.Millisecond)
			begin := time.Now()
			_ = p.stdin.Close()
			if code := p.exitCode(t, 3*time.Second); code != 0 {
				t.Errorf("exit code %d, want 0", code)
			}
			if took := time.Since(begin); took < 900*time.Millisecond || took > 2*time.Second {
				t.Errorf("stopped after %v, want about 1 s", took)
			}
			if <-cut == nil {
				t.Error("a call of 4 s was answered within the grace of 1 s")
			}
		})
	}
}

func TestServesOnAUnixSocket(t *testing.T) {
	for i, config := range []options{restText, stack("rest", "json", "http/2"), grpcOnly, connectProto} {
		path := filepath.Join(t.TempDir(), fmt.Sprint("s", i))
		p := start(t, config.with("listen", "unix:"+path))
		if p.Address != "unix:"+path {
			t.Errorf("address %q", p.Address)
		}
		if err := hello(p, config); err != nil {
			t.Error(err)
		}
		checkRefused(t, config.with("listen", "unix:"+path).line(t), "listen", "in use")
		_ = p.stdin.Close()
		p.exitCode(t, 2*time.Second)
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("the socket's file is left behind: %v", err)
		}
	}
}

// stop ends a service in the orderly way.
func stop(t *testing.T, p *process) {
	t.Helper()
	_ = p.stdin.Close()
	if code := p.exitCode(t, 3*time.Second); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.stderr)
	}
}
