package service

import (
	"fmt"
	"math"
	"net"
	"net/netip"
	"slices"
	"strings"

	"wirelab/services/go/internal/charging"
	"wirelab/services/go/internal/transfer"
)

const (
	processorsMax = 1024
	// h2WindowMin: HTTP/2 gives every connection 65,535 bytes, which SETTINGS
	// cannot take back (RFC 9113 section 6.9.2); grpc-go and net/http ignore
	// anything smaller.
	h2WindowMin = 65_535
)

// check finds the first option that the service cannot honour.
func (c *Config) check() *Refusal {
	checks := []func() *Refusal{c.checkStack, c.checkVariants, c.checkFlush, c.checkEndOfMessage, c.checkHTTPCache,
		c.checkCloseDelay,
		c.checkSecurity, c.checkListen, c.checkStore,
		c.checkSocket, c.checkWindows, c.checkRuntime, c.checkFaults, c.checkCodecTimes}
	for _, check := range checks {
		if refusal := check(); refusal != nil {
			return refusal
		}
	}
	return nil
}

func (c *Config) checkListen() *Refusal {
	if !local(c.Listen) && !ofLink(c.Listen) {
		return &Refusal{"listen", fmt.Sprintf("%q is neither a loopback address nor a Unix socket, "+
			"nor an address of a link (198.18.0.0/15)", c.Listen), "use 127.0.0.1:0, [::1]:0 or unix:/path"}
	}
	if !local(c.MetricsListen) {
		return &Refusal{"metrics_listen", fmt.Sprintf("%q is neither a loopback address nor a Unix socket",
			c.MetricsListen), "use 127.0.0.1:0, [::1]:0 or unix:/path"}
	}
	return nil
}

func local(address string) bool {
	if path, isUnix := strings.CutPrefix(address, unixPrefix); isUnix {
		return path != ""
	}
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
}

// links is the network of the lab's links, which nothing routes (RFC 2544, RFC 6890).
var links = netip.MustParsePrefix("198.18.0.0/15")

func ofLink(address string) bool {
	where, err := netip.ParseAddrPort(address)
	return err == nil && links.Contains(where.Addr())
}

func (c *Config) checkSocket() *Refusal {
	if c.Socket.Writes == "split" {
		return &Refusal{"socket.writes", "net/http and grpc-go buffer header and body together and decide " +
			"themselves when to send", "use writes=joined, or a service in Rust for writes=split"}
	}
	if refusal := c.checkWord("socket.writes", c.Socket.Writes, "joined"); refusal != nil {
		return refusal
	}
	if c.Socket.QuickACK != nil {
		return &Refusal{"socket.quickack", "the kernel clears TCP_QUICKACK by itself (tcp(7)): it must be set " +
			"again after every read, and the reads are inside Go's runtime", "use null, or a service in Rust"}
	}
	return nil
}

func (c *Config) checkWindows() *Refusal {
	overUnix := strings.HasPrefix(c.Listen, unixPrefix)
	if overUnix && (c.Socket.Nagle || c.Socket.TCPWindow != nil) {
		return &Refusal{"socket", "a Unix socket has neither Nagle's algorithm nor a TCP window",
			"leave nagle and tcp_window out, or listen on 127.0.0.1:0"}
	}
	if window := c.Socket.TCPWindow; window != nil && (*window < 1 || *window > math.MaxInt32/2) {
		return &Refusal{"socket.tcp_window", fmt.Sprintf("must be 1 to %d bytes, not %d", math.MaxInt32/2, *window),
			"choose a size within that range, or null for the kernel's"}
	}
	window := c.Socket.H2Window
	if window == nil {
		return nil
	}
	if c.Stack.Transport != "http/2" {
		return &Refusal{"socket.h2_window", c.Stack.Transport + " has no window of its own",
			"use transport=http/2, or null"}
	}
	if *window < h2WindowMin || *window > math.MaxInt32 {
		return &Refusal{"socket.h2_window", fmt.Sprintf("must be %d to %d bytes, not %d: HTTP/2 connections "+
			"start with %[1]d (RFC 9113 section 6.9.2)", h2WindowMin, math.MaxInt32, *window),
			"choose a size within that range, or null for the library's"}
	}
	return nil
}

