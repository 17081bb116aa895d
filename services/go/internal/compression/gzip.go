package compression

import (
	"compress/gzip"
	"io"
	"sync"
)

// gzipPool is RFC 1952.
type gzipPool struct{ writers, readers sync.Pool }

func (*gzipPool) Name() string { return "gzip" }

func (p *gzipPool) Writer(to io.Writer) io.WriteCloser {
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
