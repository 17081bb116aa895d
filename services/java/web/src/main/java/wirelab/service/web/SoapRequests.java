package wirelab.service.web;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import wirelab.service.Configuration;
import wirelab.service.contract.Model;

/** A SOAP request that changes nothing, in every style, for the service's call to itself. */
public final class SoapRequests {
    private SoapRequests() {}

    /** The request of that stack. */
    public static SelfCall.Request own(Configuration configuration, Model model) {
        Configuration.Stack stack = configuration.stack();
        String operation = switch (model.contract()) {
            case "transfer" -> "Hello";
            case "charging" -> "CreditControl";
            case "records" -> "CountAllocations";
            default -> "Entries";
        };
        String action = model.namespace() + "#" + operation;
        byte[] body = envelope(stack, child(stack, model, operation)).getBytes(StandardCharsets.UTF_8);
        return new SelfCall.Request("/" + model.contract() + "/soap", stack.soap().equals("1.2")
                ? Map.of("Content-Type", "application/soap+xml; charset=utf-8; action=\"" + action + "\"")
                : Map.of("Content-Type", "text/xml; charset=utf-8", "SOAPAction", "\"" + action + "\""), body);
    }

    private static String envelope(Configuration.Stack stack, String child) {
        String namespace = stack.soap().equals("1.2")
                ? "http://www.w3.org/2003/05/soap-envelope"
                : "http://schemas.xmlsoap.org/soap/envelope/";
        String style = stack.codec().equals("soap-encoded")
                ? " soapenv:encodingStyle=\"http://schemas.xmlsoap.org/soap/encoding/\""
                        + " xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\""
                        + " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\""
                : "";
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?><soapenv:Envelope xmlns:soapenv=\"" + namespace + "\""
                + style + "><soapenv:Body>" + child + "</soapenv:Body></soapenv:Envelope>";
    }

    private static String child(Configuration.Stack stack, Model model, String operation) {
        String lower = Character.toLowerCase(operation.charAt(0)) + operation.substring(1);
        String fields = fields(model, stack.codec().equals("soap-encoded"));
        return switch (stack.codec()) {
            case "soap-literal" -> {
                String name = operation + "Request";
                yield "<" + name + " xmlns=\"" + model.namespace() + "\">" + fields + "</" + name + ">";
            }
            case "soap-rpc" -> "<w:" + lower + " xmlns:w=\"" + model.namespace() + "\">" + fields
                    + "</w:" + lower + ">";
            default -> "<" + lower + ">" + fields + "</" + lower + ">";
        };
    }

    private static String fields(Model model, boolean typed) {
        String text = typed ? " xsi:type=\"xsd:string\"" : "";
        String number = typed ? " xsi:type=\"xsd:int\"" : "";
        return switch (model.contract()) {
            case "transfer", "records" -> "";
            case "charging" -> "<id" + number + ">1</id>";
            default -> "<owner" + text + ">self</owner><day" + number + ">1</day>";
        };
    }
}
