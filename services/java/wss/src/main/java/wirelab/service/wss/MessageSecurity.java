package wirelab.service.wss;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import javax.xml.stream.XMLStreamReader;
import org.apache.cxf.binding.soap.SoapMessage;
import org.apache.cxf.interceptor.InterceptorProvider;
import org.apache.cxf.ws.security.SecurityConstants;
import org.apache.cxf.ws.security.tokenstore.MemoryTokenStore;
import org.apache.cxf.ws.security.wss4j.DefaultCryptoCoverageChecker;
import org.apache.cxf.ws.security.wss4j.WSS4JInInterceptor;
import org.apache.cxf.ws.security.wss4j.WSS4JOutInterceptor;
import org.apache.wss4j.common.ConfigurationConstants;
import org.apache.wss4j.common.cache.MemoryReplayCache;
import org.apache.wss4j.common.crypto.AlgorithmSuite;
import org.apache.wss4j.common.ext.WSPasswordCallback;
import org.apache.wss4j.dom.WSConstants;
import org.apache.wss4j.dom.handler.RequestData;

/**
 * Signature and encryption of SOAP messages by WSS4J, the same at both ends
 * ({@code docs/reference/ws-security.md}). Body and timestamp are signed, in this order before the content
 * of the body is encrypted. What comes in must have been treated so, by these algorithms alone.
 */
public final class MessageSecurity {
    /** Seconds that a message is valid, WSS4J's default. */
    public static final int VALID_S = 300;

    private static final String KEYS = "wirelab.keys";
    private static final String TRUSTED = "wirelab.trusted";
    private static final int KEY_BITS_MIN = 2048;
    private static final int KEY_BITS_MAX = 4096;
    private static final String SIGNED = "{}{%s}Body;{}{" + WSConstants.WSU_NS + "}Timestamp";

    private static final String SIGNATURE = WSConstants.RSA_SHA256;
    private static final String DIGEST = WSConstants.SHA256;
    private static final String CANONICAL = WSConstants.C14N_EXCL_OMIT_COMMENTS;
    private static final String CIPHER = WSConstants.AES_256_GCM;
    private static final String TRANSPORT = WSConstants.KEYTRANSPORT_RSAOAEP_XENC11;
    private static final String MASK = WSConstants.MGF_SHA256;

    private final Keys keys;
    private final boolean signs;
    private final boolean encrypts;
    private final String envelope;

    /** Of a value of the axis {@code ws_security}, in envelopes of a version of SOAP. */
    public MessageSecurity(String value, String soap, Keys keys) {
        this.keys = keys;
        signs = value.startsWith("signature");
        encrypts = value.endsWith("encryption");
        envelope = soap.equals("1.2") ? WSConstants.URI_SOAP12_ENV : WSConstants.URI_SOAP11_ENV;
    }

    /** The algorithms and keys, as a result has them. */
    public String algorithms() {
        List<String> all = new ArrayList<>();
        if (signs) {
            all.add("rsa-sha256 (2048 bits) over sha256, xml-exc-c14n");
        }
        if (encrypts) {
            all.add("aes256-gcm, its key by rsa-oaep (2048 bits) with sha256 and mgf1sha256");
        }
        return String.join("; ", all);
    }

    /**
     * What CXF would otherwise set up with Ehcache: a store of tokens, which nothing uses here, and a cache
     * of signatures that came, while their timestamps are valid. To be the properties of an endpoint.
     */
    public static Map<String, Object> stores() {
        return Map.of(
                SecurityConstants.TOKEN_STORE_CACHE_INSTANCE, new MemoryTokenStore(),
                SecurityConstants.TIMESTAMP_CACHE_INSTANCE, new MemoryReplayCache());
    }

    /** Messages of an endpoint go out and come in so. Its faults go out as they are. */
    public void intercept(InterceptorProvider endpoint) {
        endpoint.getOutInterceptors().add(new WSS4JOutInterceptor(outgoing()));
        endpoint.getInInterceptors().add(new Strict(incoming(), suite()));
        endpoint.getInInterceptors().add(coverage());
    }

    private Map<String, Object> common() {
        Map<String, Object> options = new HashMap<>();
        List<String> actions = new ArrayList<>();
        if (signs) {
            actions.add(ConfigurationConstants.TIMESTAMP);
            actions.add(ConfigurationConstants.SIGNATURE);
        }
        if (encrypts) {
            actions.add(ConfigurationConstants.ENCRYPTION);
        }
        options.put(ConfigurationConstants.ACTION, String.join(" ", actions));
        options.put(KEYS, keys.own);
        options.put(TRUSTED, keys.other);
        options.put(ConfigurationConstants.PW_CALLBACK_REF, (CallbackHandler) this::answer);
        return options;
    }

