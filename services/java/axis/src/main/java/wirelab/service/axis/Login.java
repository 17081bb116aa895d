package wirelab.service.axis;

import java.util.Iterator;
import javax.xml.namespace.QName;
import org.apache.axis.AxisFault;
import org.apache.axis.message.MessageElement;
import org.apache.axis.message.SOAPEnvelope;
import org.apache.axis.message.SOAPHeaderElement;
import wirelab.service.Configuration;

/** WSS UsernameToken Profile 1.1 with PasswordText, read by hand: Axis 1.4 has no WS-Security of its own. */
record Login(String username, String password) {
    private static final String NAMESPACE =
            "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";
    private static final String TEXT =
            "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0#PasswordText";

    /** The login that a store asks for; null when it asks for none. */
    static Login of(Configuration.Store store) {
        return store.username() == null ? null : new Login(store.username(), store.password());
    }

    void check(SOAPEnvelope envelope) throws AxisFault {
        SOAPHeaderElement security = envelope.getHeaderByName(NAMESPACE, "Security");
        MessageElement token = security == null ? null : child(security, "UsernameToken");
        MessageElement secret = token == null ? null : child(token, "Password");
        MessageElement name = token == null ? null : child(token, "Username");
        if (secret == null || name == null || !isText(secret)
                || !username.equals(name.getValue()) || !password.equals(secret.getValue())) {
            throw Faults.client("authentication failed");
        }
        security.setProcessed(true);
    }

    /** Without a type a password is text (section 3.1). */
    private static boolean isText(MessageElement secret) {
        String type = secret.getAttribute("Type");
        return type == null || type.isEmpty() || type.equals(TEXT);
    }

    private static MessageElement child(MessageElement parent, String name) {
        QName expected = new QName(NAMESPACE, name);
        for (Iterator<?> children = parent.getChildElements(); children.hasNext();) {
            if (children.next() instanceof MessageElement element && expected.equals(element.getQName())) {
                return element;
            }
        }
        return null;
    }
}
