//go:build ignore

// The checking service of the gRPC task. Start it with: go run grpc/main.go
//
// Participants do not read or change this file.
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/reflection"
	"google.golang.org/protobuf/types/known/emptypb"

	"survey/grpc/protos"
)

const (
	address     = "127.0.0.1:7070"
	userAddress = "127.0.0.1:9009"
	codeSent    = "CODE-1" // of part 1
	codeServed  = "CODE-2" // of part 2
	timeout     = 5 * time.Second
	wantedID    = 1969
	wantedName  = "Margaret Hamilton"
)

// checker gives one number for as long as it runs.
type checker struct {
	protos.UnimplementedCheckerServer
	number int32
	sender protos.SenderClient
}

func main() {
	connection, err := grpc.NewClient(userAddress, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	protos.RegisterCheckerServer(server, checker{
		number: 1 + rand.Int32N(1000),
		sender: protos.NewSenderClient(connection),
	})
	reflection.Register(server)
	fmt.Println("The checking service listens on " + address + ". Ctrl-C ends it.")
	log.Fatal(server.Serve(listener))
}

func (c checker) GetNumber(context.Context, *emptypb.Empty) (*protos.Number, error) {
	return &protos.Number{Number: c.number}, nil
}

func (c checker) CheckNumber(_ context.Context, received *protos.Number) (*protos.Result, error) {
	if received.GetNumber() != 2*c.number {
		return result("Not yet: received %d, expected twice the number that GetNumber returned.", received.GetNumber())
	}
	return result("Correct! The code of this part is %s.", codeSent)
}

func (c checker) CheckUser(ctx context.Context, _ *emptypb.Empty) (*protos.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	// A server that was started after the last attempt is reached at once.
	found, err := c.sender.RetrieveUser(ctx, &emptypb.Empty{}, grpc.WaitForReady(true))
	if err != nil {
		return result("Not yet: your server did not answer: %v", err)
	}
	if found.GetId() != wantedID || found.GetName() != wantedName {
		return result("Not yet: received id %d and name %q.", found.GetId(), found.GetName())
	}
	return result("Correct! The code of this part is %s.", codeServed)
}

func result(format string, values ...any) (*protos.Result, error) {
	return &protos.Result{Message: fmt.Sprintf(format, values...)}, nil
}