    private void answer(Callback[] requested) {
        for (Callback each : requested) {
            if (each instanceof WSPasswordCallback key && keys.ownName.equals(key.getIdentifier())) {
                key.setPassword(keys.password);
            }
        }
    }

    private Map<String, Object> outgoing() {
        Map<String, Object> options = common();
        options.put(ConfigurationConstants.USER, keys.ownName);
        options.put(ConfigurationConstants.SIG_PROP_REF_ID, KEYS);
        options.put(ConfigurationConstants.SIG_KEY_ID, "DirectReference");
        options.put(ConfigurationConstants.SIG_ALGO, SIGNATURE);
        options.put(ConfigurationConstants.SIG_DIGEST_ALGO, DIGEST);
        options.put(ConfigurationConstants.SIG_C14N_ALGO, CANONICAL);
        options.put(ConfigurationConstants.SIGNATURE_PARTS, SIGNED.formatted(envelope));
        options.put(ConfigurationConstants.TTL_TIMESTAMP, String.valueOf(VALID_S));
        options.put(ConfigurationConstants.ENCRYPTION_USER, keys.otherName);
        options.put(ConfigurationConstants.ENC_PROP_REF_ID, TRUSTED);
        options.put(ConfigurationConstants.ENC_KEY_ID, "IssuerSerial");
        options.put(ConfigurationConstants.ENC_SYM_ALGO, CIPHER);
        options.put(ConfigurationConstants.ENC_KEY_TRANSPORT, TRANSPORT);
        options.put(ConfigurationConstants.ENC_DIGEST_ALGO, DIGEST);
        options.put(ConfigurationConstants.ENC_MGF_ALGO, MASK);
        return options;
    }

    private Map<String, Object> incoming() {
        Map<String, Object> options = common();
        options.put(ConfigurationConstants.SIG_VER_PROP_REF_ID, TRUSTED);
        options.put(ConfigurationConstants.DEC_PROP_REF_ID, KEYS);
        options.put(ConfigurationConstants.TTL_TIMESTAMP, String.valueOf(VALID_S));
        options.put(ConfigurationConstants.REQUIRE_TIMESTAMP_EXPIRES, "true");
        return options;
    }

    private static AlgorithmSuite suite() {
        AlgorithmSuite suite = new AlgorithmSuite();
        suite.addSignatureMethod(SIGNATURE);
        suite.addDigestAlgorithm(DIGEST);
        suite.addC14nAlgorithm(CANONICAL);
        suite.addTransformAlgorithm(CANONICAL);
        suite.addEncryptionMethod(CIPHER);
        suite.addKeyWrapAlgorithm(TRANSPORT);
        suite.setMinimumAsymmetricKeyLength(KEY_BITS_MIN);
        suite.setMaximumAsymmetricKeyLength(KEY_BITS_MAX);
        return suite;
    }

    private Coverage coverage() {
        Coverage coverage = new Coverage();
        coverage.setSignBody(signs);
        coverage.setSignTimestamp(signs);
        coverage.setEncryptBody(encrypts);
        return coverage;
    }

    /** WSS4J verifies what is signed; whether that is the body of this envelope is checked here. */
    private static final class Coverage extends DefaultCryptoCoverageChecker {
        @Override
        public void handleMessage(SoapMessage message) {
            if (!isRequestor(message) || !isFault(message)) {
                super.handleMessage(message);
            }
        }

        /**
         * A fault is never a successful call. The checker's own switch for faults asks SAAJ, which does not
         * know elements that were decrypted.
         */
        private static boolean isFault(SoapMessage message) {
            XMLStreamReader body = message.getContent(XMLStreamReader.class);
            return body != null && body.isStartElement() && body.getName().equals(message.getVersion().getFault());
        }
    }

    /** Takes messages of the algorithms of this class only. */
    private static final class Strict extends WSS4JInInterceptor {
        private final AlgorithmSuite suite;

        Strict(Map<String, Object> options, AlgorithmSuite suite) {
            super(options);
            this.suite = suite;
        }

        @Override
        protected void computeAction(SoapMessage message, RequestData data) {
            data.setAlgorithmSuite(suite);
        }
    }
}
