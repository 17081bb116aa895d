package stream

import (
	"context"
	"time"

	"wirelab/services/go/internal/clock"
	"wirelab/services/go/internal/contract"
	pb "wirelab/services/go/streampb"
)

// Limits of Feed, and what it answers beyond them.
const (
	CountMax        = 1_000_000
	TextBytesMax    = 65_536
	bytesMax        = 1 << 30
	gapUsMax        = 60_000_000
	durationUsMax   = 3_600_000_000
	lateAfterNS     = 10_000_000
	nsPerUs         = 1000
	itemsPerBurst   = 10
	gapsOfPause     = 20
	gapsBeforeToken = 8
)

// Application errors of Feed.
const (
	ErrCount     contract.ApplicationError = "count must be 1 to 1000000"
	ErrTextBytes contract.ApplicationError = "bytes must be 0 to 65536"
	ErrGap       contract.ApplicationError = "gap_us must be 0 to 60000000"
	ErrPattern   contract.ApplicationError = "pattern must be constant, bursts, pause or tokens"
	ErrBytes     contract.ApplicationError = "at most 1073741824 bytes"
	ErrDuration  contract.ApplicationError = "at most 3600 s"
)

// schedules are the patterns by their names.
var schedules = map[string]func(*schedule) int64{
	"constant": (*schedule).constant,
	"bursts":   (*schedule).burst,
	"pause":    (*schedule).pause,
	"tokens":   (*schedule).token,
}

func checkFeed(request *pb.FeedRequest) error {
	switch {
	case request.GetCount() < 1 || request.GetCount() > CountMax:
		return ErrCount
	case request.GetBytes() < 0 || request.GetBytes() > TextBytesMax:
		return ErrTextBytes
	case request.GetGapUs() < 0 || request.GetGapUs() > gapUsMax:
		return ErrGap
	case schedules[request.GetPattern()] == nil:
		return ErrPattern
	case int64(request.GetCount())*int64(request.GetBytes()) > bytesMax:
		return ErrBytes
	case int64(request.GetCount())*request.GetGapUs() > durationUsMax:
		return ErrDuration
	}
	return nil
}

// schedule yields the items of a Feed, in their order.
type schedule struct {
	request *pb.FeedRequest
	gapNS   int64
	index   int64
	due     func(*schedule) int64
	// dueNS is when the item before was due, from the receipt of the request.
	dueNS  int64
	random generator
	// firstText is the first state of the generators of texts.
	firstText uint64
}

func newSchedule(request *pb.FeedRequest) *schedule {
	seed := generator(request.GetSeed())
	texts := seed
	return &schedule{request: request, gapNS: request.GetGapUs() * nsPerUs, due: schedules[request.GetPattern()],
		random: seed, firstText: texts.next()}
}

// next is the next item, with its text and the time at which it is due.
func (s *schedule) next() *pb.Item {
	s.dueNS = s.due(s)
	text := generator(s.firstText + uint64(s.index))
	item := &pb.Item{Index: int32(s.index), DueNs: s.dueNS, Text: text.text(int(s.request.GetBytes()))}
	s.index++
	return item
}

func (s *schedule) constant() int64 { return s.index * s.gapNS }

func (s *schedule) burst() int64 { return s.index / itemsPerBurst * itemsPerBurst * s.gapNS }

func (s *schedule) pause() int64 {
	due := s.constant()
	if s.index >= int64(s.request.GetCount()/2) {
		due += gapsOfPause * s.gapNS
	}
	return due
}

func (s *schedule) token() int64 {
	if s.index == 0 {
		return gapsBeforeToken * s.gapNS
	}
	return s.dueNS + nsPerUs*int64(s.random.next()%uint64(2*s.request.GetGapUs()+1))
}

// feed sends every item when it is due. A reader that is slow holds SendMsg up: the
// schedule stays as it is, and nothing but the item in hand is stored.
func (s *service) feed(messages contract.Messages) error {
	request := &pb.FeedRequest{}
	if err := messages.RecvMsg(request); err != nil {
		return err
	}
	receivedNS := clock.NowNS()
	if err := checkFeed(request); err != nil {
		return err
	}
	err := s.sendItems(messages, request, receivedNS)
	if err != nil {
		s.counts.Cancelled.Add(1)
	}
	return err
}

func (s *service) sendItems(messages contract.Messages, request *pb.FeedRequest, receivedNS int64) error {
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for schedule := newSchedule(request); schedule.index < int64(request.GetCount()); {
		item := schedule.next()
		if item.Index == 0 {
			item.ReceivedNs = receivedNS
		}
		dueNS := receivedNS + item.GetDueNs()
		if err := sleepUntil(messages.Context(), alarm, dueNS); err != nil {
			return err
		}
		item.SentNs = clock.NowNS()
		if item.SentNs-dueNS > lateAfterNS {
			s.counts.Late.Add(1)
		}
		if err := messages.SendMsg(item); err != nil {
			return err
		}
		s.counts.Items.Add(1)
	}
	return nil
}

// sleepUntil returns at that time, or with an error when the stream is cancelled. The
// runtime rounds its timers up to milliseconds when every processor is idle
// (runtime/netpoll_epoll.go), as in any service in Go.
func sleepUntil(stream context.Context, alarm *time.Timer, atNS int64) error {
	for left := atNS - clock.NowNS(); left > 0; left = atNS - clock.NowNS() {
		alarm.Reset(time.Duration(left))
		select {
		case <-alarm.C:
		case <-stream.Done():
		}
		if stream.Err() != nil {
			break
		}
	}
	return stream.Err()
}
