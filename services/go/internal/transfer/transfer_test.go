package transfer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	pb "wirelab/services/go/transferpb"
)

func TestTextsAndPatternsAreThoseOfTheContract(t *testing.T) {
	file, err := os.ReadFile("../../../../contracts/vectors/texts.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Bytes   int
		Text    string `json:"text_sha256"`
		Pattern string `json:"pattern_sha256"`
	}
	if err := json.Unmarshal(file, &rows); err != nil || len(rows) == 0 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, row := range rows {
		if got := sha256Of([]byte(Text(row.Bytes))); got != row.Text {
			t.Errorf("text(%d) has SHA-256 %s, want %s", row.Bytes, got, row.Text)
		}
		pattern := make([]byte, row.Bytes)
		FillPattern(0, pattern)
		if got := sha256Of(pattern); got != row.Pattern {
			t.Errorf("pattern(%d) has SHA-256 %s, want %s", row.Bytes, got, row.Pattern)
		}
	}
}

// TestPatternCanBeFilledFromAnywhere: chunks of any size make up the whole.
func TestPatternCanBeFilledFromAnywhere(t *testing.T) {
	whole := make([]byte, 100)
	FillPattern(0, whole)
	for offset := range whole {
		for end := offset; end <= len(whole); end++ {
			part := make([]byte, end-offset)
			FillPattern(int64(offset), part)
			if !bytes.Equal(part, whole[offset:end]) {
				t.Fatalf("bytes %d to %d differ", offset, end)
			}
		}
	}
}

func sha256Of(data []byte) string {
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}

func TestErrorsAreReportedInTheContractsOrder(t *testing.T) {
	many := make([]*pb.Record, RecordsMax+1)
	for _, row := range []struct{ got, want error }{
		{second(submit(&pb.SubmitRequest{Records: many})), ErrEmptyBatch},
		{second(submit(&pb.SubmitRequest{Batch: "b", Records: many})), ErrRecords},
		{second(submit(&pb.SubmitRequest{Batch: "b", Records: many[1:]})), nil},
		{second(upload(&pb.UploadRequest{Data: make([]byte, BytesMax)})), nil},
		{second(upload(&pb.UploadRequest{Data: make([]byte, BytesMax+1)})), ErrBytes},
		{checkDownload(-1, 0), ErrLength},
		{checkDownload(BytesMax+1, 1), ErrLength},
		{checkDownload(BytesMax, 0), ErrChunkBytes},
		{checkDownload(0, ChunkBytesMax+1), ErrChunkBytes},
		{checkDownload(BytesMax, ChunkBytesMax), nil},
	} {
		if row.got != row.want {
			t.Errorf("got %v, want %v", row.got, row.want)
		}
	}
	if reason := refusalReason(&pb.Record{}); reason != "quantity must be positive" {
		t.Errorf("a record wrong in both: %q", reason)
	}
}

func second[T any](_ T, err error) error { return err }
