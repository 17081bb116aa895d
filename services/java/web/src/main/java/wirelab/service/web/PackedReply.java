package wirelab.service.web;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/** A reply whose body is compressed as it comes; a flush makes readable what was written before it. */
final class PackedReply extends HttpServletResponseWrapper implements StreamFilter.Body {
    private final Coding coding;
    private Packed body;

    PackedReply(HttpServletResponse response, Coding coding) {
        super(response);
        this.coding = coding;
    }

    @Override
    public ServletOutputStream getOutputStream() throws IOException {
        if (body == null) {
            body = new Packed(coding.pack(new Kept(super.getOutputStream())));
        }
        return body;
    }

    @Override
    public void flushBuffer() throws IOException {
        if (body != null) {
            body.flush();
        }
        super.flushBuffer();
    }

    @Override
    public void setContentLength(int length) {
        // That of what is not yet compressed.
    }

    @Override
    public void setContentLengthLong(long length) {
        // As above.
    }

    @Override
    public void end() throws IOException {
        if (body != null) {
            body.close();
        }
    }

    /** What the compressor writes to: Tomcat ends it, not the compressor. */
    private static final class Kept extends FilterOutputStream {
        Kept(OutputStream out) {
            super(out);
        }

        @Override
        public void write(byte[] octets, int offset, int length) throws IOException {
            out.write(octets, offset, length);
        }

        @Override
        public void close() {
            // Its owner closes it.
        }
    }

    private static final class Packed extends ServletOutputStream {
        private final OutputStream packer;

        Packed(OutputStream packer) {
            this.packer = packer;
        }

        @Override
        public void write(int octet) throws IOException {
            packer.write(octet);
        }

        @Override
        public void write(byte[] octets, int offset, int length) throws IOException {
            packer.write(octets, offset, length);
        }

        @Override
        public void flush() throws IOException {
            packer.flush();
        }

        @Override
        public void close() throws IOException {
            packer.close();
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setWriteListener(WriteListener listener) {
            throw new IllegalStateException("streams are written by a thread that waits");
        }
    }
}
