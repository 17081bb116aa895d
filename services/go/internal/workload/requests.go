package workload

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	calendarpb "wirelab/services/go/calendarpb"
	chargingpb "wirelab/services/go/chargingpb"
	"wirelab/services/go/internal/calendar"
	"wirelab/services/go/internal/contract"
	"wirelab/services/go/internal/records/teams"
	"wirelab/services/go/internal/transfer"
	recordspb "wirelab/services/go/recordspb"
	transferpb "wirelab/services/go/transferpb"
)

// Sizes that requests may have, in bytes.
const (
	helloBytesMax  = 64 << 20
	submitBytesMin = 100
	submitBytesMax = 64 << 20
)

func isHello(operation string) bool { return operation == "Hello" || operation == "HelloBytes" }

// isCarried: it takes a number that only an earlier reply can give.
func isCarried(operation string) bool {
	return operation == "DebitReservation" || operation == "ReleaseRes" || operation == "ConfirmAction"
}

// makeFixedCall is the call of an operation whose large part has that many bytes.
func makeFixedCall(operation *contract.Operation, bytes, chunkBytes int64) (*Call, error) {
	name := operation.Name
	least, most, isSized := sizes(name)
	switch {
	case !isSized && bytes != 0:
		return nil, fmt.Errorf("bytes = %d: requests of %s have one size; use bytes = 0", bytes, name)
	case isSized && (bytes < least || bytes > most):
		return nil, sizeError(name, bytes, least, most)
	case operation.Stream != nil && (chunkBytes < 1 || chunkBytes > transfer.ChunkBytesMax):
		return nil, fmt.Errorf("chunk_bytes = %d: chunks hold 1 to %d bytes", chunkBytes, transfer.ChunkBytesMax)
	}
	switch name {
	case "UploadStream":
		return uploadStream(operation, pattern(bytes), int(chunkBytes)), nil
	case "Download":
		return &Call{
			Operation: operation, Data: pattern(bytes), ChunkBytes: int(chunkBytes),
			Request: &transferpb.DownloadRequest{Length: bytes, ChunkBytes: int32(chunkBytes)},
		}, nil
	}
	return newCall(operation, makeFixedRequest(name, bytes)), nil
}

// sizes that the large part of an operation may have; false: it has none.
func sizes(operation string) (least, most int64, isSized bool) {
	switch operation {
	case "Hello", "HelloBytes":
		return 0, helloBytesMax, true
	case "Submit":
		return submitBytesMin, submitBytesMax, true
	case "Upload", "UploadStream", "Download":
		return 0, transfer.BytesMax, true
	case "Deploy":
		return 0, calendar.DocumentBytesMax, true
	}
	return 0, 0, false
}

func sizeError(operation string, bytes, least, most int64) error {
	return fmt.Errorf("bytes = %d: %s takes %d to %d bytes", bytes, operation, least, most)
}

func makeFixedRequest(operation string, bytes int64) proto.Message {
	switch operation {
	case "Hello", "HelloBytes":
		return &transferpb.HelloRequest{}
	case "Submit":
		return submitRequest(int(bytes))
	case "Upload":
		return &transferpb.UploadRequest{Data: pattern(bytes)}
	case "Deploy":
		if bytes > 0 {
			return &calendarpb.DeployRequest{Document: transfer.Text(int(bytes))}
		}
		return deploy()
	case "Book":
		return book(0, 0)
	case "Entries":
		first := book(0, 0)
		return &calendarpb.EntriesRequest{Owner: first.GetOwner(), Day: first.GetDay()}
	case "Allocate":
		// The student of Jagannathan (2022), figure 2.1.
		return &recordspb.AllocateRequest{Name: "Alice", Id: 113_517, CourseCode: "CS31245"}
	case "FindAllocation":
		return &recordspb.FindAllocationRequest{GroupId: teams.GroupFirst}
	case "CountAllocations":
		return &recordspb.CountAllocationsRequest{}
	}
	return chargingRequest(operation, 1, nil)
}

func pattern(bytes int64) []byte {
	data := make([]byte, bytes)
	transfer.FillPattern(0, data)
	return data
}

// Amounts of Elfwing and Paulsson (2002), appendix C.
const (
	creditAmount      = 147
	directDebitAmount = 438
	reservedAmount    = 520
)

