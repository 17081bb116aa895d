// Package service is the Go service as a process: configuration on standard
// input, one line of `ready` or `refused` on standard output, metrics on a
// second port, and an end with the end of standard input
// (docs/reference/process.md).
package service

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"wirelab/services/go/internal/calendar"
	"wirelab/services/go/internal/charging"
	"wirelab/services/go/internal/contract"
	"wirelab/services/go/internal/petclinic"
	"wirelab/services/go/internal/records"
	"wirelab/services/go/internal/store"
	"wirelab/services/go/internal/stream"
	"wirelab/services/go/internal/transfer"
)

// Exit codes of the process.
const (
	exitOK      = 0
	exitFailed  = 1
	exitRefused = 2
)

// grace is the time that calls in flight get when the service is to stop.
const grace = time.Second

// server is what the process asks of a binding.
type server interface {
	// serveOn serves until stop, and then returns nil.
	serveOn(net.Listener) error
	// stop returns when all calls have ended, or after the grace.
	stop(grace time.Duration)
}

// Run is the process from its configuration to its exit code.
func Run(stdin io.Reader, stdout io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	err := run(ctx, stdin, stdout)
	refusal := new(Refusal)
	switch {
	case err == nil:
		return exitOK
	case !errors.As(err, &refusal):
		log.Print(err)
		return exitFailed
	}
	if err := writeLine(stdout, map[string]*Refusal{"refused": refusal}); err != nil {
		log.Printf("%v; and standard output does not take the refusal: %v", refusal, err)
	}
	return exitRefused
}

func run(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	input := bufio.NewReader(stdin)
	config, err := ReadConfig(input)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		// However it ends, nobody is left who could order the stop.
		_, _ = io.Copy(io.Discard, input)
		stop()
	}()
	return serve(ctx, config, stdout)
}

// serve starts what the configuration asks for, prints the ready line, and waits for ctx.
func serve(ctx context.Context, config *Config, stdout io.Writer) error {
	setRuntime(config)
	security, err := newSecurity(config)
	if err != nil {
		return err
	}
	of, err := newContract(config)
	if err != nil {
		return err
	}
	if of.Database != nil {
		defer func() {
			if err := of.Database.Close(); err != nil {
				log.Printf("closing the database: %v", err)
			}
		}()
	}
	calls := newCalls(of, newDelay(config.Faults), config.CodecTimes)
	listener, err := listen(ctx, config, &calls.connections)
	if err != nil {
		return err
	}
	defer listener.Close()
	metrics, err := open(ctx, net.ListenConfig{}, "metrics_listen", config.MetricsListen)
	if err != nil {
		return err
	}
	defer metrics.Close()
	server := newServer(config, of, calls, security)
	broken := make(chan error, 2)
	go func() { broken <- serveMetrics(metrics, calls) }()
	go func() { broken <- server.serveOn(listener) }()
	if err := callSelf(ctx, config, of, address(listener), security); err != nil {
		return unlessStopped(ctx, err)
	}
	forgetSelfCall(calls, security)
	ready, err := newReady(config, listener, metrics, security)
	if err != nil {
		return err
	}
	if err := writeLine(stdout, ready); err != nil {
		return err
	}
	select {
	case err := <-broken:
		return err
	case <-ctx.Done():
		server.stop(grace)
		return nil
	}
}

func newContract(config *Config) (*contract.Contract, error) {
	switch config.Contract {
	case "charging":
		return charging.New(*config.Store.Accounts, int32(*config.Store.Balance)), nil
	case "calendar":
		return calendar.New(), nil
	case "records":
		return openStored(config.Store, records.New, records.NewMemory, records.OpenDatabase)
	case "stream":
		return stream.New(), nil
	case "petclinic":
		return openStored(config.Store, petclinic.New, petclinic.NewMemory, petclinic.OpenDatabase)
	}
	return transfer.New(*config.Store.HelloBytes), nil
}

// openStored returns a contract that keeps rows, on the store that is configured.
func openStored[S any](of Store, contractOn func(S) *contract.Contract, memory func() S,
	database func(store.Settings) (S, error)) (*contract.Contract, error) {
	if of.Kind == "memory" {
		return contractOn(memory()), nil
	}
	tables, err := database(store.Settings{Kind: of.Kind, URL: of.URL, Pool: of.Pool,
		Timeout: time.Duration(*of.TimeoutMs) * time.Millisecond})
	if err != nil {
		return nil, &Refusal{"store.url", "the database " + of.Kind + " cannot be used: " + err.Error(),
			"start the database, or correct store.url"}
	}
	return contractOn(tables), nil
}

func newServer(config *Config, of *contract.Contract, calls *Calls, security *security) server {
	var own *tls.Config
	if security != nil {
		own = security.server
	}
	return bindings[config.Stack.Binding].serve(config, of, calls, own)
}

// unlessStopped passes over errors that only report that the stop came early.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// forgetSelfCall leaves the counters and the heap as if the first real call
// were the first call.
func forgetSelfCall(calls *Calls, security *security) {
	calls.reset()
	if security != nil {
		security.forgetSelf()
	}
	debug.FreeOSMemory()
}

func writeLine(stdout io.Writer, line any) error {
	return json.NewEncoder(stdout).Encode(line)
}
