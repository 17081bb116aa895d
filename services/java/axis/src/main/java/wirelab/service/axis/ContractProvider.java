package wirelab.service.axis;

import java.lang.reflect.Field;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import javax.xml.namespace.QName;
import javax.xml.soap.SOAPException;
import org.apache.axis.AxisFault;
import org.apache.axis.Constants;
import org.apache.axis.Message;
import org.apache.axis.MessageContext;
import org.apache.axis.description.OperationDesc;
import org.apache.axis.description.ParameterDesc;
import org.apache.axis.encoding.XMLType;
import org.apache.axis.handlers.soap.SOAPService;
import org.apache.axis.message.RPCElement;
import org.apache.axis.message.RPCParam;
import org.apache.axis.message.SOAPBodyElement;
import org.apache.axis.message.SOAPEnvelope;
import org.apache.axis.providers.BasicProvider;
import org.xml.sax.SAXException;
import wirelab.service.Calls;
import wirelab.service.contract.ApplicationError;
import wirelab.service.contract.Exchange;
import wirelab.service.contract.Exchanges;
import wirelab.service.contract.Model;
import wirelab.service.contract.StoreUnavailable;

/** What Axis calls in the middle of its chain: one way for every operation. */
final class ContractProvider extends BasicProvider {
    private static final long serialVersionUID = 1L;

    private final transient Model model;
    private final transient Calls calls;
    private final transient Map<String, Exchange<?, ?>> exchanges;

    ContractProvider(Model model, Calls calls) {
        this.model = model;
        this.calls = calls;
        exchanges = Exchanges.of(model).stream().collect(Collectors.toMap(Exchange::lowerName, Function.identity()));
    }

    /** The operation as Axis wants it described, so that it knows the types of elements that do not say theirs. */
    OperationDesc describe(Exchange<?, ?> exchange) {
        OperationDesc operation = new OperationDesc();
        operation.setName(exchange.lowerName());
        operation.setElementQName(new QName(exchange.lowerName()));
        for (Field field : Fields.of(exchange.request())) {
            operation.addParameter(Fields.describe(field, ParameterDesc.IN, model.namespace()));
        }
        operation.setReturnType(XMLType.AXIS_VOID);
        return operation;
    }

    Iterable<Exchange<?, ?>> exchanges() {
        return exchanges.values();
    }

    @Override
    public void initServiceDesc(SOAPService service, MessageContext context) {
        // The description is made before the service is deployed.
    }

    @Override
    public void invoke(MessageContext context) throws AxisFault {
        try {
            RPCElement body = body(context.getRequestMessage().getSOAPEnvelope());
            Exchange<?, ?> exchange = exchanges.get(body.getMethodName());
            checkAction(context, exchange);
            try (Calls.Call call = calls.tally(exchange.operation()).begin()) {
                Object reply = exchange.answer(call, request(exchange, body));
                context.setResponseMessage(new Message(write(context, exchange, reply)));
            }
        } catch (StoreUnavailable error) {
            throw Faults.of("Server", error.getMessage());
        } catch (ApplicationError error) {
            throw Faults.client(error.getMessage());
        } catch (IllegalArgumentException | SAXException | SOAPException error) {
            throw Faults.client("not understood: " + error.getMessage());
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException("a message class that cannot be made", impossible);
        }
    }

    private RPCElement body(SOAPEnvelope envelope) throws AxisFault {
        SOAPBodyElement first = envelope.getFirstBody();
        String namespace = first == null ? null : first.getNamespaceURI();
        boolean known = first instanceof RPCElement call
                && exchanges.containsKey(call.getMethodName())
                && (namespace == null || namespace.isEmpty());
        if (!known) {
            throw Faults.client("the body holds no operation of " + model.contract());
        }
        return (RPCElement) first;
    }

    private void checkAction(MessageContext context, Exchange<?, ?> exchange) throws AxisFault {
        String expected = model.namespace() + "#" + exchange.operation();
        if (!expected.equals(context.getSOAPActionURI())) {
            throw Faults.client("the action must be " + expected + ", not " + context.getSOAPActionURI());
        }
    }

    private static Object request(Exchange<?, ?> exchange, RPCElement body)
            throws SAXException, ReflectiveOperationException {
        Object request = exchange.request().getConstructor().newInstance();
        body.getParams(); // reads them
        for (Field field : Fields.of(exchange.request())) {
            RPCParam parameter = body.getParam(field.getName());
            if (parameter != null && parameter.getObjectValue() != null) {
                Fields.set(request, field, parameter.getObjectValue());
            }
        }
        return request;
    }

    private SOAPEnvelope write(MessageContext context, Exchange<?, ?> exchange, Object reply)
            throws SOAPException, ReflectiveOperationException {
        SOAPEnvelope envelope = new SOAPEnvelope(context.getSOAPConstants(), context.getSchemaVersion());
        RPCElement body = new RPCElement(exchange.lowerName() + "Response");
        for (Field field : Fields.of(exchange.reply())) {
            RPCParam parameter = new RPCParam(new QName(field.getName()), Fields.get(reply, field));
            parameter.setParamDesc(Fields.describe(field, ParameterDesc.OUT, model.namespace()));
            body.addParam(parameter);
        }
        body.setEncodingStyle(Constants.URI_SOAP11_ENC);
        envelope.addBodyElement(body);
        return envelope;
    }
}
