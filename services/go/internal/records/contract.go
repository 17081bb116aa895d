// Package records is the contract `records` without a wire: students are allocated
// to teams of two, and the teams are stored in memory or in a database.
// contracts/README.md is its definition.
package records

import (
	"fmt"

	"wirelab/services/go/internal/contract"
	pb "wirelab/services/go/recordspb"
)

// The tables at the start.
const (
	partnerRows     = 100
	allocationRows  = 10_001
	groupFirst      = 869_252
	partnerIDFirst  = 113_503
	studentFirst    = 200_000
	textBytesMax    = 1024
	allocateMessage = "Your team has been allocated for the course"
)

// Application errors, in the order in which Allocate checks them.
const (
	ErrEmptyName   contract.ApplicationError = "name must not be empty"
	ErrID          contract.ApplicationError = "id must be positive"
	ErrEmptyCourse contract.ApplicationError = "course code must not be empty"
	ErrTextBytes   contract.ApplicationError = "at most 1024 bytes"
	ErrNoGroup     contract.ApplicationError = "no such group"
)

var partnerNames = [...]string{"Amir", "Beatrice", "Chloe", "Daniel", "Elena", "Farina", "Gustav", "Derek", "Hana", "Ivo"}

// partner is a row of the table of partners.
type partner struct {
	name string
	id   int32
}

func initialPartner(number int32) partner {
	return partner{partnerNames[number%int32(len(partnerNames))], partnerIDFirst + number}
}

// initialTeam is row n of the table of allocations at the start.
func initialTeam(n int32) *pb.Team {
	student := studentFirst + n
	second := initialPartner(student % partnerRows)
	return &pb.Team{Member1: initialPartner(n % partnerRows).name, Member2: second.name, Member1Id: student,
		Member2Id: second.id, CourseCode: fmt.Sprint("CS", 10_000+n%100), GroupId: groupFirst + n}
}

// Store keeps the two tables.
type Store interface {
	// allocate gives the team its second member, the partner of that number, 0 to 99, and
	// stores it under a new group, whose number it sets.
	allocate(team *pb.Team, number int32) error
	// find returns nil where the group is unknown.
	find(group int32) (*pb.Team, error)
	count() (int64, error)
}

// New is the contract on a store.
func New(tables Store) *contract.Contract {
	s := service{tables}
	of := &contract.Contract{
		Name:    "records",
		Service: "Records",
		Operations: []contract.Operation{
			contract.Unary("Allocate", s.allocate),
			contract.Unary("FindAllocation", s.find),
			contract.Unary("CountAllocations", s.count),
		},
	}
	if opened, ok := tables.(*database); ok {
		of.Database = opened.Database
	}
	return of
}

type service struct{ store Store }

func checkAllocation(request *pb.AllocateRequest) error {
	switch {
	case request.GetName() == "":
		return ErrEmptyName
	case request.GetId() < 1:
		return ErrID
	case request.GetCourseCode() == "":
		return ErrEmptyCourse
	case max(len(request.GetName()), len(request.GetCourseCode())) > textBytesMax:
		return ErrTextBytes
	}
	return nil
}

func (s service) allocate(request *pb.AllocateRequest) (*pb.AllocateReply, error) {
	if err := checkAllocation(request); err != nil {
		return nil, err
	}
	team := &pb.Team{Member1: request.GetName(), Member1Id: request.GetId(), CourseCode: request.GetCourseCode()}
	if err := s.store.allocate(team, request.GetId()%partnerRows); err != nil {
		return nil, err
	}
	return &pb.AllocateReply{Message: allocateMessage, TeamDetails: team}, nil
}

func (s service) find(request *pb.FindAllocationRequest) (*pb.FindAllocationReply, error) {
	team, err := s.store.find(request.GetGroupId())
	if err != nil {
		return nil, err
	}
	if team == nil {
		return nil, ErrNoGroup
	}
	return &pb.FindAllocationReply{TeamDetails: team}, nil
}

func (s service) count(*pb.CountAllocationsRequest) (*pb.CountAllocationsReply, error) {
	count, err := s.store.count()
	if err != nil {
		return nil, err
	}
	return &pb.CountAllocationsReply{Count: count}, nil
}
