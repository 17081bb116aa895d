package service

import (
	"net"
	"sync"
	"time"
)

// patient is a connection that is closed a while after the service has ended
// it: what was sent is with the peer, but not yet the end.
type patient struct {
	net.Conn
	delay time.Duration
	// hurry ends all waiting: the service stops.
	hurry <-chan struct{}
}

// Close implements net.Conn.
func (c *patient) Close() error {
	timer := time.NewTimer(c.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.hurry:
	}
	return c.Conn.Close()
}

// hurry is closed once.
type hurry struct {
	once    sync.Once
	channel chan struct{}
}

func newHurry() *hurry { return &hurry{channel: make(chan struct{})} }

func (h *hurry) up() { h.once.Do(func() { close(h.channel) }) }
