package compression

import "io"

// pooledWriter gives its compressor back when it is closed.
type pooledWriter struct {
	io.WriteCloser
	giveBack func()
}

// Close ends what was compressed. It must be called once.
func (w *pooledWriter) Close() error {
	err := w.WriteCloser.Close()
	w.WriteCloser = nil
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
