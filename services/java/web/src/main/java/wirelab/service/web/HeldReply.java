package wirelab.service.web;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.ByteArrayOutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;

/** A reply whose body is held until it is whole; only then is it known how to send it. */
final class HeldReply extends HttpServletResponseWrapper {
    private final ByteArrayOutputStream body = new ByteArrayOutputStream(512);
    private PrintWriter writer;

    HeldReply(HttpServletResponse response) {
        super(response);
    }

    byte[] body() {
        if (writer != null) {
            writer.flush();
        }
        return body.toByteArray();
    }

    @Override
    public ServletOutputStream getOutputStream() {
        return new Held(body);
    }

    @Override
    public PrintWriter getWriter() {
        if (writer == null) {
            writer = new PrintWriter(new OutputStreamWriter(body, StandardCharsets.UTF_8));
        }
        return writer;
    }

    @Override
    public void flushBuffer() {
        // Nothing is sent before the whole is known.
    }

    @Override
    public void reset() {
        super.reset();
        body.reset();
    }

    @Override
    public void resetBuffer() {
        body.reset();
    }

    @Override
    public void setContentLength(int length) {
        // The filter knows better: the body may yet be compressed.
    }

    @Override
    public void setContentLengthLong(long length) {
        // As above.
    }

    @Override
    public void sendError(int status) {
        setStatus(status);
    }

    @Override
    public void sendError(int status, String message) {
        setStatus(status);
    }

    private static final class Held extends ServletOutputStream {
        private final ByteArrayOutputStream body;

        Held(ByteArrayOutputStream body) {
            this.body = body;
        }

        @Override
        public void write(int octet) {
            body.write(octet);
        }

        @Override
        public void write(byte[] octets, int offset, int length) {
            body.write(octets, offset, length);
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setWriteListener(WriteListener listener) {
            throw new IllegalStateException("a held reply cannot be written asynchronously");
        }
    }
}
