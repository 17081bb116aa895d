package interop;

import jakarta.xml.soap.SOAPConstants;
import jakarta.xml.soap.SOAPException;
import jakarta.xml.soap.SOAPFactory;
import jakarta.xml.ws.soap.SOAPFaultException;
import javax.xml.namespace.QName;

/** Application errors as faults of the caller, in either version of SOAP. */
final class Refusal {
  private Refusal() {}

  /** The fault with that text, in the version that this process speaks. */
  static SOAPFaultException of(String soap, String text) {
    try {
      boolean old = soap.equals("1.1");
      SOAPFactory factory =
          SOAPFactory.newInstance(
              old ? SOAPConstants.SOAP_1_1_PROTOCOL : SOAPConstants.SOAP_1_2_PROTOCOL);
      QName code =
          old
              ? new QName(SOAPConstants.URI_NS_SOAP_1_1_ENVELOPE, "Client")
              : SOAPConstants.SOAP_SENDER_FAULT;
      return new SOAPFaultException(factory.createFault(text, code));
    } catch (SOAPException error) {
      throw new IllegalStateException(error);
    }
  }
}
