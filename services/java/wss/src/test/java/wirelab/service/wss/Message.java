package wirelab.service.wss;

import java.io.StringReader;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Instant;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.transform.OutputKeys;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamResult;
import org.apache.wss4j.common.WSEncryptionPart;
import org.apache.wss4j.common.util.KeyUtils;
import org.apache.wss4j.common.util.WSTimeSource;
import org.apache.wss4j.dom.WSConstants;
import org.apache.wss4j.dom.engine.WSSConfig;
import org.apache.wss4j.dom.message.WSSecEncrypt;
import org.apache.wss4j.dom.message.WSSecHeader;
import org.apache.wss4j.dom.message.WSSecSignature;
import org.apache.wss4j.dom.message.WSSecTimestamp;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

/** An envelope that is secured step by step by the builders of WSS4J, in ways that a peer would not. */
public final class Message {
    private final Document document;
    private final WSSecHeader header;
    private final Keys keys;

    /** Of the envelope, with the keys of one end of a file. */
    public Message(String envelope, Path file, boolean byService) throws Exception {
        WSSConfig.init();
        DocumentBuilderFactory factory = DocumentBuilderFactory.newDefaultInstance();
        factory.setNamespaceAware(true);
        document = factory.newDocumentBuilder().parse(new InputSource(new StringReader(envelope)));
        keys = byService ? Keys.ofService(file.toString(), KeyFiles.PASSWORD)
                : Keys.ofCaller(file.toString(), KeyFiles.PASSWORD);
        header = new WSSecHeader(document);
        header.insertSecurityHeader();
    }

    /** Adds a timestamp of some seconds ago, which is valid for {@code validS} seconds; 0: without an end. */
    public Message stamp(int agoS, int validS) throws Exception {
        WSSecTimestamp timestamp = new WSSecTimestamp(header);
        timestamp.setTimeToLive(validS);
        timestamp.setWsTimeSource(new WSTimeSource() {
            @Override
            public Instant now() {
                return Instant.now().minusSeconds(agoS);
            }
        });
        timestamp.build();
        return this;
    }

    /** Signs the named parts, {@code Body} and {@code Timestamp}. */
    public Message sign(String algorithm, String... parts) throws Exception {
        WSSecSignature signature = new WSSecSignature(header);
        signature.setUserInfo(keys.ownName, keys.password);
        signature.setKeyIdentifierType(WSConstants.BST_DIRECT_REFERENCE);
        signature.setSignatureAlgorithm(algorithm);
        signature.setDigestAlgo(WSConstants.SHA256);
        for (String part : parts) {
            String namespace = part.equals("Timestamp")
                    ? WSConstants.WSU_NS
                    : document.getDocumentElement().getNamespaceURI();
            signature.getParts().add(new WSEncryptionPart(part, namespace, ""));
        }
        signature.build(keys.own);
        return this;
    }

    /** Encrypts the content of the body. */
    public Message encrypt(String cipher, String transport) throws Exception {
        WSSecEncrypt encryption = new WSSecEncrypt(header);
        encryption.setUserInfo(keys.otherName);
        encryption.setKeyIdentifierType(WSConstants.ISSUER_SERIAL);
        encryption.setSymmetricEncAlgorithm(cipher);
        encryption.setKeyEncAlgo(transport);
        encryption.setDigestAlgorithm(WSConstants.SHA256);
        encryption.setMGFAlgorithm(WSConstants.MGF_SHA256);
        encryption.build(keys.other, KeyUtils.getKeyGenerator(cipher).generateKey());
        return this;
    }

    /** The envelope as text. */
    public String text() throws Exception {
        Transformer transformer = TransformerFactory.newDefaultInstance().newTransformer();
        transformer.setOutputProperty(OutputKeys.OMIT_XML_DECLARATION, "yes");
        StringWriter text = new StringWriter();
        transformer.transform(new DOMSource(document), new StreamResult(text));
        return text.toString();
    }
}
