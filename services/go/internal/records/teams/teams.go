// Package teams is what the contract `records` says of teams without the tables that they
// are stored in.
package teams

import (
	"fmt"

	"wirelab/services/go/internal/contract"
	pb "wirelab/services/go/recordspb"
)

// The tables at the start: rows of partners, rows of allocations and the group of the first.
const (
	PartnerRows    = 100
	AllocationRows = 10_001
	GroupFirst     = 869_252
)

// Message is the confirmation of every allocation.
const Message = "Your team has been allocated for the course"

const (
	partnerIDFirst = 113_503
	studentFirst   = 200_000
)

// TextBytesMax bounds names and course codes, in bytes of UTF-8.
const TextBytesMax = 1024

// Application errors, in the order in which Allocate checks them.
const (
	ErrEmptyName   contract.ApplicationError = "name must not be empty"
	ErrID          contract.ApplicationError = "id must be positive"
	ErrEmptyCourse contract.ApplicationError = "course code must not be empty"
	ErrTextBytes   contract.ApplicationError = "at most 1024 bytes"
	ErrNoGroup     contract.ApplicationError = "no such group"
)

var partnerNames = [...]string{"Amir", "Beatrice", "Chloe", "Daniel", "Elena", "Farina", "Gustav", "Derek", "Hana", "Ivo"}

// Partner is a row of the table of partners.
type Partner struct {
	Name string
	ID   int32
}

// InitialPartner is the row of that number, 0 to 99, as it is at the start.
func InitialPartner(number int32) Partner {
	return Partner{partnerNames[number%int32(len(partnerNames))], partnerIDFirst + number}
}

// Initial is row n of the table of allocations at the start.
func Initial(n int32) *pb.Team {
	student := studentFirst + n
	second := InitialPartner(student % PartnerRows)
	return &pb.Team{Member1: InitialPartner(n % PartnerRows).Name, Member2: second.Name, Member1Id: student,
		Member2Id: second.ID, CourseCode: fmt.Sprint("CS", 10_000+n%100), GroupId: GroupFirst + n}
}

// Check returns the first application error that applies.
func Check(request *pb.AllocateRequest) error {
	switch {
	case request.GetName() == "":
		return ErrEmptyName
	case request.GetId() < 1:
		return ErrID
	case request.GetCourseCode() == "":
		return ErrEmptyCourse
	case max(len(request.GetName()), len(request.GetCourseCode())) > TextBytesMax:
		return ErrTextBytes
	}
	return nil
}

// Of is the request's team, without its second member and group.
func Of(request *pb.AllocateRequest) *pb.Team {
	return &pb.Team{Member1: request.GetName(), Member1Id: request.GetId(), CourseCode: request.GetCourseCode()}
}
