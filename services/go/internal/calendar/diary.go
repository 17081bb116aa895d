package calendar

import (
	"sync"

	pb "wirelab/services/go/calendarpb"
)

// diary holds the bookings of all owners by their numbers,
// (day - 1) * Slots + slot.
type diary struct {
	lock   sync.RWMutex
	owners map[string]map[int32]booking
}

// booking is an entry, which never changes once it is kept, and the note, which
// no operation shows.
type booking struct {
	entry *pb.Entry
	note  string
}

func newDiary() *diary { return &diary{owners: map[string]map[int32]booking{}} }

func (d *diary) book(request *pb.BookRequest) (*pb.BookReply, error) {
	if err := checkBooking(request); err != nil {
		return nil, err
	}
	number := (request.GetDay()-1)*Slots + request.GetSlot()
	d.lock.Lock()
	defer d.lock.Unlock()
	kept := d.owners[request.GetOwner()]
	if kept == nil {
		if len(d.owners) >= OwnersMax {
			return nil, ErrOwners
		}
		kept = map[int32]booking{}
		d.owners[request.GetOwner()] = kept
	}
	kept[number] = booking{&pb.Entry{Slot: request.GetSlot(), Title: request.GetTitle(),
		Open: request.GetOpen(), Weight: request.GetWeight()}, request.GetNote()}
	return &pb.BookReply{Number: number, Owner: request.GetOwner(), Title: request.GetTitle()}, nil
}

func (d *diary) entries(request *pb.EntriesRequest) (*pb.EntriesReply, error) {
	if request.GetOwner() == "" {
		return nil, ErrEmptyOwner
	}
	if request.GetDay() < 1 || request.GetDay() > Days {
		return nil, ErrDay
	}
	// Not nil, which encoding/json would write as null.
	reply := &pb.EntriesReply{Entries: []*pb.Entry{}}
	d.lock.RLock()
	defer d.lock.RUnlock()
	kept := d.owners[request.GetOwner()]
	for slot := range int32(Slots) {
		if booked, found := kept[(request.GetDay()-1)*Slots+slot]; found {
			reply.Entries = append(reply.Entries, booked.entry)
		}
	}
	return reply, nil
}
