package service

import (
	"fmt"
	"math"
	"net"
	"net/netip"
	"strings"
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
	checks := []func() *Refusal{c.checkStack, c.checkVariants, c.checkEndOfMessage, c.checkCloseDelay,
		c.checkSecurity, c.checkListen, c.checkStore,
		c.checkSocket, c.checkWindows, c.checkRuntime, c.checkFaults}
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
