package transfer

import (
	"crypto/sha256"
	"encoding/hex"
)

// Limits of the contract.
const (
	RecordsMax    = 100_000
	BytesMax      = 64 << 20
	ChunkBytesMax = 1 << 20
)

// ApplicationError is an error that the contract knows; its text is part of it.
type ApplicationError string

func (e ApplicationError) Error() string { return string(e) }

// The application errors.
const (
	ErrEmptyBatch ApplicationError = "batch must not be empty"
	ErrRecords    ApplicationError = "at most 100000 records"
	ErrBytes      ApplicationError = "at most 67108864 bytes"
	ErrLength     ApplicationError = "length must be 0 to 67108864"
	ErrChunkBytes ApplicationError = "chunk_bytes must be 1 to 1048576"
)

// CheckBatch says whether a batch of that name and number of records is taken.
func CheckBatch(name string, records int) error {
	if name == "" {
		return ErrEmptyBatch
	}
	if records > RecordsMax {
		return ErrRecords
	}
	return nil
}

// RefusalReason is why a record of a batch is refused; empty when it is accepted.
func RefusalReason(quantity int32, item string) string {
	if quantity <= 0 {
		return "quantity must be positive"
	}
	if item == "" {
		return "item must not be empty"
	}
	return ""
}

// CheckUpload says whether that many bytes are taken.
func CheckUpload(bytes int64) error {
	if bytes > BytesMax {
		return ErrBytes
	}
	return nil
}

// CheckDownload says whether a download of that many bytes in chunks of that
// size is possible.
func CheckDownload(length int64, chunkBytes int32) error {
	if length < 0 || length > BytesMax {
		return ErrLength
	}
	if chunkBytes < 1 || chunkBytes > ChunkBytesMax {
		return ErrChunkBytes
	}
	return nil
}

// SHA256 is the digest of data as 64 lower-case hexadecimal digits.
func SHA256(data []byte) string {
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}
