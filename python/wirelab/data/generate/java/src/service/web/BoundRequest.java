package service.web;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.IOException;
import java.io.InputStream;

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
            body = coding == null ? new Bound(super.getInputStream(), false) : new Bound(decoded(), true);
        }
        return body;
    }

    private InputStream decoded() throws IOException {
        try {
            return coding.decode(super.getInputStream());
        } catch (IOException error) {
            throw new BadCoding(error);
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

    private static final class Bound extends ServletInputStream {
        private final InputStream from;
        private final boolean decodes;
        private long left = BodyFilter.BYTES_MAX;
        private boolean finished;

        Bound(InputStream from, boolean decodes) {
            this.from = from;
            this.decodes = decodes;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            int count = next(into, offset, length);
            finished = count < 0;
            left -= Math.max(count, 0);
            if (left < 0) {
                throw new BodyTooLong();
            }
            return count;
        }

        private int next(byte[] into, int offset, int length) throws IOException {
            try {
                return from.read(into, offset, length);
            } catch (IOException error) {
                throw decodes ? new BadCoding(error) : error;
            }
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
