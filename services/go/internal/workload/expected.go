package workload

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	calendarpb "wirelab/services/go/calendarpb"
	chargingpb "wirelab/services/go/chargingpb"
	"wirelab/services/go/internal/calendar"
	"wirelab/services/go/internal/contract"
	"wirelab/services/go/internal/records/teams"
	"wirelab/services/go/internal/transfer"
	recordspb "wirelab/services/go/recordspb"
	transferpb "wirelab/services/go/transferpb"
)

// Call is one call of an operation.
type Call struct {
	Operation *contract.Operation
	// Request is the message; nil where it is a stream of chunks.
	Request proto.Message
	// Data and ChunkBytes are what UploadStream sends, and what Download must answer.
	Data       []byte
	ChunkBytes int
	// answer is the whole reply; nil: rules bind it, which check holds.
	answer proto.Message
	check  func(reply proto.Message) error
	// failure is the application error that the contract demands; nil: none.
	failure error
}

// Check returns what is wrong with a decoded reply. Replies that depend on earlier calls of
// anybody are bound by rules that hold in every state, as in the engine
// (crates/wire/src/codec/expected.rs).
func (c *Call) Check(reply proto.Message) error {
	if c.failure != nil {
		return fmt.Errorf("a reply, not the error %q", c.failure)
	}
	if c.answer == nil {
		return c.check(reply)
	}
	if proto.Equal(c.answer, reply) {
		return nil
	}
	return firstDifference("", c.answer.ProtoReflect(), reply.ProtoReflect())
}

// CheckChunk returns what is wrong with chunk i, from 0, of a Download.
func (c *Call) CheckChunk(i int, data []byte) error {
	from := i * c.ChunkBytes
	if from >= len(c.Data) {
		return fmt.Errorf("chunk %d, but there are %d", i, c.chunks())
	}
	return compareBytes(fmt.Sprintf("data of chunk %d", i), c.Data[from:min(from+c.ChunkBytes, len(c.Data))], data)
}

// CheckChunks returns what is wrong with a Download that ended after that many chunks.
func (c *Call) CheckChunks(received int) error {
	if received != c.chunks() {
		return fmt.Errorf("%d chunks, not %d", received, c.chunks())
	}
	return nil
}

func (c *Call) chunks() int { return (len(c.Data) + c.ChunkBytes - 1) / c.ChunkBytes }

func newCall(operation *contract.Operation, request proto.Message) *Call {
	call := &Call{Operation: operation, Request: request}
	switch ask := request.(type) {
	case *chargingpb.ConfirmActionRequest:
		call.check = func(reply proto.Message) error {
			return checkRange("cn", reply.(*chargingpb.ConfirmActionReply).GetCn(), ask.GetCn(), ask.GetCn())
		}
	case *calendarpb.BookRequest:
		call.answer, call.failure = calendar.MakeBookReply(ask)
	case *recordspb.AllocateRequest:
		allocated, err := allocate(ask)
		call.check, call.failure = checkGroup(allocated), err
	case *recordspb.FindAllocationRequest:
		call.check = checkRules
		// `no such group` is right only as long as nobody has stored that group.
		if n := int64(ask.GetGroupId()) - teams.GroupFirst; n >= 0 && n < teams.AllocationRows {
			call.answer = &recordspb.FindAllocationReply{TeamDetails: teams.Initial(int32(n))}
		}
	case *transferpb.HelloRequest, *transferpb.SubmitRequest, *transferpb.UploadRequest, *calendarpb.DeployRequest:
		call.answer, call.failure = operation.Answer(request)
	default:
		call.check = checkRules
	}
	return call
}

// freshRecords has the operations of records; a fresh service answers the first that way.
func freshRecords() *contract.Contract {
	return &contract.Contract{
		Name:    "records",
		Service: "Records",
		Operations: []contract.Operation{
			contract.Unary("Allocate", allocate),
			contract.Unary[recordspb.FindAllocationRequest, recordspb.FindAllocationReply]("FindAllocation", nil),
			contract.Unary[recordspb.CountAllocationsRequest, recordspb.CountAllocationsReply]("CountAllocations", nil),
		},
	}
}

func allocate(request *recordspb.AllocateRequest) (*recordspb.AllocateReply, error) {
	if err := teams.Check(request); err != nil {
		return nil, err
	}
	team, second := teams.Of(request), teams.InitialPartner(request.GetId()%teams.PartnerRows)
	team.Member2, team.Member2Id, team.GroupId = second.Name, second.ID, teams.GroupFirst+teams.AllocationRows
	return &recordspb.AllocateReply{Message: teams.Message, TeamDetails: team}, nil
}

// checkGroup compares with an allocation whose group is the service's choice, but positive.
func checkGroup(expected *recordspb.AllocateReply) func(proto.Message) error {
	return func(reply proto.Message) error {
		found := reply.(*recordspb.AllocateReply)
		if err := checkRange("teamDetails.groupId", found.GetTeamDetails().GetGroupId(), 1, math.MaxInt32); err != nil {
			return err
		}
		same := proto.CloneOf(expected)
		same.TeamDetails.GroupId = found.GetTeamDetails().GetGroupId()
		if proto.Equal(same, found) {
			return nil
		}
		return firstDifference("", same.ProtoReflect(), found.ProtoReflect())
	}
}

// uploadStream is an Upload in chunks.
func uploadStream(operation *contract.Operation, data []byte, chunkBytes int) *Call {
	call := &Call{Operation: operation, Data: data, ChunkBytes: chunkBytes}
	call.answer, call.failure = transfer.MakeUploadReply(data)
	return call
}

// checkRules: numbers are positive; 0 <= reserved <= balance; no team of the start is lost;
// slots are a day's, in their order.
func checkRules(reply proto.Message) error {
	switch found := reply.(type) {
	case *chargingpb.ReserveReply:
		if err := checkPositive("res", found.GetRes()); err != nil {
			return err
		}
		return checkPositive("cn", found.GetCn())
	case *chargingpb.CreditControlReply:
		if err := checkRange("balance", found.GetBalance(), 0, math.MaxInt32); err != nil {
			return err
		}
		return checkRange("reserved", found.GetReserved(), 0, found.GetBalance())
	case interface{ GetCn() int32 }:
		return checkPositive("cn", found.GetCn())
	case *recordspb.CountAllocationsReply:
		if found.GetCount() < teams.AllocationRows {
			return fmt.Errorf("count is %d, not at least %d", found.GetCount(), teams.AllocationRows)
		}
	case *calendarpb.EntriesReply:
		least := int32(0)
		for k, entry := range found.GetEntries() {
			if err := checkRange(fmt.Sprintf("entries[%d].slot", k), entry.GetSlot(), least, calendar.Slots-1); err != nil {
				return err
			}
			least = entry.GetSlot() + 1
		}
	}
	return nil
}

func checkPositive(field string, found int32) error {
	return checkRange(field, found, 1, math.MaxInt32)
}

func checkRange(field string, found, least, most int32) error {
	switch {
	case least <= found && found <= most:
		return nil
	case least == most:
		return fmt.Errorf("%s is %d, not %d", field, found, least)
	}
	return fmt.Errorf("%s is %d, not %d to %d", field, found, least, most)
}
