package service

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc/encoding"
)

// gzipPool keeps compressors and decompressors of RFC 1952, which are costly
// to make, for reuse by both bindings.
type gzipPool struct {
	writers sync.Pool
	readers sync.Pool
}

// pooledWriter gives its compressor back when it is closed.
type pooledWriter struct {
	*gzip.Writer
	pool *sync.Pool
}

func (p *gzipPool) writer(to io.Writer) *pooledWriter {
	kept, ok := p.writers.Get().(*gzip.Writer)
	if !ok {
		kept = gzip.NewWriter(to)
	}
	kept.Reset(to)
	return &pooledWriter{kept, &p.writers}
}

// Close ends the member. It must be called once.
func (w *pooledWriter) Close() error {
	err := w.Writer.Close()
	w.pool.Put(w.Writer)
	w.Writer = nil
	return err
}

// pooledReader gives its decompressor back at the end of the input.
type pooledReader struct {
	inner *gzip.Reader
	pool  *sync.Pool
}

func (p *gzipPool) reader(from io.Reader) (*pooledReader, error) {
	kept, ok := p.readers.Get().(*gzip.Reader)
	if !ok {
		kept = new(gzip.Reader)
	}
	if err := kept.Reset(from); err != nil {
		p.readers.Put(kept)
		return nil, err
	}
	return &pooledReader{kept, &p.readers}, nil
}

func (r *pooledReader) Read(into []byte) (int, error) {
	if r.inner == nil {
		return 0, io.EOF
	}
	n, err := r.inner.Read(into)
	if err == io.EOF {
		r.pool.Put(r.inner)
		r.inner = nil
	}
	return n, err
}

// compress is body as one gzip member.
func (p *gzipPool) compress(body io.WriterTo) (*bytes.Buffer, error) {
	packed := &bytes.Buffer{}
	writer := p.writer(packed)
	_, err := body.WriteTo(writer)
	return packed, errors.Join(err, writer.Close())
}

// grpcGzip is gRPC's compressor of that name. The package encoding/gzip of
// grpc-go registers itself as soon as it is linked in, and a service that is
// configured without compression could then not refuse it.
type grpcGzip struct{ pool *gzipPool }

func registerGRPCGzip() { encoding.RegisterCompressor(grpcGzip{&gzipPool{}}) }

func (grpcGzip) Name() string { return "gzip" }

func (g grpcGzip) Compress(to io.Writer) (io.WriteCloser, error) { return g.pool.writer(to), nil }

func (g grpcGzip) Decompress(from io.Reader) (io.Reader, error) {
	reader, err := g.pool.reader(from)
	if err != nil {
		return nil, err
	}
	return reader, nil
}
