package stream

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/clock"
	"wirelab/services/go/internal/contract"
	pb "wirelab/services/go/streampb"
)

// vectors is contracts/vectors/streams.json.
type vectors struct {
	Feeds []struct {
		Name    string
		Request *pb.FeedRequest
		Items   []*pb.Item
	}
	Refused []struct {
		Name    string
		Request *pb.FeedRequest
		Error   string
	}
	Pushes []struct {
		Name  string
		Items []*pb.Item
		Reply *pb.PushReply
		Error string
	}
}

func readVectors(t *testing.T) (read vectors) {
	t.Helper()
	text, err := os.ReadFile("../../../../contracts/vectors/streams.json")
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	if err != nil || len(read.Feeds) == 0 || len(read.Refused) == 0 || len(read.Pushes) == 0 {
		t.Fatalf("%v: %d feeds, %d refused, %d pushes", err, len(read.Feeds), len(read.Refused), len(read.Pushes))
	}
	return read
}

func TestItemsAreThoseOfTheVectors(t *testing.T) {
	for _, row := range readVectors(t).Feeds {
		if err := checkFeed(row.Request); err != nil {
			t.Errorf("%s: %v", row.Name, err)
		}
		schedule := newSchedule(row.Request)
		for _, want := range row.Items {
			if item := schedule.next(); !proto.Equal(item, want) {
				t.Errorf("%s: %v, want %v", row.Name, item, want)
			}
		}
	}
}

func TestRequestsBeyondALimitAreRefusedByName(t *testing.T) {
	for _, row := range readVectors(t).Refused {
		err := New().Operations[0].Stream.Serve(newScript(t, row.Request))
		if !errors.As(err, new(contract.ApplicationError)) || err.Error() != row.Error {
			t.Errorf("%s: %v, want %s", row.Name, err, row.Error)
		}
	}
}

func TestPushesAreThoseOfTheVectors(t *testing.T) {
	for _, row := range readVectors(t).Pushes {
		client := newScript(t)
		for _, item := range row.Items {
			client.requests = append(client.requests, item)
		}
		err := New().Operations[1].Stream.Serve(client)
		if row.Error != "" {
			if err == nil || err.Error() != row.Error || len(client.replies) != 0 {
				t.Errorf("%s: %v and %v, want %s", row.Name, err, client.replies, row.Error)
			}
			continue
		}
		if err != nil || len(client.replies) != 1 || !proto.Equal(client.replies[0], row.Reply) {
			t.Errorf("%s: %v, %v", row.Name, err, client.replies)
		}
	}
}

func TestIntakeEndsAtItsBounds(t *testing.T) {
	full := &intake{count: CountMax}
	if err := full.add(&pb.Item{Index: CountMax}); err != ErrItems {
		t.Errorf("item %d: %v", CountMax, err)
	}
	long := string(make([]byte, TextBytesMax+1))
	if err := newIntake().add(&pb.Item{Text: long}); err != ErrText {
		t.Errorf("text of %d bytes: %v", len(long), err)
	}
	if err := newIntake().add(&pb.Item{Text: long[1:]}); err != nil {
		t.Errorf("text of %d bytes: %v", len(long)-1, err)
	}
	many := newIntake()
	many.bytes = bytesMax - 1
	if err := many.add(&pb.Item{Text: "ab"}); err != ErrBytes {
		t.Errorf("one byte too many: %v", err)
	}
}

func TestItemsHaveTheirTimesAndAreNeverEarly(t *testing.T) {
	of := New()
	client := newScript(t, &pb.FeedRequest{Count: 20, Bytes: 3, GapUs: 500, Pattern: "bursts"})
	before := clock.NowNS()
	if err := of.Operations[0].Stream.Serve(client); err != nil {
		t.Fatal(err)
	}
	received := client.replies[0].(*pb.Item).GetReceivedNs()
	if received < before || received > clock.NowNS() {
		t.Errorf("received at %d, called at %d", received, before)
	}
	for i, reply := range client.replies {
		item := reply.(*pb.Item)
		if item.GetSentNs() < received+item.GetDueNs() {
			t.Errorf("item %d was sent %d ns early", i, received+item.GetDueNs()-item.GetSentNs())
		}
		if i > 0 && item.GetReceivedNs() != 0 {
			t.Errorf("item %d has the receipt of the request too", i)
		}
	}
	if of.Streams.Items.Load() != 20 || of.Streams.Cancelled.Load() != 0 {
		t.Errorf("%d items, %d cancelled", of.Streams.Items.Load(), of.Streams.Cancelled.Load())
	}
}

func TestASlowReaderDelaysItemsAndIsCounted(t *testing.T) {
	of := New()
	client := newScript(t, &pb.FeedRequest{Count: 4, GapUs: 0, Pattern: "constant"})
	client.slow = 15 * time.Millisecond
	if err := of.Operations[0].Stream.Serve(client); err != nil || len(client.replies) != 4 {
		t.Fatalf("%v, %d items", err, len(client.replies))
	}
	if late := of.Streams.Late.Load(); late != 3 {
		t.Errorf("%d items late, want 3", late)
	}
}

func TestACancelledFeedEndsAtOnce(t *testing.T) {
	of := New()
	client := newScript(t, &pb.FeedRequest{Count: 2, GapUs: 60_000_000, Pattern: "constant"})
	cancelled, cancel := context.WithCancel(t.Context())
	client.ctx = cancelled
	time.AfterFunc(20*time.Millisecond, cancel)
	start := time.Now()
	err := of.Operations[0].Stream.Serve(client)
	if !errors.Is(err, context.Canceled) || time.Since(start) > 30*time.Second || of.Streams.Cancelled.Load() != 1 {
		t.Errorf("%v after %v, %d cancelled", err, time.Since(start), of.Streams.Cancelled.Load())
	}
}

func TestChatAnswersEachItemWithItsText(t *testing.T) {
	of := New()
	client := newScript(t, &pb.Item{Text: "ü"}, &pb.Item{Index: 1, Text: "b"})
	if err := of.Operations[2].Stream.Serve(client); err != nil || len(client.replies) != 2 {
		t.Fatalf("%v, %d items", err, len(client.replies))
	}
	for i, reply := range client.replies {
		item := reply.(*pb.Item)
		if item.GetIndex() != int32(i) || item.GetText() != client.requests[i].(*pb.Item).GetText() ||
			item.GetReceivedNs() == 0 || item.GetSentNs() < item.GetReceivedNs() || item.GetDueNs() != 0 {
			t.Errorf("item %d: %v", i, item)
		}
	}
	err := of.Operations[2].Stream.Serve(newScript(t, &pb.Item{Index: 1}))
	if err != ErrIndex || of.Streams.Cancelled.Load() != 0 {
		t.Errorf("%v, %d cancelled", err, of.Streams.Cancelled.Load())
	}
}

// script is a client whose messages are known, and which keeps those of the service.
type script struct {
	ctx      context.Context
	requests []proto.Message
	received int
	replies  []proto.Message
	// slow is how long the client takes for a message.
	slow time.Duration
}

func newScript(t *testing.T, requests ...proto.Message) *script {
	t.Helper()
	return &script{ctx: t.Context(), requests: requests}
}

func (s *script) Context() context.Context { return s.ctx }

func (s *script) RecvMsg(into any) error {
	if s.received == len(s.requests) {
		return io.EOF
	}
	proto.Merge(into.(proto.Message), s.requests[s.received])
	s.received++
	return nil
}

func (s *script) SendMsg(message any) error {
	time.Sleep(s.slow)
	s.replies = append(s.replies, message.(proto.Message))
	return nil
}
