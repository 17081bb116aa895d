// Package records is the contract `records` without a wire: students are allocated
// to teams of two, and the teams are stored in memory or in a database.
// contracts/README.md is its definition.
package records

import (
	"wirelab/services/go/internal/contract"
	"wirelab/services/go/internal/records/teams"
	pb "wirelab/services/go/recordspb"
)

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

func (s service) allocate(request *pb.AllocateRequest) (*pb.AllocateReply, error) {
	if err := teams.Check(request); err != nil {
		return nil, err
	}
	team := teams.Of(request)
	if err := s.store.allocate(team, request.GetId()%teams.PartnerRows); err != nil {
		return nil, err
	}
	return &pb.AllocateReply{Message: teams.Message, TeamDetails: team}, nil
}

func (s service) find(request *pb.FindAllocationRequest) (*pb.FindAllocationReply, error) {
	team, err := s.store.find(request.GetGroupId())
	if err != nil {
		return nil, err
	}
	if team == nil {
		return nil, teams.ErrNoGroup
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
