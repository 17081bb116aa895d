// Package calendar is the contract `calendar` without a wire: owners with 364
// days of 48 half-hour slots. contracts/README.md is its definition.
package calendar

import (
	"crypto/sha256"
	"encoding/hex"
	"math"

	pb "wirelab/services/go/calendarpb"
	"wirelab/services/go/internal/contract"
)

// Limits of the contract.
const (
	DocumentBytesMax = 1 << 20
	Days             = 364
	Slots            = 48 // of a day
	TextBytesMax     = 1024
	OwnersMax        = 10_000
	// statusDigits of a digest are in the reply of Deploy.
	statusDigits = 49
)

// Application errors, in the order in which Book checks them.
const (
	ErrEmptyDocument contract.ApplicationError = "document must not be empty"
	ErrDocumentBytes contract.ApplicationError = "at most 1048576 bytes"
	ErrEmptyOwner    contract.ApplicationError = "owner must not be empty"
	ErrDay           contract.ApplicationError = "day must be 1 to 364"
	ErrSlot          contract.ApplicationError = "slot must be 0 to 47"
	ErrEmptyTitle    contract.ApplicationError = "title must not be empty"
	ErrTextBytes     contract.ApplicationError = "at most 1024 bytes"
	ErrWeight        contract.ApplicationError = "weight must be finite"
	ErrOwners        contract.ApplicationError = "too many owners"
)

// New is the contract with no entries.
func New() *contract.Contract {
	diary := newDiary()
	return &contract.Contract{
		Name:    "calendar",
		Service: "Calendar",
		Operations: []contract.Operation{
			contract.Unary("Deploy", deploy),
			contract.Unary("Book", diary.book),
			contract.Unary("Entries", diary.entries),
		},
	}
}

func deploy(request *pb.DeployRequest) (*pb.DeployReply, error) {
	document := request.GetDocument()
	if document == "" {
		return nil, ErrEmptyDocument
	}
	if len(document) > DocumentBytesMax {
		return nil, ErrDocumentBytes
	}
	digest := sha256.Sum256([]byte(document))
	return &pb.DeployReply{Status: "deployed " + hex.EncodeToString(digest[:])[:statusDigits]}, nil
}

func checkBooking(request *pb.BookRequest) error {
	switch {
	case request.GetOwner() == "":
		return ErrEmptyOwner
	case request.GetDay() < 1 || request.GetDay() > Days:
		return ErrDay
	case request.GetSlot() < 0 || request.GetSlot() >= Slots:
		return ErrSlot
	case request.GetTitle() == "":
		return ErrEmptyTitle
	case max(len(request.GetOwner()), len(request.GetTitle()), len(request.GetNote())) > TextBytesMax:
		return ErrTextBytes
	case math.IsInf(request.GetWeight(), 0) || math.IsNaN(request.GetWeight()):
		return ErrWeight
	}
	return nil
}
