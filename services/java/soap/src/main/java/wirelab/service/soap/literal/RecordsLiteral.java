package wirelab.service.soap.literal;

import jakarta.jws.WebMethod;
import jakarta.jws.WebParam;
import jakarta.jws.WebResult;
import jakarta.jws.WebService;
import jakarta.jws.soap.SOAPBinding;
import wirelab.service.contract.message.RecordsMessages;
import wirelab.service.contract.message.RecordsMessages.AllocateReply;
import wirelab.service.contract.message.RecordsMessages.AllocateRequest;
import wirelab.service.contract.message.RecordsMessages.CountAllocationsReply;
import wirelab.service.contract.message.RecordsMessages.CountAllocationsRequest;
import wirelab.service.contract.message.RecordsMessages.FindAllocationReply;
import wirelab.service.contract.message.RecordsMessages.FindAllocationRequest;

/** {@code records} as document/literal, bare: the messages are the bodies. */
@WebService(name = "Records", targetNamespace = RecordsMessages.NAMESPACE)
@SOAPBinding(parameterStyle = SOAPBinding.ParameterStyle.BARE)
public interface RecordsLiteral {
    /** Allocate. */
    @WebMethod(operationName = "allocate", action = RecordsMessages.NAMESPACE + "#Allocate")
    @WebResult(name = "AllocateReply", targetNamespace = RecordsMessages.NAMESPACE, partName = "reply")
    AllocateReply allocate(
            @WebParam(name = "AllocateRequest", targetNamespace = RecordsMessages.NAMESPACE, partName = "request") AllocateRequest request);

    /** FindAllocation. */
    @WebMethod(operationName = "findAllocation", action = RecordsMessages.NAMESPACE + "#FindAllocation")
    @WebResult(name = "FindAllocationReply", targetNamespace = RecordsMessages.NAMESPACE, partName = "reply")
    FindAllocationReply findAllocation(
            @WebParam(name = "FindAllocationRequest", targetNamespace = RecordsMessages.NAMESPACE, partName = "request") FindAllocationRequest request);

    /** CountAllocations. */
    @WebMethod(operationName = "countAllocations", action = RecordsMessages.NAMESPACE + "#CountAllocations")
    @WebResult(name = "CountAllocationsReply", targetNamespace = RecordsMessages.NAMESPACE, partName = "reply")
    CountAllocationsReply countAllocations(
            @WebParam(name = "CountAllocationsRequest", targetNamespace = RecordsMessages.NAMESPACE, partName = "request") CountAllocationsRequest request);
}
