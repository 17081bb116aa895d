// Command service answers one operation. It reads its sample reply, listens, and ends on SIGTERM.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// grace is the time that calls in flight get when the service is to stop.
const grace = time.Second

// gogc: of Go's collector, its default, whatever the environment has.
const gogc = 100

// processorsMax bounds the option.
const processorsMax = 1024

type options struct {
	binding, codec, host, reply, compression, transport, numbered string
	port, processors                                              int
}

func (o *options) inText() bool { return o.numbered == "text" }

// server is what a binding offers.
type server interface {
	// serveOn serves until stop, and then returns nil.
	serveOn(net.Listener) error
	stop(grace time.Duration)
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("service: ")
	chosen, err := readOptions(os.Args[1:])
	if err != nil {
		log.Print(err)
		os.Exit(2)
	}
	if err := run(chosen); err != nil {
		log.Fatal(err)
	}
}

func readOptions(arguments []string) (*options, error) {
	o, flags := &options{}, flag.NewFlagSet("service", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.binding, "binding", "", "rest, soap or grpc")
	flags.StringVar(&o.codec, "codec", "", "of the messages")
	flags.StringVar(&o.host, "host", "127.0.0.1", "address to listen on")
	flags.IntVar(&o.port, "port", 0, "port to listen on")
	flags.StringVar(&o.reply, "reply", "", "file with the sample reply")
	flags.StringVar(&o.compression, "compression", "none", "none, gzip or zstd")
	flags.StringVar(&o.transport, "transport", "", "http/1.1 or http/2")
	flags.StringVar(&o.numbered, "numbered", "numbers", "numbers or text")
	flags.IntVar(&o.processors, "processors", runtime.NumCPU(), "threads that run the service")
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	if o.transport == "" {
		o.transport = map[bool]string{true: "http/2", false: "http/1.1"}[o.binding == "grpc"]
	}
	return o, o.check(flags.NArg())
}

// check finds the first option that cannot be honoured.
func (o *options) check(others int) error {
	transports := []string{"http/1.1", "http/2"}
	if o.binding == "grpc" {
		transports = transports[1:]
	}
	switch {
	case others > 0:
		return errors.New("only options are accepted")
	case !slices.Contains(stacks[o.binding], o.codec):
		return fmt.Errorf("binding %q with codec %q is not offered", o.binding, o.codec)
	case !slices.Contains([]string{"none", "gzip", "zstd"}, o.compression):
		return fmt.Errorf("compression %q is not none, gzip or zstd", o.compression)
	case !slices.Contains(transports, o.transport):
		return fmt.Errorf("transport %q is not of binding %s", o.transport, o.binding)
	case !slices.Contains([]string{"numbers", "text"}, o.numbered):
		return fmt.Errorf("numbered %q is not numbers or text", o.numbered)
	case o.port < 1 || o.port > 65_535:
		return fmt.Errorf("port %d is not 1 to 65535", o.port)
	case o.processors < 1 || o.processors > processorsMax:
		return fmt.Errorf("processors %d is not 1 to %d", o.processors, processorsMax)
	case o.reply == "":
		return errors.New("reply is missing: it names the file with the sample reply")
	}
	return nil
}

func run(of *options) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	runtime.GOMAXPROCS(of.processors)
	debug.SetGCPercent(gogc)
	serving, err := newServer(of)
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", of.reply, err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(of.host, strconv.Itoa(of.port)))
	if err != nil {
		return err
	}
	broken := make(chan error, 1)
	go func() { broken <- serving.serveOn(listener) }()
	select {
	case err := <-broken:
		return err
	case <-ctx.Done():
		serving.stop(grace)
		return nil
	}
}

func newServer(of *options) (server, error) {
	sample, err := os.ReadFile(of.reply)
	if err != nil {
		return nil, err
	}
	if of.binding == "grpc" {
		return newGRPC(of, sample)
	}
	answer, err := newExchange(codecs[of.codec], sample, of.inText())
	if err != nil {
		return nil, err
	}
	return newWeb(of, answer), nil
}
