package workload

import (
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pb "wirelab/services/go/transferpb"
)

// submitRequest has exactly that many bytes as Protocol Buffers. It is the engine's of seed 0
// (crates/contract/src/workload.rs), record by record.
func submitRequest(bytes int) *pb.SubmitRequest {
	writer := newRecordWriter(bytes)
	request := &pb.SubmitRequest{Batch: "B0-ü"}
	left := bytes - proto.Size(request)
	for {
		record := writer.next()
		size := fieldLength(record)
		// The last record fills up to the byte, for which it needs some room.
		if size+lastRecordBytesMin > left {
			break
		}
		left -= size
		request.Records = append(request.Records, record)
	}
	request.Records = append(request.Records, writer.last(&request.Batch, left))
	return request
}

const (
	lastRecordBytesMin = 40
	// prefixGrowthMax: a varint of a 32-bit length has 1 to 5 bytes.
	prefixGrowthMax = 4
	// recordsOfHuge bounds the number of records of huge requests.
	recordsOfHuge = 50_000
	recordBytes   = 20
	refusedEvery  = 16
)

var (
	items = [8]string{"bolt M8", "écrou", "Blech 2 mm", "ナット", "гайка", "čep & kolík", "🔩", `tuerca "fina"`}

	remarks = [8]string{"", "urgent", "für Halle 3", `C:\stock\7`, "在庫なし", "<see drawing>", "la pièce n'est pas peinte", "ΔT ≤ 40 °C, 6 × 9"}
)

// recordWriter makes records of every kind.
type recordWriter struct {
	random uint64
	made   int
	filler string
}

func newRecordWriter(bytes int) *recordWriter {
	w := &recordWriter{}
	if perRecord := bytes / recordsOfHuge; perRecord > recordBytes {
		w.filler = strings.Repeat(".", perRecord)
	}
	return w
}

func (w *recordWriter) next() *pb.Record {
	record := &pb.Record{Id: w.integer(63)}
	quantity := w.integer(31)
	record.Quantity = int32(max(quantity, -quantity, 1))
	record.Item = w.word(&items)
	record.Remark = w.word(&remarks) + w.filler
	// The third of every sixteen, each reason in turn.
	if w.made%refusedEvery == 2 {
		switch w.made / refusedEvery % 3 {
		case 0:
			record.Quantity = 0
		case 1:
			record.Item = ""
		default:
			record.Quantity = -record.Quantity
		}
	}
	w.made++
	return record
}

// last is a record that takes exactly left bytes of the request. Where a length prefix grows,
// one size cannot be had; the batch's name then takes a byte.
func (w *recordWriter) last(batch *string, left int) *pb.Record {
	const closeBytes = 2 + 2*prefixGrowthMax
	record := &pb.Record{Id: 1<<63 - 2, Quantity: 1, Item: w.word(&items)}
	for fieldLength(record) != left {
		step := max(left-fieldLength(record)-closeBytes, 1)
		record.Remark += strings.Repeat(".", step)
		if fieldLength(record) > left {
			record.Remark = record.Remark[1:]
			*batch += "+"
			left--
		}
	}
	return record
}

// fieldLength is what a record takes as field 2 of a request: tag, length, message.
func fieldLength(record *pb.Record) int { return 1 + protowire.SizeBytes(proto.Size(record)) }

// integer is one of any magnitude up to that many bits; one in eight is negative.
func (w *recordWriter) integer(bits uint64) int64 {
	numberDigits, shape := w.output(), w.output()
	magnitude := int64(numberDigits >> (64 - bits + shape%bits))
	if shape>>61 == 0 {
		return -magnitude
	}
	return magnitude
}

func (w *recordWriter) word(words *[8]string) string { return words[w.output()%8] }

// output is the next of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
// Generators, 2014).
func (w *recordWriter) output() uint64 {
	w.random += 0x9E3779B97F4A7C15
	z := w.random
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
