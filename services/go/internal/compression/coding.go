// Package compression is gzip and zstd for every binding: one make of each,
// with compressors and decompressors, which are costly to make, kept for reuse.
package compression

import (
	"bytes"
	"errors"
	"io"

	"google.golang.org/grpc/encoding"
)

// Coding compresses and decompresses messages.
type Coding interface {
	// Name is the axis' value and the content coding of HTTP.
	Name() string
	// Writer compresses to what it is given, until it is closed, once.
	Writer(to io.Writer) io.WriteCloser
	// Reader decompresses.
	Reader(from io.Reader) (io.Reader, error)
}

// New is the coding of that name; nil for `none`.
func New(name string) Coding {
	switch name {
	case "gzip":
		return &gzipPool{}
	case "zstd":
		return &zstdPool{}
	}
	return nil
}

// Compress is a body as one compressed whole.
func Compress(coding Coding, body io.WriterTo) (*bytes.Buffer, error) {
	packed := &bytes.Buffer{}
	writer := coding.Writer(packed)
	_, err := body.WriteTo(writer)
	return packed, errors.Join(err, writer.Close())
}

// RegisterGRPC makes the coding known to grpc-go. The packages of grpc-go and
// of others register theirs as soon as they are linked in, and a service that
// is configured without compression could then not refuse it.
func RegisterGRPC(coding Coding) { encoding.RegisterCompressor(compressor{coding}) }

// compressor is a coding by the names that grpc-go wants.
type compressor struct{ Coding }

func (c compressor) Compress(to io.Writer) (io.WriteCloser, error) { return c.Writer(to), nil }

func (c compressor) Decompress(from io.Reader) (io.Reader, error) { return c.Reader(from) }
