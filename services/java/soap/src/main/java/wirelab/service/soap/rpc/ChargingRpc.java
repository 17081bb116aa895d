package wirelab.service.soap.rpc;

import jakarta.jws.WebMethod;
import jakarta.jws.WebParam;
import jakarta.jws.WebResult;
import jakarta.jws.WebService;
import jakarta.jws.soap.SOAPBinding;
import jakarta.xml.ws.Holder;
import wirelab.service.contract.message.ChargingMessages;

/**
 * {@code charging} as rpc/literal: the fields of the messages are the parts. Those of requests are
 * texts here, since JAXB would let a number overflow: {@link wirelab.service.soap.Parts} reads them.
 */
@WebService(name = "Charging", targetNamespace = ChargingMessages.NAMESPACE)
@SOAPBinding(style = SOAPBinding.Style.RPC)
public interface ChargingRpc {
    /** Credit. */
    @WebMethod(operationName = "credit", action = ChargingMessages.NAMESPACE + "#Credit")
    @WebResult(name = "cn", partName = "cn")
    int credit(
            @WebParam(name = "id", partName = "id") String id,
            @WebParam(name = "am", partName = "am") String am);

    /** DirectDebit. */
    @WebMethod(operationName = "directDebit", action = ChargingMessages.NAMESPACE + "#DirectDebit")
    @WebResult(name = "cn", partName = "cn")
    int directDebit(
            @WebParam(name = "id", partName = "id") String id,
            @WebParam(name = "am", partName = "am") String am);

    /** Reserve. */
    @WebMethod(operationName = "reserve", action = ChargingMessages.NAMESPACE + "#Reserve")
    void reserve(
            @WebParam(name = "id", partName = "id") String id,
            @WebParam(name = "am", partName = "am") String am,
            @WebParam(name = "res", partName = "res", mode = WebParam.Mode.OUT)
                    Holder<Integer> res,
            @WebParam(name = "cn", partName = "cn", mode = WebParam.Mode.OUT)
                    Holder<Integer> cn);

    /** DebitReservation. */
    @WebMethod(operationName = "debitReservation", action = ChargingMessages.NAMESPACE + "#DebitReservation")
    @WebResult(name = "cn", partName = "cn")
    int debitReservation(
            @WebParam(name = "id", partName = "id") String id,
            @WebParam(name = "am", partName = "am") String am,
            @WebParam(name = "res", partName = "res") String res);

    /** ReleaseRes. */
    @WebMethod(operationName = "releaseRes", action = ChargingMessages.NAMESPACE + "#ReleaseRes")
    @WebResult(name = "cn", partName = "cn")
    int releaseRes(
            @WebParam(name = "res", partName = "res") String res);

    /** CreditControl. */
    @WebMethod(operationName = "creditControl", action = ChargingMessages.NAMESPACE + "#CreditControl")
    void creditControl(
            @WebParam(name = "id", partName = "id") String id,
            @WebParam(name = "balance", partName = "balance", mode = WebParam.Mode.OUT)
                    Holder<Integer> balance,
            @WebParam(name = "reserved", partName = "reserved", mode = WebParam.Mode.OUT)
                    Holder<Integer> reserved);

    /** ConfirmAction. */
    @WebMethod(operationName = "confirmAction", action = ChargingMessages.NAMESPACE + "#ConfirmAction")
    @WebResult(name = "cn", partName = "cn")
    int confirmAction(
            @WebParam(name = "cn", partName = "cn") String cn);
}
