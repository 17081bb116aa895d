package wirelab.service.soap;

import org.apache.wss4j.common.ext.WSSecurityException;
import org.apache.wss4j.dom.handler.RequestData;
import org.apache.wss4j.dom.validate.Credential;
import org.apache.wss4j.dom.validate.UsernameTokenValidator;

/** Takes passwords as text, named so or without a type (UsernameToken Profile 1.1, section 3.1), and no digests. */
final class TextOnly extends UsernameTokenValidator {
    @Override
    public Credential validate(Credential credential, RequestData data) throws WSSecurityException {
        if (credential.getUsernametoken().isHashed()) {
            throw new WSSecurityException(WSSecurityException.ErrorCode.FAILED_AUTHENTICATION);
        }
        return super.validate(credential, data);
    }
}
