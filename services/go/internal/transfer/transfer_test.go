package transfer

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
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
		if got := SHA256([]byte(Text(row.Bytes))); got != row.Text {
			t.Errorf("text(%d) has SHA-256 %s, want %s", row.Bytes, got, row.Text)
		}
		pattern := make([]byte, row.Bytes)
		FillPattern(0, pattern)
		if got := SHA256(pattern); got != row.Pattern {
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

func TestOperationsHaveTheContractsNames(t *testing.T) {
	proto, err := os.ReadFile("../../../../contracts/transfer.proto")
	if err != nil {
		t.Fatal(err)
	}
	for _, operation := range Operations() {
		if !strings.Contains(string(proto), "rpc "+operation.String()+"(") {
			t.Errorf("the contract has no operation %s", operation)
		}
	}
	if count := strings.Count(string(proto), "  rpc "); count != len(Operations()) {
		t.Errorf("the contract has %d operations, not %d", count, len(Operations()))
	}
}

func TestErrorsAreReportedInTheContractsOrder(t *testing.T) {
	for _, row := range []struct{ got, want error }{
		{CheckBatch("", RecordsMax+1), ErrEmptyBatch},
		{CheckBatch("b", RecordsMax+1), ErrRecords},
		{CheckBatch("b", RecordsMax), nil},
		{CheckUpload(BytesMax), nil},
		{CheckUpload(BytesMax + 1), ErrBytes},
		{CheckDownload(-1, 0), ErrLength},
		{CheckDownload(BytesMax+1, 1), ErrLength},
		{CheckDownload(BytesMax, 0), ErrChunkBytes},
		{CheckDownload(0, ChunkBytesMax+1), ErrChunkBytes},
		{CheckDownload(BytesMax, ChunkBytesMax), nil},
	} {
		if row.got != row.want {
			t.Errorf("got %v, want %v", row.got, row.want)
		}
	}
	if reason := RefusalReason(0, ""); reason != "quantity must be positive" {
		t.Errorf("a record wrong in both: %q", reason)
	}
}