// functions of charging, each with its calls (Elfwing and Paulsson 2002, appendix B.2).
var functions = map[string][]string{
	"CreditControl":      {"CreditControl"},
	"DirectDebit":        {"DirectDebit", "ConfirmAction"},
	"Credit":             {"Credit", "ConfirmAction"},
	"ReservationRelease": {"Reserve", "ConfirmAction", "ReleaseRes", "ConfirmAction"},
	"ReservationDebit":   {"Reserve", "ConfirmAction", "DebitReservation", "ConfirmAction"},
}

// numbers are what a sequence of charging carries from replies into requests.
type numbers struct{ res, cn int32 }

func (n *numbers) take(reply proto.Message) {
	switch found := reply.(type) {
	case *chargingpb.ReserveReply:
		n.res, n.cn = found.GetRes(), found.GetCn()
	case *chargingpb.ConfirmActionReply:
		// It only repeats its number.
	case interface{ GetCn() int32 }:
		n.cn = found.GetCn()
	}
}

func chargingRequest(operation string, account int32, carried *numbers) proto.Message {
	if carried == nil {
		carried = &numbers{}
	}
	switch operation {
	case "Credit":
		return &chargingpb.CreditRequest{Id: account, Am: creditAmount}
	case "DirectDebit":
		return &chargingpb.DirectDebitRequest{Id: account, Am: directDebitAmount}
	case "Reserve":
		return &chargingpb.ReserveRequest{Id: account, Am: reservedAmount}
	case "DebitReservation":
		return &chargingpb.DebitReservationRequest{Id: account, Am: reservedAmount, Res: carried.res}
	case "ReleaseRes":
		return &chargingpb.ReleaseResRequest{Res: carried.res}
	case "CreditControl":
		return &chargingpb.CreditControlRequest{Id: account}
	case "ConfirmAction":
		return &chargingpb.ConfirmActionRequest{Cn: carried.cn}
	}
	panic("charging has no operation " + operation)
}

// Sizes of Kangasharju, Tarkoma and Raatikainen (2003), table 1, less what the rest of an
// envelope takes (crates/contract/src/workload/calendar.rs).
const (
	documentXMLBytes   = 655 - 246
	bookReplyTextBytes = 464 - 264
	bookTextBytes      = 652 - 326
)

const (
	ownersMax = 9_000
	bookings  = calendar.Days * calendar.Slots
)

// weights have four characters, and are exact in binary.
var weights = [...]float64{0.25, 1.25, 2.25, 3.25, 0.75, 1.75, 2.75, 3.75}

const (
	title = "Meeting of the working group on wireless access, second part: what was " +
		"measured since autumn, what was not, and who writes the report that the project owes its " +
		"sponsors at the end of the quarter"
	note = "Bring the printed tables. The room is booked for half an hour only; the " +
		"door code changes at noon, so come early or ring the bell of the office next to it."
)

// deploy is the study's document: an application's description, in XML.
func deploy() *calendarpb.DeployRequest {
	const head = `<application name="calendar"><class>CalendarService</class><scope>session</scope>` +
		`<method>book</method><method>entries</method><about>`
	const tail = `</about></application>`
	// Markup is escaped within the envelope, so its size in XML counts.
	filler := documentXMLBytes - xmlBytes(head) - xmlBytes(tail)
	return &calendarpb.DeployRequest{Document: head + title[:filler] + tail}
}

func xmlBytes(text string) int {
	const more = len("&lt;") - 1
	return len(text) + more*(strings.Count(text, "<")+strings.Count(text, ">"))
}

// book is booking n, from 0, of a user: the slots of a year in their order, then again from
// the first. Requests and replies are of one size.
func book(user uint32, n uint64) *calendarpb.BookRequest {
	number := int(n % bookings)
	day, slot := number/calendar.Slots+1, number%calendar.Slots
	owner := fmt.Sprintf("user%04d@calendar.example.org", user%ownersMax)
	titleBytes := bookReplyTextBytes - digits(number) - len(owner)
	noteBytes := bookTextBytes - len(owner) - titleBytes - digits(day) - digits(slot)
	return &calendarpb.BookRequest{
		Owner: owner, Day: int32(day), Slot: int32(slot), Title: title[:titleBytes], Open: true,
		Weight: weights[n%uint64(len(weights))], Note: note[:noteBytes],
	}
}

func digits(number int) int { return len(fmt.Sprint(number)) }
