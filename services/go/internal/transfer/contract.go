// Package transfer is the contract `transfer` without a wire: its texts and
// patterns, and what every operation answers. contracts/README.md is its
// definition.
package transfer

import (
	"net/http"

	"wirelab/services/go/internal/contract"
	pb "wirelab/services/go/transferpb"
)

// New is the contract with a text of that many bytes. Hello's replies are made
// once, as in the study's service.
func New(helloBytes int) *contract.Contract {
	text := Text(helloBytes)
	hello, raw := &pb.HelloReply{Text: text}, &pb.HelloBytesReply{Text: []byte(text)}
	get := contract.Route{Method: http.MethodGet}
	return &contract.Contract{
		Name:    "transfer",
		Service: "Transfer",
		Operations: []contract.Operation{
			contract.Unary("Hello", func(*pb.HelloRequest) (*pb.HelloReply, error) { return hello, nil }).Routed(get),
			contract.Unary("HelloBytes", func(*pb.HelloRequest) (*pb.HelloBytesReply, error) { return raw, nil }).Routed(get),
			contract.Unary("Submit", submit),
			contract.Unary("Upload", upload),
			{Name: "UploadStream", Stream: &contract.Stream{FromClient: true, Serve: uploadStream}},
			{Name: "Download", Stream: &contract.Stream{FromServer: true, Serve: download}},
		},
	}
}
