package service.soap;

import contract.PlainOperation;
import java.util.List;
import org.apache.cxf.binding.soap.SoapFault;
import org.apache.cxf.binding.soap.SoapMessage;
import org.apache.cxf.binding.soap.interceptor.SoapActionInInterceptor;
import org.apache.cxf.message.Exchange;
import org.apache.cxf.message.MessageContentsList;
import org.apache.cxf.service.invoker.Invoker;
import service.Answers;
import service.rules.BadMessage;

/** What CXF calls when it has read a message. */
final class OperationInvoker implements Invoker {
    private final Answers<?, ?> answers;

    OperationInvoker(Answers<?, ?> answers) {
        this.answers = answers;
    }

    @Override
    public Object invoke(Exchange exchange, Object values) {
        SoapMessage message = (SoapMessage) exchange.getInMessage();
        checkAction(message);
        try {
            return new MessageContentsList(answers.answerObject(((List<?>) values).get(0)));
        } catch (BadMessage error) {
            throw new SoapFault(error.getMessage(), message.getVersion().getSender());
        }
    }

    /** CXF itself lets an action pass that it does not know. */
    private static void checkAction(SoapMessage message) {
        String action = SoapActionInInterceptor.getSoapAction(message);
        if (!PlainOperation.ACTION.equals(action)) {
            throw new SoapFault("the action must be " + PlainOperation.ACTION + ", not " + action,
                    message.getVersion().getSender());
        }
    }
}
