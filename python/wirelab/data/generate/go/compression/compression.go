// Package compression is gzip and zstd for every binding: one make of each,
// with compressors and decompressors, which are costly to make, kept for reuse.
package compression

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/grpc/encoding"
)

// Coding compresses and decompresses messages.
type Coding interface {
	// Name is the axis' value and the content coding of HTTP.
	Name() string
	// Writer compresses to what it is given, until it is closed, once.
	Writer(to io.Writer) Writer
	// Reader decompresses.
	Reader(from io.Reader) (io.Reader, error)
}

// Writer compresses what is written to it.
type Writer interface {
	io.WriteCloser
	// Flush makes everything written so far readable at the other end.
	Flush() error
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

// compressor is a coding by the names that grpc-go requires.
type compressor struct{ Coding }

func (c compressor) Compress(to io.Writer) (io.WriteCloser, error) { return c.Writer(to), nil }

func (c compressor) Decompress(from io.Reader) (io.Reader, error) { return c.Reader(from) }

// pooledWriter gives its compressor back when it is closed.
type pooledWriter struct {
	Writer
	giveBack func()
}

// Close ends what was compressed. It must be called once.
func (w *pooledWriter) Close() error {
	err := w.Writer.Close()
	w.Writer = nil
	w.giveBack()
	return err
}

// pooledReader gives its decompressor back at the end of the input.
type pooledReader struct {
	inner    io.Reader
	giveBack func()
}

func (r *pooledReader) Read(into []byte) (int, error) {
	if r.inner == nil {
		return 0, io.EOF
	}
	n, err := r.inner.Read(into)
	if err == io.EOF {
		r.inner = nil
		r.giveBack()
	}
	return n, err
}

// gzipPool is RFC 1952.
type gzipPool struct{ writers, readers sync.Pool }

func (*gzipPool) Name() string { return "gzip" }

func (p *gzipPool) Writer(to io.Writer) Writer {
	kept, ok := p.writers.Get().(*gzip.Writer)
	if !ok {
		kept = gzip.NewWriter(to)
	}
	kept.Reset(to)
	return &pooledWriter{kept, func() { p.writers.Put(kept) }}
}

func (p *gzipPool) Reader(from io.Reader) (io.Reader, error) {
	kept, ok := p.readers.Get().(*gzip.Reader)
	if !ok {
		kept = new(gzip.Reader)
	}
	if err := kept.Reset(from); err != nil {
		p.readers.Put(kept)
		return nil, err
	}
	return &pooledReader{kept, func() { p.readers.Put(kept) }}, nil
}

// windowBytesMax: RFC 9659 allows senders no more in HTTP.
const windowBytesMax = 8 << 20

// zstdPool is RFC 8878, on klauspost/compress. Each of its encoders and decoders
// works in the caller's goroutine: a service has the processors that it was given.
type zstdPool struct{ writers, readers sync.Pool }

func (*zstdPool) Name() string { return "zstd" }

func (p *zstdPool) Writer(to io.Writer) Writer {
	kept, ok := p.writers.Get().(*zstd.Encoder)
	if !ok {
		// The library by itself leaves text without repetitions as it is, which
		// libzstd does not: the same message would have other bytes here.
		kept = must(zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithAllLitEntropyCompression(true)))
	}
	kept.Reset(to)
	return &pooledWriter{kept, func() { p.writers.Put(kept) }}
}

func (p *zstdPool) Reader(from io.Reader) (io.Reader, error) {
	kept, ok := p.readers.Get().(*zstd.Decoder)
	if !ok {
		kept = must(zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(windowBytesMax)))
	}
	if err := kept.Reset(from); err != nil {
		p.readers.Put(kept)
		return nil, err
	}
	return &pooledReader{kept, func() { p.readers.Put(kept) }}, nil
}

// must: the options above are constants, and legal ones.
func must[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}
