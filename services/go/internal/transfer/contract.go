// Package transfer is the contract `transfer` without a wire: its texts and
// patterns, and what every operation answers. contracts/README.md is its
// definition.
package transfer

import (
	"net/http"

	"wirelab/services/go/internal/contract"
	pb "wirelab/services/go/transferpb"
)

// New returns the contract with a text of that many bytes. Hello's replies are made
// once, as in the study's service.
func New(helloBytes int) *contract.Contract {
	text := Text(helloBytes)
	hello, raw := &pb.HelloReply{Text: text}, &pb.HelloBytesReply{Text: []byte(text)}
	get, tag := contract.Route{Method: http.MethodGet}, EntityTag(text)
	return &contract.Contract{
		Name:    "transfer",
		Service: "Transfer",
		Operations: []contract.Operation{
			contract.Unary("Hello", func(*pb.HelloRequest) (*pb.HelloReply, error) { return hello, nil }).WithRoute(get).WithEntityTag(tag),
			contract.Unary("HelloBytes", func(*pb.HelloRequest) (*pb.HelloBytesReply, error) { return raw, nil }).WithRoute(get).WithEntityTag(tag),
			contract.Unary("Submit", submit),
			contract.Unary("Upload", upload),
			{Name: "UploadStream", Stream: &contract.Stream{FromClient: true, Serve: uploadStream}},
			{Name: "Download", Stream: &contract.Stream{FromServer: true, Serve: download}},
		},
	}
}

// RecordsMax is the largest number of records of a batch.
const RecordsMax = 100_000

// Application errors of Submit.
const (
	ErrEmptyBatch contract.ApplicationError = "batch must not be empty"
	ErrRecords    contract.ApplicationError = "at most 100000 records"
)

func submit(request *pb.SubmitRequest) (*pb.SubmitReply, error) {
	if len(request.GetRecords()) > contract.ItemsMax {
		return nil, contract.ErrItems
	}
	if request.GetBatch() == "" {
		return nil, ErrEmptyBatch
	}
	if len(request.GetRecords()) > RecordsMax {
		return nil, ErrRecords
	}
	// Not nil, which encoding/json would write as null.
	reply := &pb.SubmitReply{Batch: request.GetBatch(), Refused: []*pb.Refusal{}}
	for _, record := range request.GetRecords() {
		if reason := refusalReason(record); reason != "" {
			reply.Refused = append(reply.Refused, &pb.Refusal{Id: record.GetId(), Reason: reason})
			continue
		}
		reply.Accepted++
		reply.QuantityTotal += int64(record.GetQuantity())
	}
	return reply, nil
}

// refusalReason is empty when the record is accepted.
func refusalReason(record *pb.Record) string {
	if record.GetQuantity() <= 0 {
		return "quantity must be positive"
	}
	if record.GetItem() == "" {
		return "item must not be empty"
	}
	return ""
}