func (c *Config) checkRuntime() *Refusal {
	if n := c.Processors; n != nil && (*n < 1 || *n > processorsMax) {
		return &Refusal{"processors", fmt.Sprintf("must be 1 to %d, not %d", processorsMax, *n),
			"give the number of threads that run service code"}
	}
	if gogc := c.Collector.GOGC; gogc != nil && (*gogc < -1 || *gogc > math.MaxInt32) {
		return &Refusal{"collector.gogc", fmt.Sprintf("must be -1 (off) or 0 to %d, not %d", math.MaxInt32, *gogc),
			"use 100, Go's default"}
	}
	if limit := c.Collector.MemoryLimitBytes; limit != nil && *limit < 1 {
		return &Refusal{"collector.memory_limit_bytes", fmt.Sprintf("must be at least 1, not %d", *limit),
			"give a number of bytes, or leave it out for no limit"}
	}
	return nil
}

const (
	closeDelayMsMax = 600_000
	accountsMax     = 10_000_000
	storePoolMax    = 10_000
	// storeTimeoutMsMax is ten minutes.
	storeTimeoutMsMax = 600_000
)

// storedContracts keep rows where store.kind states.
var storedContracts = []string{"records", "petclinic"}

// checkVariants checks the axes that only one binding has.
func (c *Config) checkVariants() *Refusal {
	switch {
	case c.Stack.Binding == "soap":
		if refusal := c.checkWord("stack.soap", c.Stack.SOAP,
			listOffered("soap", func(o offer) []string { return o.SOAP })...); refusal != nil {
			return refusal
		}
	case c.Stack.SOAP != "":
		return &Refusal{"stack.soap", "only binding soap has versions of SOAP", "leave it out, or use binding=soap"}
	}
	if c.Stack.Reply == "one-way" {
		return &Refusal{"stack.reply", "only raw has calls without a reply", "use reply=two-way, or raw@rust"}
	}
	return c.checkWord("stack.reply", c.Stack.Reply, "two-way")
}

func (c *Config) checkEndOfMessage() *Refusal {
	const option = "stack.end_of_message"
	end := c.Stack.EndOfMessage
	switch {
	case end == "" || end == "content-length":
		return nil
	case c.Stack.Binding == "grpc":
		return &Refusal{option, "gRPC messages carry their own length", "leave it out"}
	case c.Stack.Transport == "http/2":
		return &Refusal{option, "HTTP/2 has no chunked coding (RFC 9113 section 8.1), and its replies end by themselves",
			"use end_of_message=content-length or transport=http/1.1"}
	case c.Stack.Transport == "http/1.0" && end == "chunked":
		return &Refusal{option, "HTTP/1.0 has no chunks", "use end_of_message=until-close or transport=http/1.1"}
	}
	return c.checkWord(option, end, c.listOffered(func(o offer) []string { return o.EndOfMessage })...)
}

// checkHTTPCache: only the entries that offer it have operations with an entity tag.
func (c *Config) checkHTTPCache() *Refusal {
	const option = "stack.http_cache"
	words := c.listOffered(func(o offer) []string { return append([]string{"none"}, o.HTTPCache...) })
	if refusal := c.checkWord(option, c.Stack.HTTPCache, words...); refusal != nil {
		return refusal
	}
	if c.Stack.HTTPCache != "none" && c.Contract != "transfer" {
		return &Refusal{option, c.Contract + " has no reply with an entity tag: only transfer's Hello has", "use http_cache=none"}
	}
	return nil
}

func (c *Config) checkFlush() *Refusal {
	if c.Stack.Flush == "library" && c.Stack.Compression != "none" {
		return &Refusal{"stack.flush", "a compressor that is not flushed keeps items until its block is full",
			"use flush=item or compression=none"}
	}
	return nil
}

