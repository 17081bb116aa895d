//go:build ignore

// Part 2 of the gRPC task. Run it with: go run grpc/server.go
package main

import (
	"context"
	"log"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"survey/grpc/protos"
)

type sender struct {
	protos.UnimplementedSenderServer
}

func (sender) RetrieveUser(context.Context, *emptypb.Empty) (*protos.User, error) {
	return nil, nil
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:9009")
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	protos.RegisterSenderServer(server, sender{})
	log.Fatal(server.Serve(listener))
}
