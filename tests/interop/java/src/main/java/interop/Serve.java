package interop;

import jakarta.xml.ws.Endpoint;
import jakarta.xml.ws.soap.SOAPBinding;

/** An endpoint of the JAX-WS reference implementation, on the HTTP server of the JDK. */
public final class Serve {
  private Serve() {}

  /**
   * Serves until standard input ends.
   *
   * @param arguments the contract, the version of SOAP, the URL
   */
  public static void main(String[] arguments) throws Exception {
    Object contract = arguments[0].equals("charging") ? new ChargingServer(arguments[1]) : new CalendarServer(arguments[1]);
    String binding =
        arguments[1].equals("1.2") ? SOAPBinding.SOAP12HTTP_BINDING : SOAPBinding.SOAP11HTTP_BINDING;
    Endpoint endpoint = Endpoint.create(binding, contract);
    endpoint.publish(arguments[2]);
    while (System.in.read() >= 0) {
      continue;
    }
    endpoint.stop();
  }
}