func (c *Config) checkCloseDelay() *Refusal {
	const option = "stack.close_delay_ms"
	delay := c.Stack.CloseDelayMs
	switch {
	case delay < 0 || delay > closeDelayMsMax:
		return &Refusal{option, fmt.Sprintf("must be 0 to %d, not %d", closeDelayMsMax, delay),
			"choose a delay within that range"}
	case delay > 0 && c.Stack.Transport == "http/2":
		return &Refusal{option, "only in HTTP/1.x does the service close connections", "use 0, or transport=http/1.0"}
	case delay > 0 && c.Stack.Security != "none":
		return &Refusal{option, "crypto/tls announces the end to the peer before the connection is closed, so that it would not wait",
			"use 0, or security=none"}
	}
	return nil
}

// checkSecurity sees that the files are named; newSecurity reads them.
func (c *Config) checkSecurity() *Refusal {
	files := map[string]string{}
	if c.Stack.Security != "none" {
		files["tls.certificate"], files["tls.key"] = c.TLS.Certificate, c.TLS.Key
	}
	if c.Stack.Security == "mtls" {
		files["tls.client_ca"] = c.TLS.ClientCA
	}
	for _, option := range []string{"tls.certificate", "tls.key", "tls.client_ca"} {
		if file, needed := files[option]; needed && file == "" {
			return &Refusal{option, "security " + c.Stack.Security + " needs the file, and none is named",
				"name a file in PEM, or use security=none"}
		}
	}
	return nil
}

func (c *Config) checkStore() *Refusal {
	bytes := c.Store.HelloBytes
	if bytes == nil && c.Contract == "transfer" {
		return &Refusal{"store.hello_bytes", "is missing", "give the size of Hello's text in bytes, such as 14"}
	}
	if bytes != nil {
		if refusal := checkRange("store.hello_bytes", int64(*bytes), 0, transfer.BytesMax); refusal != nil {
			return refusal
		}
	}
	if refusal := checkRange("store.accounts", int64(*c.Store.Accounts), 1, accountsMax); refusal != nil {
		return refusal
	}
	if refusal := checkRange("store.balance", *c.Store.Balance, 0, charging.BalanceMax); refusal != nil {
		return refusal
	}
	if refusal := c.checkDatabase(); refusal != nil {
		return refusal
	}
	return c.checkCredentials()
}

func (c *Config) checkDatabase() *Refusal {
	kinds := []string{"memory"}
	if slices.Contains(storedContracts, c.Contract) {
		kinds = listOffered(c.Stack.Binding, func(o offer) []string { return o.Stores })
	}
	if refusal := c.checkWord("store.kind", c.Store.Kind, kinds...); refusal != nil {
		return refusal
	}
	if c.Store.Kind != "memory" && c.Store.URL == "" {
		return &Refusal{"store.url", "store.kind " + c.Store.Kind + " needs it, and it is missing",
			"give the path of SQLite's file, or the URL of PostgreSQL"}
	}
	if pool := c.Store.Pool; pool != nil {
		if refusal := checkRange("store.pool", int64(*pool), 1, storePoolMax); refusal != nil {
			return refusal
		}
	}
	return checkRange("store.timeout_ms", int64(*c.Store.TimeoutMs), 1, storeTimeoutMsMax)
}

func checkRange(option string, value, low, high int64) *Refusal {
	if value < low || value > high {
		return &Refusal{option, fmt.Sprintf("must be %d to %d, not %d", low, high, value),
			"choose a value within that range"}
	}
	return nil
}

func (c *Config) checkCredentials() *Refusal {
	username, password := c.Store.Username != nil, c.Store.Password != nil
	switch {
	case username && !password:
		return &Refusal{"store.password", "store.username is given without it", "give both, or neither"}
	case password && !username:
		return &Refusal{"store.username", "store.password is given without it", "give both, or neither"}
	case username && c.Stack.Binding != "soap":
		return &Refusal{"store.username", "only binding soap carries a UsernameToken", "leave it out, or use binding=soap"}
	}
	return nil
}
