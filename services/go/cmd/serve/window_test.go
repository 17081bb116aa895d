package main

import (
	"encoding/binary"
	"io"
	"testing"
	"time"
)

// Frame types and settings of RFC 9113, sections 6.5 and 6.9.
const (
	frameSettings        = 4
	frameWindowUpdate    = 8
	settingInitialWindow = 4
	initialWindow        = 65_535
	http2Preface         = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	emptySettings        = "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	windowWait           = 300 * time.Millisecond
	frameHeaderBytes     = 9
	settingBytes         = 6
	windowIncrementMask  = 1<<31 - 1
	configuredWindow     = 1_000_000
	restLibraryWindow    = 1 << 20
)

// readWindows reads from the wire which windows the service offers at the
// start of a connection.
func readWindows(t *testing.T, p *process) (stream, connection int) {
	t.Helper()
	conn, err := dialer(p)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, http2Preface+emptySettings); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(windowWait))
	stream, connection = initialWindow, initialWindow
	for {
		header := make([]byte, frameHeaderBytes)
		if _, err := io.ReadFull(conn, header); err != nil {
			return stream, connection // the deadline: nothing more comes
		}
		payload := make([]byte, int(header[0])<<16|int(header[1])<<8|int(header[2]))
		if _, err := io.ReadFull(conn, payload); err != nil {
			t.Fatal(err)
		}
		switch {
		case header[3] == frameSettings:
			for ; len(payload) > 0; payload = payload[settingBytes:] {
				if binary.BigEndian.Uint16(payload) == settingInitialWindow {
					stream = int(binary.BigEndian.Uint32(payload[2:]))
				}
			}
		case header[3] == frameWindowUpdate:
			connection += int(binary.BigEndian.Uint32(payload) & windowIncrementMask)
		}
	}
}

// TestWindowsOnTheWire: `set` says what the service offers.
func TestWindowsOnTheWire(t *testing.T) {
	for name, row := range map[string]struct {
		config options
		window int
	}{
		"gRPC, the library's": {grpcOnly, initialWindow},
		"gRPC, smallest":      {grpcOnly.with("socket.h2_window", initialWindow), initialWindow},
		"gRPC, chosen":        {grpcOnly.with("socket.h2_window", configuredWindow), configuredWindow},
		"REST, the library's": {stack("rest", "json", "http/2"), restLibraryWindow},
		"REST, smallest":      {stack("rest", "json", "http/2").with("socket.h2_window", initialWindow), initialWindow},
		"REST, chosen":        {stack("rest", "json", "http/2").with("socket.h2_window", configuredWindow), configuredWindow},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, row.config)
			if stream, connection := readWindows(t, p); stream != row.window || connection != row.window {
				t.Errorf("offers %d per stream and %d per connection, want %d", stream, connection, row.window)
			}
			if p.Set["h2_window"] != float64(row.window) {
				t.Errorf("set %v, want %d", p.Set["h2_window"], row.window)
			}
		})
	}
}
