package service

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const unixPrefix = "unix:"

// Listener accepts connections, sets their options and counts them. What it
// hands out is the plain connection of package net, so that no library loses a
// path that it has for those, unless closing is to be delayed.
type Listener struct {
	net.Listener
	nagle    bool
	accepted *atomic.Int64
	first    atomic.Pointer[socketState]
	// closeDelay is 0 where connections are closed at once.
	closeDelay time.Duration
	// stopping is done when accepting ends.
	stopping context.Context
	stop     context.CancelFunc
}

// socketState is the state in the kernel of an accepted TCP socket.
type socketState struct {
	Nagle        bool
	ReceiveBytes int
}

// network splits a configured address into the arguments of package net.
func network(address string) (kind, where string) {
	if path, isUnix := strings.CutPrefix(address, unixPrefix); isUnix {
		return "unix", path
	}
	return "tcp", address
}

// listen opens the service's own address.
func listen(ctx context.Context, config *Config, accepted *atomic.Int64) (*Listener, error) {
	options := net.ListenConfig{}
	if window := config.Socket.TCPWindow; window != nil {
		// Set before listen(2): accepted sockets inherit it, and the window
		// scale that is offered in the handshake follows from it.
		options.Control = func(_, _ string, raw syscall.RawConn) error {
			return setReceiveBuffer(raw, *window)
		}
	}
	inner, err := open(ctx, options, "listen", config.Listen)
	if err != nil {
		return nil, err
	}
	stopping, stop := context.WithCancel(context.Background())
	return &Listener{Listener: inner, nagle: config.Socket.Nagle, accepted: accepted,
		closeDelay: time.Duration(config.Stack.CloseDelayMs) * time.Millisecond, stopping: stopping, stop: stop}, nil
}

func open(ctx context.Context, options net.ListenConfig, option, address string) (net.Listener, error) {
	kind, where := network(address)
	inner, err := options.Listen(ctx, kind, where)
	if refusal := new(Refusal); errors.As(err, &refusal) {
		return nil, refusal
	}
	if err != nil {
		return nil, &Refusal{option, err.Error(), "use port 0, or a free port or path"}
	}
	return inner, nil
}

// Accept waits for the next connection. One that breaks before its options
// could be set is passed over.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		tcp, isTCP := conn.(*net.TCPConn)
		if isTCP {
			if err := l.prepare(tcp); err != nil {
				log.Printf("connection from %s dropped: %v", conn.RemoteAddr(), err)
				_ = conn.Close() // it is broken already
				continue
			}
		}
		l.accepted.Add(1)
		if l.closeDelay > 0 {
			return &delayedClose{conn, l.closeDelay, l.stopping.Done()}, nil
		}
		return conn, nil
	}
}

// Close ends accepting, and the waiting of connections that are to be closed.
func (l *Listener) Close() error {
	l.stop()
	return l.Listener.Close()
}

// prepare sets what package net does not set by itself: it turns Nagle's
// algorithm off on every connection.
func (l *Listener) prepare(conn *net.TCPConn) error {
	if l.nagle {
		if err := conn.SetNoDelay(false); err != nil {
			return err
		}
	}
	if l.first.Load() != nil {
		return nil
	}
	state, err := readSocketState(conn)
	if err != nil {
		return err
	}
	l.first.Store(state)
	return nil
}

func readSocketState(conn *net.TCPConn) (*socketState, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	noDelay, err := getOption(raw, syscall.IPPROTO_TCP, syscall.TCP_NODELAY)
	if err != nil {
		return nil, err
	}
	receive, err := getOption(raw, syscall.SOL_SOCKET, syscall.SO_RCVBUF)
	if err != nil {
		return nil, err
	}
	return &socketState{noDelay == 0, receive}, nil
}

func getOption(raw syscall.RawConn, level, name int) (value int, err error) {
	controlErr := raw.Control(func(fd uintptr) { value, err = syscall.GetsockoptInt(int(fd), level, name) })
	if controlErr != nil {
		return 0, controlErr
	}
	return value, err
}

// setReceiveBuffer sets SO_RCVBUF and refuses a size that the kernel changed:
// it doubles what it is given (socket(7)), and cuts it to net.core.rmem_max.
func setReceiveBuffer(raw syscall.RawConn, bytes int) error {
	var err error
	controlErr := raw.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, bytes)
	})
	if controlErr != nil {
		return controlErr
	}
	if err != nil {
		return err
	}
	kernel, err := getOption(raw, syscall.SOL_SOCKET, syscall.SO_RCVBUF)
	if err != nil {
		return err
	}
	if kernel != 2*bytes {
		return &Refusal{"socket.tcp_window", fmt.Sprintf("the kernel made %d bytes of %d", kernel/2, bytes),
			"choose a size between its smallest and net.core.rmem_max, or null for the kernel's"}
	}
	return nil
}

// address is how a caller names the listener.
func address(listener net.Listener) string {
	if at := listener.Addr(); at.Network() == "unix" {
		return unixPrefix + at.String()
	}
	return listener.Addr().String()
}

// delayedClose is a connection that is closed a while after the service has ended
// it: the peer has what was sent, but not yet the end.
type delayedClose struct {
	net.Conn
	delay time.Duration
	// stopping ends all waiting.
	stopping <-chan struct{}
}

// Close implements net.Conn.
func (c *delayedClose) Close() error {
	timer := time.NewTimer(c.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.stopping:
	}
	return c.Conn.Close()
}
