package wirelab.service.soap;

import java.util.Map;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import org.apache.cxf.binding.soap.SoapFault;
import org.apache.cxf.binding.soap.SoapMessage;
import org.apache.cxf.interceptor.Fault;
import org.apache.cxf.ws.security.wss4j.WSS4JInInterceptor;
import org.apache.wss4j.common.ConfigurationConstants;
import org.apache.wss4j.common.ext.WSPasswordCallback;
import org.apache.wss4j.dom.WSConstants;
import wirelab.service.Configuration;

/** WSS UsernameToken Profile 1.1 with PasswordText, by WSS4J. */
final class Login extends WSS4JInInterceptor {
    Login(Configuration.Store store) {
        super(Map.of(
                ConfigurationConstants.ACTION, ConfigurationConstants.USERNAME_TOKEN,
                // The Basic Security Profile would make the password's type a duty (R4201).
                ConfigurationConstants.IS_BSP_COMPLIANT, "false",
                VALIDATOR_MAP, Map.of(WSConstants.USERNAME_TOKEN, new TextOnly()),
                ConfigurationConstants.PW_CALLBACK_REF, (CallbackHandler) requested -> answer(requested, store)));
    }

    private static void answer(Callback[] requested, Configuration.Store store) {
        for (Callback each : requested) {
            WSPasswordCallback token = (WSPasswordCallback) each;
            if (store.username().equals(token.getIdentifier())) {
                token.setPassword(store.password());
            }
        }
    }

    @Override
    public void handleMessage(SoapMessage message) {
        try {
            super.handleMessage(message);
        } catch (Fault refused) {
            throw new SoapFault("authentication failed", refused, message.getVersion().getSender());
        }
    }
}
