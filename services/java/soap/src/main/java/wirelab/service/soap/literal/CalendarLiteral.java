package wirelab.service.soap.literal;

import jakarta.jws.WebMethod;
import jakarta.jws.WebParam;
import jakarta.jws.WebResult;
import jakarta.jws.WebService;
import jakarta.jws.soap.SOAPBinding;
import wirelab.service.contract.message.CalendarMessages;
import wirelab.service.contract.message.CalendarMessages.BookReply;
import wirelab.service.contract.message.CalendarMessages.BookRequest;
import wirelab.service.contract.message.CalendarMessages.DeployReply;
import wirelab.service.contract.message.CalendarMessages.DeployRequest;
import wirelab.service.contract.message.CalendarMessages.EntriesReply;
import wirelab.service.contract.message.CalendarMessages.EntriesRequest;

/** {@code calendar} as document/literal, bare: the messages are the bodies. */
@WebService(name = "Calendar", targetNamespace = CalendarMessages.NAMESPACE)
@SOAPBinding(parameterStyle = SOAPBinding.ParameterStyle.BARE)
public interface CalendarLiteral {
    /** Deploy. */
    @WebMethod(operationName = "deploy", action = CalendarMessages.NAMESPACE + "#Deploy")
    @WebResult(name = "DeployReply", targetNamespace = CalendarMessages.NAMESPACE, partName = "reply")
    DeployReply deploy(
            @WebParam(name = "DeployRequest", targetNamespace = CalendarMessages.NAMESPACE, partName = "request") DeployRequest request);

    /** Book. */
    @WebMethod(operationName = "book", action = CalendarMessages.NAMESPACE + "#Book")
    @WebResult(name = "BookReply", targetNamespace = CalendarMessages.NAMESPACE, partName = "reply")
    BookReply book(
            @WebParam(name = "BookRequest", targetNamespace = CalendarMessages.NAMESPACE, partName = "request") BookRequest request);

    /** Entries. */
    @WebMethod(operationName = "entries", action = CalendarMessages.NAMESPACE + "#Entries")
    @WebResult(name = "EntriesReply", targetNamespace = CalendarMessages.NAMESPACE, partName = "reply")
    EntriesReply entries(
            @WebParam(name = "EntriesRequest", targetNamespace = CalendarMessages.NAMESPACE, partName = "request") EntriesRequest request);
}
