package wirelab.service.soap;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.cxf.binding.soap.SoapFault;
import org.apache.cxf.binding.soap.SoapMessage;
import org.apache.cxf.binding.soap.interceptor.SoapActionInInterceptor;
import org.apache.cxf.message.MessageContentsList;
import org.apache.cxf.service.invoker.Invoker;
import org.apache.cxf.service.model.OperationInfo;
import wirelab.service.Calls;
import wirelab.service.contract.ApplicationError;
import wirelab.service.contract.Exchange;
import wirelab.service.contract.Exchanges;
import wirelab.service.contract.Model;
import wirelab.service.contract.StoreUnavailable;

/** What CXF calls when it has read a message: one way for every operation. */
final class ContractInvoker implements Invoker {
    private final Model model;
    private final Calls calls;
    private final boolean rpc;
    private final Map<String, Exchange<?, ?>> exchanges;

    ContractInvoker(Model model, Calls calls, boolean rpc) {
        this.model = model;
        this.calls = calls;
        this.rpc = rpc;
        exchanges = Exchanges.of(model).stream().collect(Collectors.toMap(Exchange::lowerName, Function.identity()));
    }

    @Override
    public Object invoke(org.apache.cxf.message.Exchange around, Object values) {
        OperationInfo operation = around.getBindingOperationInfo().getOperationInfo();
        Exchange<?, ?> exchange = exchanges.get(operation.getName().getLocalPart());
        SoapMessage message = (SoapMessage) around.getInMessage();
        MessageContentsList came = MessageContentsList.getContentsList(message);
        try (Calls.Call call = calls.tally(exchange.operation()).begin()) {
            checkAction(exchange, message);
            Object request = rpc
                    ? Parts.request(exchange.request(), operation.getInput(), came)
                    : ((List<?>) values).get(0);
            Object reply = exchange.answer(call, request);
            return rpc ? Parts.reply(reply, operation.getOutput(), came) : new MessageContentsList(reply);
        } catch (StoreUnavailable error) {
            throw new SoapFault(error.getMessage(), error, message.getVersion().getReceiver());
        } catch (ApplicationError error) {
            throw new SoapFault(error.getMessage(), message.getVersion().getSender());
        } catch (IllegalArgumentException error) {
            throw new SoapFault("not understood: " + error.getMessage(), message.getVersion().getSender());
        }
    }

    /** CXF itself lets an action pass that it does not know. */
    private void checkAction(Exchange<?, ?> exchange, SoapMessage message) {
        String action = SoapActionInInterceptor.getSoapAction(message);
        String expected = model.namespace() + "#" + exchange.operation();
        if (!expected.equals(action)) {
            throw new SoapFault("the action must be " + expected + ", not " + action, message.getVersion().getSender());
        }
    }
}
