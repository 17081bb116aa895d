package wirelab.service.soap.rpc;

import jakarta.jws.WebMethod;
import jakarta.jws.WebParam;
import jakarta.jws.WebResult;
import jakarta.jws.WebService;
import jakarta.jws.soap.SOAPBinding;
import jakarta.xml.ws.Holder;
import wirelab.service.contract.message.CalendarMessages;

/**
 * {@code calendar} as rpc/literal: the fields of the messages are the parts. Those of requests are
 * texts here, since JAXB would let a number overflow: {@link wirelab.service.soap.Parts} reads them.
 */
@WebService(name = "Calendar", targetNamespace = CalendarMessages.NAMESPACE)
@SOAPBinding(style = SOAPBinding.Style.RPC)
public interface CalendarRpc {
    /** Deploy. */
    @WebMethod(operationName = "deploy", action = CalendarMessages.NAMESPACE + "#Deploy")
    @WebResult(name = "status", partName = "status")
    String deploy(
            @WebParam(name = "document", partName = "document") String document);

    /** Book. */
    @WebMethod(operationName = "book", action = CalendarMessages.NAMESPACE + "#Book")
    void book(
            @WebParam(name = "owner", partName = "owner") String owner,
            @WebParam(name = "day", partName = "day") String day,
            @WebParam(name = "slot", partName = "slot") String slot,
            @WebParam(name = "title", partName = "title") String title,
            @WebParam(name = "open", partName = "open") String open,
            @WebParam(name = "weight", partName = "weight") String weight,
            @WebParam(name = "note", partName = "note") String note,
            @WebParam(name = "number", partName = "number", mode = WebParam.Mode.OUT)
                    Holder<Integer> number,
            @WebParam(name = "owner", partName = "owner", mode = WebParam.Mode.OUT)
                    Holder<String> ownerOut,
            @WebParam(name = "title", partName = "title", mode = WebParam.Mode.OUT)
                    Holder<String> titleOut);

    /** Entries. */
    @WebMethod(operationName = "entries", action = CalendarMessages.NAMESPACE + "#Entries")
    @WebResult(name = "entries", partName = "entries")
    EntryList entries(
            @WebParam(name = "owner", partName = "owner") String owner,
            @WebParam(name = "day", partName = "day") String day);
}
