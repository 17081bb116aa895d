package service

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/codec"
	"wirelab/services/go/internal/contract"
)

const (
	// batchNsMin: shorter batches grow. Next to them the clock's own time, some 40 ns, does
	// not count.
	batchNsMin = 5_000_000
	runsMax    = 1 << 20
	// codecSecondsMax bounds one measurement.
	codecSecondsMax = 99
)

// codedReply is a reply that a call was answered with, and its codec.
type codedReply struct {
	codec     codec.Codec
	operation *contract.Operation
	message   proto.Message
}

// encode makes the reply's body.
func (c *codedReply) encode() (codec.Body, error) {
	if route := c.operation.Route; route != nil && route.IsList && c.codec.EncodeList != nil {
		return c.codec.EncodeList(c.message)
	}
	return c.codec.Encode(c.message)
}

// batch is a number of runs one after another.
type batch struct {
	Runs int   `json:"runs"`
	Ns   int64 `json:"ns"`
}

// codecTimes is the document of contracts/process/codec-times.schema.json.
type codecTimes struct {
	Operation string  `json:"operation"`
	Bytes     int     `json:"bytes"`
	SHA256    string  `json:"sha256"`
	Encode    []batch `json:"encode"`
	Decode    []batch `json:"decode"`
}

// timeCodec encodes and decodes a reply in turn, without a store and a connection. A list
// is decoded with its name around it, as the codec's messages have it.
func timeCodec(reply *codedReply, lasts time.Duration) (*codecTimes, error) {
	body, err := reply.encode()
	if err != nil {
		return nil, err
	}
	var encoded, object bytes.Buffer
	if _, err := body.WriteTo(&encoded); err != nil {
		return nil, err
	}
	whole, err := reply.codec.Encode(reply.message)
	if err != nil {
		return nil, err
	}
	if _, err := whole.WriteTo(&object); err != nil {
		return nil, err
	}
	digest := sha256.Sum256(encoded.Bytes())
	times := &codecTimes{Operation: reply.operation.Name, Bytes: encoded.Len(), SHA256: hex.EncodeToString(digest[:])}
	encode := func() error {
		_, err := reply.encode()
		return err
	}
	decode := func() error { return reply.codec.Decode(object.Bytes(), reply.operation.NewReply()) }
	for start := time.Now(); ; {
		if err := cmp.Or(addBatch(&times.Encode, encode), addBatch(&times.Decode, decode)); err != nil {
			return nil, err
		}
		if time.Since(start) >= lasts {
			return times, nil
		}
	}
}

// addBatch has as many runs as the last batch, or twice as many where that was short.
func addBatch(into *[]batch, run func() error) error {
	next := batch{Runs: 1}
	if n := len(*into); n > 0 {
		next.Runs = (*into)[n-1].Runs
		if (*into)[n-1].Ns < batchNsMin && next.Runs < runsMax {
			next.Runs *= 2
		}
	}
	start := time.Now()
	for range next.Runs {
		if err := run(); err != nil {
			return err
		}
	}
	next.Ns = int64(time.Since(start))
	*into = append(*into, next)
	return nil
}

// serveCodecTimes answers GET /codec-times?operation=NAME&seconds=S by the last reply of
// that operation.
func serveCodecTimes(w http.ResponseWriter, request *http.Request, calls *Calls) {
	query := request.URL.Query()
	reply := calls.reply(query.Get("operation"))
	seconds, err := strconv.ParseFloat(query.Get("seconds"), 64)
	switch {
	case reply == nil:
		http.Error(w, "no reply of that operation is kept", http.StatusNotFound)
		return
	case err != nil || !(seconds >= 0 && seconds <= codecSecondsMax): // NaN is neither
		http.Error(w, "seconds must be a number from 0 to 99", http.StatusBadRequest)
		return
	}
	times, err := timeCodec(reply, time.Duration(seconds*float64(time.Second)))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(times); err != nil {
		log.Printf("codec times not sent: %v", err)
	}
}
