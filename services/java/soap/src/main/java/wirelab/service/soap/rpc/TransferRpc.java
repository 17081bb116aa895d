package wirelab.service.soap.rpc;

import jakarta.jws.WebMethod;
import jakarta.jws.WebParam;
import jakarta.jws.WebResult;
import jakarta.jws.WebService;
import jakarta.jws.soap.SOAPBinding;
import jakarta.xml.ws.Holder;
import wirelab.service.contract.message.TransferMessages;

/**
 * {@code transfer} as rpc/literal: the fields of the messages are the parts. Those of requests are
 * texts here, since JAXB would let a number overflow: {@link wirelab.service.soap.Parts} reads them.
 */
@WebService(name = "Transfer", targetNamespace = TransferMessages.NAMESPACE)
@SOAPBinding(style = SOAPBinding.Style.RPC)
public interface TransferRpc {
    /** Hello. */
    @WebMethod(operationName = "hello", action = TransferMessages.NAMESPACE + "#Hello")
    @WebResult(name = "text", partName = "text")
    String hello();

    /** HelloBytes. */
    @WebMethod(operationName = "helloBytes", action = TransferMessages.NAMESPACE + "#HelloBytes")
    @WebResult(name = "text", partName = "text")
    byte[] helloBytes();

    /** Submit. */
    @WebMethod(operationName = "submit", action = TransferMessages.NAMESPACE + "#Submit")
    void submit(
            @WebParam(name = "batch", partName = "batch") String batch,
            @WebParam(name = "records", partName = "records") RecordList records,
            @WebParam(name = "batch", partName = "batch", mode = WebParam.Mode.OUT)
                    Holder<String> batchOut,
            @WebParam(name = "accepted", partName = "accepted", mode = WebParam.Mode.OUT)
                    Holder<Integer> accepted,
            @WebParam(name = "quantity_total", partName = "quantity_total", mode = WebParam.Mode.OUT)
                    Holder<Long> quantity_total,
            @WebParam(name = "refused", partName = "refused", mode = WebParam.Mode.OUT)
                    Holder<RefusalList> refused);

    /** Upload. */
    @WebMethod(operationName = "upload", action = TransferMessages.NAMESPACE + "#Upload")
    void upload(
            @WebParam(name = "data", partName = "data") String data,
            @WebParam(name = "length", partName = "length", mode = WebParam.Mode.OUT)
                    Holder<Long> length,
            @WebParam(name = "sha256", partName = "sha256", mode = WebParam.Mode.OUT)
                    Holder<String> sha256);
}
