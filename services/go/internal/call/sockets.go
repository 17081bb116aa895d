package call

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
)

// sockets opens the connections of a group and counts what goes over them.
type sockets struct {
	opened, open, peak atomic.Int64
	sent, received     atomic.Int64
	// connected hears how long a connection took to set up.
	connected func(ns int64)
}

// dial is DialContext of net/http and grpc-go. Nagle's algorithm is off, as
// package net leaves it.
func (s *sockets) dial(ctx context.Context, network, address string) (net.Conn, error) {
	began := nowNS()
	connection, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	s.connected(nowNS() - began)
	s.opened.Add(1)
	open := s.open.Add(1)
	for peak := s.peak.Load(); open > peak && !s.peak.CompareAndSwap(peak, open); peak = s.peak.Load() {
	}
	return &counted{Conn: connection, of: s}, nil
}

// counted is a connection whose bytes are counted.
type counted struct {
	net.Conn
	of     *sockets
	closed sync.Once
}

func (c *counted) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	c.of.received.Add(int64(n))
	return n, err
}

func (c *counted) Write(from []byte) (int, error) {
	n, err := c.Conn.Write(from)
	c.of.sent.Add(int64(n))
	return n, err
}

func (c *counted) Close() error {
	c.closed.Do(func() { c.of.open.Add(-1) })
	return c.Conn.Close()
}
