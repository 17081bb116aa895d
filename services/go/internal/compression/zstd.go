package compression

import (
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// windowBytesMax: RFC 9659 allows senders no more in HTTP.
const windowBytesMax = 8 << 20

// zstdPool is RFC 8878, on klauspost/compress. Each of its encoders and decoders
// works in the caller's goroutine: a service has the processors that it was given.
type zstdPool struct{ writers, readers sync.Pool }

func (*zstdPool) Name() string { return "zstd" }

func (p *zstdPool) Writer(to io.Writer) io.WriteCloser {
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
