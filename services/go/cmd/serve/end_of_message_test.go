package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"wirelab/services/go/internal/transfer"
)

// talk sends a request as it is and reads until the service ends the connection.
func talk(t *testing.T, p *process, request string) (answer string, took time.Duration) {
	t.Helper()
	conn, err := dialer(p)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	begin := time.Now()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("the connection did not end: %v after %.300q", err, text)
	}
	return string(text), time.Since(begin)
}

const getHello = "GET /transfer/hello HTTP/%s\r\nHost: localhost\r\n%s\r\n"

// TestHTTP10: every reply is of HTTP/1.0 and ends the connection, whatever the
// client asks for.
func TestHTTP10(t *testing.T) {
	for _, bytes := range []int{14, 150_000} {
		for end, hasLength := range map[string]bool{"content-length": true, "until-close": false} {
			p := start(t, stack("rest", "text", "http/1.0").with("stack.end_of_message", end).with("store.hello_bytes", bytes))
			for _, request := range []string{fmt.Sprintf(getHello, "1.0", ""), fmt.Sprintf(getHello, "1.1", ""),
				fmt.Sprintf(getHello, "1.0", "Connection: keep-alive\r\n"), fmt.Sprintf(getHello, "1.1", "Connection: keep-alive\r\n"),
				"POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc"} {
				answer, _ := talk(t, p, request)
				head, body, _ := strings.Cut(answer, "\r\n\r\n")
				if !strings.HasPrefix(head, "HTTP/1.0 ") || strings.Contains(head, "chunked") ||
					strings.Contains(strings.ToLower(head), "keep-alive") {
					t.Errorf("%q answered with %q", request, head)
				}
				if strings.Contains(head, "Content-Length:") != hasLength {
					t.Errorf("%s: %q", end, head)
				}
				if strings.HasPrefix(request, "GET") && body != transfer.Text(bytes) {
					t.Errorf("another text, of %d bytes", len(body))
				}
			}
		}
	}
}

// TestUntilClose: in HTTP/1.1 too, neither length nor chunks, for short replies
// as for long ones.
func TestUntilClose(t *testing.T) {
	for _, config := range []options{restText, stack("rest", "xml", "http/1.1")} {
		for _, size := range []int{14, 150_000} {
			p := start(t, config.with("stack.end_of_message", "until-close").with("store.hello_bytes", size))
			answer, _ := talk(t, p, fmt.Sprintf(getHello, "1.1", ""))
			head, body, _ := strings.Cut(answer, "\r\n\r\n")
			if !strings.HasPrefix(head, "HTTP/1.1 200") || strings.Contains(head, "Content-Length") ||
				strings.Contains(head, "Transfer-Encoding") || !strings.Contains(head, "Connection: close") {
				t.Errorf("%q", head)
			}
			if !strings.Contains(body, transfer.Text(size)) {
				t.Errorf("another text, of %d bytes", len(body))
			}
			if p.Set["end_of_message"] != "until-close" {
				t.Errorf("set %v", p.Set)
			}
		}
	}
}

// TestCloseDelay: the reply is there at once, its end after the delay.
func TestCloseDelay(t *testing.T) {
	const delay = 300 * time.Millisecond
	p := start(t, stack("rest", "text", "http/1.0").with("stack.end_of_message", "until-close").
		with("stack.close_delay_ms", delay.Milliseconds()))
	if p.Set["close_delay_ms"] != float64(delay.Milliseconds()) {
		t.Errorf("set %v", p.Set)
	}
	conn, err := dialer(p)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, fmt.Sprintf(getHello, "1.0", "")); err != nil {
		t.Fatal(err)
	}
	var answer bytes.Buffer
	for !strings.HasSuffix(answer.String(), "Hello, wirelab") {
		if _, err := io.CopyN(&answer, conn, 1); err != nil {
			t.Fatalf("%v after %q", err, &answer)
		}
	}
	begin := time.Now()
	if n, err := conn.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("%d bytes, %v", n, err)
	}
	// The reader may have been late for the reply, never early for the end.
	if took := time.Since(begin); took < delay/2 {
		t.Errorf("the end came %v after the reply, want %v", took, delay)
	}
	if answer, took := talk(t, p, fmt.Sprintf(getHello, "1.0", "")); took < delay || !strings.Contains(answer, "wirelab") {
		t.Errorf("%v: %q", took, answer)
	}
}

// TestStopDoesNotWaitForCloseDelays: whoever waits for an end gets it.
func TestStopDoesNotWaitForCloseDelays(t *testing.T) {
	p := start(t, stack("rest", "text", "http/1.0").with("stack.close_delay_ms", 600_000))
	conn, err := dialer(p)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, fmt.Sprintf(getHello, "1.0", "")); err != nil {
		t.Fatal(err)
	}
	readSome(t, conn)
	_ = p.stdin.Close()
	if code := p.exitCode(t, 5*time.Second); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

func readSome(t *testing.T, conn net.Conn) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
}
