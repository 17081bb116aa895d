// Package stream is the contract `stream` without a wire: items that are due at known
// times, and items of the client. contracts/README.md is its definition.
package stream

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"

	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/clock"
	"wirelab/services/go/internal/contract"
	pb "wirelab/services/go/streampb"
)

type service struct{ counts *contract.StreamCounts }

// New returns the contract.
func New() *contract.Contract {
	s := &service{&contract.StreamCounts{}}
	return &contract.Contract{
		Name:    "stream",
		Service: "Stream",
		Streams: s.counts,
		Operations: []contract.Operation{
			{Name: "Feed", NewRequest: func() proto.Message { return &pb.FeedRequest{} }, NewReply: newItem,
				Stream: &contract.Stream{FromServer: true, OverHTTP: true, Serve: s.feed}},
			{Name: "Push", NewRequest: newItem, NewReply: func() proto.Message { return &pb.PushReply{} },
				Stream: &contract.Stream{FromClient: true, OverHTTP: true, Serve: s.push}},
			{Name: "Chat", NewRequest: newItem, NewReply: newItem,
				Stream: &contract.Stream{FromClient: true, FromServer: true, Serve: s.chat}},
		},
	}
}

func newItem() proto.Message { return &pb.Item{} }

// Application errors of Push and Chat, and ErrBytes.
const (
	ErrIndex contract.ApplicationError = "items must be numbered from 0 without gaps"
	ErrItems contract.ApplicationError = "at most 1000000 items"
	ErrText  contract.ApplicationError = "at most 65536 bytes in a text"
)

// intake checks the items of a client, and sums them up.
type intake struct {
	count  int32
	bytes  int64
	digest hash.Hash
}

func newIntake() *intake { return &intake{digest: sha256.New()} }

func (i *intake) add(item *pb.Item) error {
	text := item.GetText()
	switch {
	case item.GetIndex() != i.count:
		return ErrIndex
	case i.count == CountMax:
		return ErrItems
	case len(text) > TextBytesMax:
		return ErrText
	case i.bytes+int64(len(text)) > bytesMax:
		return ErrBytes
	}
	i.count++
	i.bytes += int64(len(text))
	_, _ = io.WriteString(i.digest, text) // a hash never fails (package hash)
	return nil
}

func (i *intake) reply() *pb.PushReply {
	return &pb.PushReply{Count: i.count, Bytes: i.bytes, Sha256: hex.EncodeToString(i.digest.Sum(nil))}
}

func (s *service) push(messages contract.Messages) error {
	taken := newIntake()
	for {
		item := &pb.Item{}
		err := messages.RecvMsg(item)
		if errors.Is(err, io.EOF) {
			return messages.SendMsg(taken.reply())
		}
		if err == nil {
			err = taken.add(item)
		}
		if err != nil {
			return err
		}
	}
}

// chat answers each item at once. While the client does not read, no further item is
// received.
func (s *service) chat(messages contract.Messages) error {
	for taken := newIntake(); ; {
		item := &pb.Item{}
		err := messages.RecvMsg(item)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = s.answer(messages, taken, item)
		}
		if err != nil {
			if !errors.As(err, new(contract.ApplicationError)) {
				s.counts.Cancelled.Add(1)
			}
			return err
		}
	}
}

func (s *service) answer(messages contract.Messages, taken *intake, item *pb.Item) error {
	receivedNS := clock.NowNS()
	if err := taken.add(item); err != nil {
		return err
	}
	err := messages.SendMsg(&pb.Item{Index: item.GetIndex(), ReceivedNs: receivedNS, SentNs: clock.NowNS(),
		Text: item.GetText()})
	if err == nil {
		s.counts.Items.Add(1)
	}
	return err
}
