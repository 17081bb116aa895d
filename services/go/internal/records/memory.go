package records

import (
	"sync"

	pb "wirelab/services/go/recordspb"
)

// keptMax new teams can be found in memory; older ones are overwritten, but counted.
const keptMax = 1_000_000

// memory is the store without a database.
type memory struct {
	lock     sync.RWMutex
	inserted int64
	// kept holds new teams in the order of their groups, as a ring once it is full.
	kept []*pb.Team
}

// NewMemory is a store without a database.
func NewMemory() Store { return &memory{} }

func (m *memory) allocate(team *pb.Team, number int32) error {
	second := initialPartner(number)
	team.Member2, team.Member2Id = second.name, second.id
	m.lock.Lock()
	defer m.lock.Unlock()
	team.GroupId = groupFirst + allocationRows + int32(m.inserted)
	if len(m.kept) < keptMax {
		m.kept = append(m.kept, team)
	} else {
		m.kept[m.inserted%keptMax] = team
	}
	m.inserted++
	return nil
}

func (m *memory) find(group int32) (*pb.Team, error) {
	// In 64 bits, because group may be any int32.
	n := int64(group) - groupFirst
	if n < 0 {
		return nil, nil
	}
	if n < allocationRows {
		return initialTeam(int32(n)), nil
	}
	n -= allocationRows
	m.lock.RLock()
	defer m.lock.RUnlock()
	if n >= m.inserted || n < m.inserted-keptMax {
		return nil, nil
	}
	return m.kept[n%keptMax], nil
}

func (m *memory) count() (int64, error) {
	m.lock.RLock()
	defer m.lock.RUnlock()
	return allocationRows + m.inserted, nil
}
