package wirelab.service.soap.literal;

import jakarta.jws.WebMethod;
import jakarta.jws.WebParam;
import jakarta.jws.WebResult;
import jakarta.jws.WebService;
import jakarta.jws.soap.SOAPBinding;
import wirelab.service.contract.message.TransferMessages;
import wirelab.service.contract.message.TransferMessages.HelloBytesReply;
import wirelab.service.contract.message.TransferMessages.HelloReply;
import wirelab.service.contract.message.TransferMessages.HelloRequest;
import wirelab.service.contract.message.TransferMessages.SubmitReply;
import wirelab.service.contract.message.TransferMessages.SubmitRequest;
import wirelab.service.contract.message.TransferMessages.UploadReply;
import wirelab.service.contract.message.TransferMessages.UploadRequest;

/** {@code transfer} as document/literal, bare: the messages are the bodies. */
@WebService(name = "Transfer", targetNamespace = TransferMessages.NAMESPACE)
@SOAPBinding(parameterStyle = SOAPBinding.ParameterStyle.BARE)
public interface TransferLiteral {
    /** Hello. */
    @WebMethod(operationName = "hello", action = TransferMessages.NAMESPACE + "#Hello")
    @WebResult(name = "HelloReply", targetNamespace = TransferMessages.NAMESPACE, partName = "reply")
    HelloReply hello(
            @WebParam(name = "HelloRequest", targetNamespace = TransferMessages.NAMESPACE, partName = "request") HelloRequest request);

    /** HelloBytes. */
    @WebMethod(operationName = "helloBytes", action = TransferMessages.NAMESPACE + "#HelloBytes")
    @WebResult(name = "HelloBytesReply", targetNamespace = TransferMessages.NAMESPACE, partName = "reply")
    HelloBytesReply helloBytes(
            @WebParam(name = "HelloRequest", targetNamespace = TransferMessages.NAMESPACE, partName = "request") HelloRequest request);

    /** Submit. */
    @WebMethod(operationName = "submit", action = TransferMessages.NAMESPACE + "#Submit")
    @WebResult(name = "SubmitReply", targetNamespace = TransferMessages.NAMESPACE, partName = "reply")
    SubmitReply submit(
            @WebParam(name = "SubmitRequest", targetNamespace = TransferMessages.NAMESPACE, partName = "request") SubmitRequest request);

    /** Upload. */
    @WebMethod(operationName = "upload", action = TransferMessages.NAMESPACE + "#Upload")
    @WebResult(name = "UploadReply", targetNamespace = TransferMessages.NAMESPACE, partName = "reply")
    UploadReply upload(
            @WebParam(name = "UploadRequest", targetNamespace = TransferMessages.NAMESPACE, partName = "request") UploadRequest request);
}
