package wirelab.service.contract;

import java.nio.charset.StandardCharsets;
import java.util.List;

/** The contract {@code transfer}: limits and errors; the text that Hello answers. */
public final class Transfer implements Model {
    private static final int RECORDS_MAX = 100_000;
    /** The largest upload and download, bytes. */
    public static final int BYTES_MAX = 64 << 20;

    private static final int CHUNK_BYTES_MAX = 1 << 20;

    /** Half of the digits of SHA-256. */
    private static final int ENTITY_TAG_DIGITS = 32;

    private final String text;

    /** Holds text({@code helloBytes}). */
    public Transfer(int helloBytes) {
        text = Text.text(helloBytes);
    }

    @Override
    public List<String> operations() {
        return List.of("Hello", "HelloBytes", "Submit", "Upload", "UploadStream", "Download");
    }

    /** What Hello answers. */
    public String text() {
        return text;
    }

    /**
     * The entity tag of Hello's replies: a weak one, because replies of all codecs and codings have it
     * (RFC 9110 section 8.8.1).
     */
    public String entityTag() {
        String digest = sha256(text.getBytes(StandardCharsets.US_ASCII));
        return "W/\"" + digest.substring(0, ENTITY_TAG_DIGITS) + "\"";
    }

    /** Whether a batch of that name and number of records is taken. */
    public static void checkBatch(String batch, int records) throws ApplicationError {
        Lists.check(records);
        ApplicationError.unless(!batch.isEmpty(), "batch must not be empty");
        ApplicationError.unless(records <= RECORDS_MAX, "at most 100000 records");
    }

    /** Why a record is refused; null when it is accepted. */
    public static String refusalReason(int quantity, String item) {
        if (quantity <= 0) {
            return "quantity must be positive";
        }
        return item.isEmpty() ? "item must not be empty" : null;
    }

    /** Whether that many bytes are taken. */
    public static void checkUpload(long bytes) throws ApplicationError {
        ApplicationError.unless(bytes <= BYTES_MAX, "at most 67108864 bytes");
    }

    /** Whether a download of that many bytes in chunks of that size is possible. */
    public static void checkDownload(long length, int chunkBytes) throws ApplicationError {
        ApplicationError.unless(length >= 0 && length <= BYTES_MAX, "length must be 0 to 67108864");
        ApplicationError.unless(
                chunkBytes >= 1 && chunkBytes <= CHUNK_BYTES_MAX, "chunk_bytes must be 1 to 1048576");
    }

    /** SHA-256 of the data in 64 digits. */
    public static String sha256(byte[] data) {
        return Text.hex(Text.sha256().digest(data));
    }
}
