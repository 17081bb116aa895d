package transfer

import (
	"wirelab/services/go/internal/contract"
	pb "wirelab/services/go/transferpb"
)

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
