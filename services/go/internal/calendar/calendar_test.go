package calendar

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "wirelab/services/go/calendarpb"
)

func TestDeploy(t *testing.T) {
	for document, want := range map[string]error{
		"":                                        ErrEmptyDocument,
		strings.Repeat("x", DocumentBytesMax):     nil,
		strings.Repeat("x", DocumentBytesMax+1):   ErrDocumentBytes,
		strings.Repeat("ü", DocumentBytesMax/2):   nil,
		strings.Repeat("ü", DocumentBytesMax/2+1): ErrDocumentBytes,
	} {
		if _, err := deploy(&pb.DeployRequest{Document: document}); err != want {
			t.Errorf("%d bytes: %v, want %v", len(document), err, want)
		}
	}
	// SHA-256 of `abc` is in FIPS 180-2, appendix B.1.
	reply, err := deploy(&pb.DeployRequest{Document: "abc"})
	if err != nil || reply.GetStatus() != "deployed ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb" {
		t.Errorf("%v, %v", reply, err)
	}
}

func makeBooking(changes ...func(*pb.BookRequest)) *pb.BookRequest {
	request := &pb.BookRequest{Owner: "o", Day: 364, Slot: 47, Title: "t", Weight: 0.5, Note: "n"}
	for _, change := range changes {
		change(request)
	}
	return request
}

// TestErrorsInTheOrderOfTheContract breaks one rule after the other, from the
// last to the first: each time the earlier one is returned.
func TestErrorsInTheOrderOfTheContract(t *testing.T) {
	diary := newDiary()
	for i := range OwnersMax {
		if _, err := diary.book(makeBooking(func(r *pb.BookRequest) { r.Owner = fmt.Sprint("o", i) })); err != nil {
			t.Fatal(err)
		}
	}
	long := strings.Repeat("x", TextBytesMax+1)
	request := makeBooking(func(r *pb.BookRequest) { r.Owner = strings.Repeat("x", TextBytesMax) })
	for _, rule := range []struct {
		breaks func()
		want   error
	}{
		{func() {}, ErrOwners},
		{func() { request.Weight = math.NaN() }, ErrWeight},
		{func() { request.Weight = math.Inf(-1) }, ErrWeight},
		{func() { request.Note = long }, ErrTextBytes},
		{func() { request.Note, request.Owner = "", long }, ErrTextBytes},
		{func() { request.Title = "" }, ErrEmptyTitle},
		{func() { request.Slot = Slots }, ErrSlot},
		{func() { request.Slot = -1 }, ErrSlot},
		{func() { request.Day = Days + 1 }, ErrDay},
		{func() { request.Day = 0 }, ErrDay},
		{func() { request.Owner = "" }, ErrEmptyOwner},
	} {
		rule.breaks()
		if _, err := diary.book(request); err != rule.want {
			t.Errorf("%v, want %v", err, rule.want)
		}
	}
	if _, err := diary.book(makeBooking(func(r *pb.BookRequest) { r.Owner = "o0" })); err != nil {
		t.Errorf("an owner that is known: %v", err)
	}
	for request, want := range map[*pb.EntriesRequest]error{{}: ErrEmptyOwner, {Owner: "o"}: ErrDay,
		{Owner: "o", Day: Days + 1}: ErrDay, {Owner: "nobody", Day: Days}: nil} {
		if reply, err := diary.entries(request); err != want || err == nil && (reply.Entries == nil || len(reply.Entries) > 0) {
			t.Errorf("%v: %v, %v", request, reply, err)
		}
	}
}

func TestEntriesAreSortedAndReplaced(t *testing.T) {
	diary := newDiary()
	for _, slot := range []int32{47, 3, 0, 3} {
		reply, err := diary.book(makeBooking(func(r *pb.BookRequest) {
			r.Day, r.Slot, r.Title, r.Open = 2, slot, fmt.Sprint("t", len(diary.owners["o"])), slot == 3
		}))
		if err != nil || reply.GetNumber() != 48+slot {
			t.Fatal(reply, err)
		}
	}
	reply, err := diary.entries(&pb.EntriesRequest{Owner: "o", Day: 2})
	want := &pb.EntriesReply{Entries: []*pb.Entry{{Slot: 0, Title: "t2", Weight: 0.5},
		{Slot: 3, Title: "t3", Open: true, Weight: 0.5}, {Slot: 47, Title: "t0", Weight: 0.5}}}
	if err != nil || !proto.Equal(reply, want) {
		t.Errorf("%v, %v", reply, err)
	}
	for _, day := range []int32{1, 3} {
		if reply, err := diary.entries(&pb.EntriesRequest{Owner: "o", Day: day}); err != nil || len(reply.GetEntries()) != 0 {
			t.Errorf("day %d: %v, %v", day, reply, err)
		}
	}
}

func TestManyOwnersAtOnce(t *testing.T) {
	diary := newDiary()
	var done sync.WaitGroup
	for worker := range 8 {
		done.Go(func() {
			for slot := range int32(Slots) {
				owner := fmt.Sprint("o", (worker+int(slot))%4)
				if _, err := diary.book(makeBooking(func(r *pb.BookRequest) { r.Owner, r.Slot = owner, slot })); err != nil {
					t.Error(err)
				}
				if _, err := diary.entries(&pb.EntriesRequest{Owner: owner, Day: Days}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	count := 0
	for _, kept := range diary.owners {
		count += len(kept)
	}
	// Each slot was booked for owners of two workers each, all four of them.
	if count != 4*Slots {
		t.Errorf("%d entries", count)
	}
}
