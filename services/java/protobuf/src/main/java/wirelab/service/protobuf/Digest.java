package wirelab.service.protobuf;

import com.google.protobuf.ByteString;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import wirelab.service.contract.ApplicationError;
import wirelab.service.contract.Text;
import wirelab.service.contract.Transfer;
import wirelab.transfer.v1.UploadReply;

/** Length and SHA-256 of an upload, piece by piece and without a copy. */
public final class Digest {
    private final MessageDigest sha256 = Text.sha256();
    private long length;

    /** Takes the next piece; fails beyond the contract's limit. */
    public void add(ByteString piece) throws ApplicationError {
        length += piece.size();
        Transfer.checkUpload(length);
        for (ByteBuffer part : piece.asReadOnlyByteBufferList()) {
            sha256.update(part);
        }
    }

    /** What the upload is answered with; to be called once. */
    public UploadReply reply() {
        return UploadReply.newBuilder().setLength(length).setSha256(Text.hex(sha256.digest())).build();
    }
}
