package wirelab.service.soap.rpc;

import jakarta.jws.WebMethod;
import jakarta.jws.WebParam;
import jakarta.jws.WebResult;
import jakarta.jws.WebService;
import jakarta.jws.soap.SOAPBinding;
import jakarta.xml.ws.Holder;
import wirelab.service.contract.message.RecordsMessages;
import wirelab.service.contract.message.RecordsMessages.Team;

/**
 * {@code records} as rpc/literal: the fields of the messages are the parts. Those of requests are
 * texts here, since JAXB would let a number overflow: {@link wirelab.service.soap.Parts} reads them.
 */
@WebService(name = "Records", targetNamespace = RecordsMessages.NAMESPACE)
@SOAPBinding(style = SOAPBinding.Style.RPC)
public interface RecordsRpc {
    /** Allocate. */
    @WebMethod(operationName = "allocate", action = RecordsMessages.NAMESPACE + "#Allocate")
    void allocate(
            @WebParam(name = "name", partName = "name") String name,
            @WebParam(name = "id", partName = "id") String id,
            @WebParam(name = "courseCode", partName = "courseCode") String courseCode,
            @WebParam(name = "message", partName = "message", mode = WebParam.Mode.OUT)
                    Holder<String> message,
            @WebParam(name = "teamDetails", partName = "teamDetails", mode = WebParam.Mode.OUT)
                    Holder<Team> teamDetails);

    /** FindAllocation. */
    @WebMethod(operationName = "findAllocation", action = RecordsMessages.NAMESPACE + "#FindAllocation")
    @WebResult(name = "teamDetails", partName = "teamDetails")
    Team findAllocation(
            @WebParam(name = "groupId", partName = "groupId") String groupId);

    /** CountAllocations. */
    @WebMethod(operationName = "countAllocations", action = RecordsMessages.NAMESPACE + "#CountAllocations")
    @WebResult(name = "count", partName = "count")
    long countAllocations();
}
