package wirelab.service.web;

import com.github.luben.zstd.ZstdIOException;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.ZipException;

/** A request whose body comes without its content coding, and ends at a bound. */
final class BoundRequest extends HttpServletRequestWrapper {
    private final Coding coding;
    private ServletInputStream body;

    /** {@code coding} is null for a body that has none. */
    BoundRequest(HttpServletRequest request, Coding coding) {
        super(request);
        this.coding = coding;
    }

    @Override
    public ServletInputStream getInputStream() throws IOException {
        if (body == null) {
            body = coding == null ? new Bound(super.getInputStream()) : new Bound(unpack());
        }
        return body;
    }

    private InputStream unpack() throws IOException {
        ServletInputStream packed = super.getInputStream();
        try {
            return new Unpacked(coding, coding.decode(packed));
        } catch (ZipException | EOFException error) {
            throw new BrokenCoding(coding.token(), error);
        }
    }

    @Override
    public int getContentLength() {
        return coding == null ? super.getContentLength() : -1;
    }

    @Override
    public long getContentLengthLong() {
        return coding == null ? super.getContentLengthLong() : -1;
    }

    /** Faults of the coding, apart from those of the connection. */
    private static final class Unpacked extends FilterInputStream {
        private final Coding coding;

        Unpacked(Coding coding, InputStream plain) {
            super(plain);
            this.coding = coding;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            try {
                return in.read(into, offset, length);
            } catch (ZipException | EOFException | ZstdIOException error) {
                throw new BrokenCoding(coding.token(), error);
            }
        }
    }

    private static final class Bound extends ServletInputStream {
        private final InputStream from;
        private long left = BodyFilter.BYTES_MAX;
        private boolean finished;

        Bound(InputStream from) {
            this.from = from;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            int count = from.read(into, offset, length);
            finished = count < 0;
            left -= Math.max(count, 0);
            if (left < 0) {
                throw new BodyTooLong();
            }
            return count;
        }

        @Override
        public boolean isFinished() {
            return finished;
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setReadListener(ReadListener listener) {
            throw new IllegalStateException("bodies are read by the thread of their call");
        }
    }
}
