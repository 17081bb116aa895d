package wirelab.service.soap.literal;

import jakarta.jws.WebMethod;
import jakarta.jws.WebParam;
import jakarta.jws.WebResult;
import jakarta.jws.WebService;
import jakarta.jws.soap.SOAPBinding;
import wirelab.service.contract.message.ChargingMessages;
import wirelab.service.contract.message.ChargingMessages.ConfirmActionReply;
import wirelab.service.contract.message.ChargingMessages.ConfirmActionRequest;
import wirelab.service.contract.message.ChargingMessages.CreditControlReply;
import wirelab.service.contract.message.ChargingMessages.CreditControlRequest;
import wirelab.service.contract.message.ChargingMessages.CreditReply;
import wirelab.service.contract.message.ChargingMessages.CreditRequest;
import wirelab.service.contract.message.ChargingMessages.DebitReservationReply;
import wirelab.service.contract.message.ChargingMessages.DebitReservationRequest;
import wirelab.service.contract.message.ChargingMessages.DirectDebitReply;
import wirelab.service.contract.message.ChargingMessages.DirectDebitRequest;
import wirelab.service.contract.message.ChargingMessages.ReleaseResReply;
import wirelab.service.contract.message.ChargingMessages.ReleaseResRequest;
import wirelab.service.contract.message.ChargingMessages.ReserveReply;
import wirelab.service.contract.message.ChargingMessages.ReserveRequest;

/** {@code charging} as document/literal, bare: the messages are the bodies. */
@WebService(name = "Charging", targetNamespace = ChargingMessages.NAMESPACE)
@SOAPBinding(parameterStyle = SOAPBinding.ParameterStyle.BARE)
public interface ChargingLiteral {
    /** Credit. */
    @WebMethod(operationName = "credit", action = ChargingMessages.NAMESPACE + "#Credit")
    @WebResult(name = "CreditReply", targetNamespace = ChargingMessages.NAMESPACE, partName = "reply")
    CreditReply credit(
            @WebParam(name = "CreditRequest", targetNamespace = ChargingMessages.NAMESPACE, partName = "request") CreditRequest request);

    /** DirectDebit. */
    @WebMethod(operationName = "directDebit", action = ChargingMessages.NAMESPACE + "#DirectDebit")
    @WebResult(name = "DirectDebitReply", targetNamespace = ChargingMessages.NAMESPACE, partName = "reply")
    DirectDebitReply directDebit(
            @WebParam(name = "DirectDebitRequest", targetNamespace = ChargingMessages.NAMESPACE, partName = "request") DirectDebitRequest request);

    /** Reserve. */
    @WebMethod(operationName = "reserve", action = ChargingMessages.NAMESPACE + "#Reserve")
    @WebResult(name = "ReserveReply", targetNamespace = ChargingMessages.NAMESPACE, partName = "reply")
    ReserveReply reserve(
            @WebParam(name = "ReserveRequest", targetNamespace = ChargingMessages.NAMESPACE, partName = "request") ReserveRequest request);

    /** DebitReservation. */
    @WebMethod(operationName = "debitReservation", action = ChargingMessages.NAMESPACE + "#DebitReservation")
    @WebResult(name = "DebitReservationReply", targetNamespace = ChargingMessages.NAMESPACE, partName = "reply")
    DebitReservationReply debitReservation(
            @WebParam(name = "DebitReservationRequest", targetNamespace = ChargingMessages.NAMESPACE, partName = "request") DebitReservationRequest request);

    /** ReleaseRes. */
    @WebMethod(operationName = "releaseRes", action = ChargingMessages.NAMESPACE + "#ReleaseRes")
    @WebResult(name = "ReleaseResReply", targetNamespace = ChargingMessages.NAMESPACE, partName = "reply")
    ReleaseResReply releaseRes(
            @WebParam(name = "ReleaseResRequest", targetNamespace = ChargingMessages.NAMESPACE, partName = "request") ReleaseResRequest request);

    /** CreditControl. */
    @WebMethod(operationName = "creditControl", action = ChargingMessages.NAMESPACE + "#CreditControl")
    @WebResult(name = "CreditControlReply", targetNamespace = ChargingMessages.NAMESPACE, partName = "reply")
    CreditControlReply creditControl(
            @WebParam(name = "CreditControlRequest", targetNamespace = ChargingMessages.NAMESPACE, partName = "request") CreditControlRequest request);

    /** ConfirmAction. */
    @WebMethod(operationName = "confirmAction", action = ChargingMessages.NAMESPACE + "#ConfirmAction")
    @WebResult(name = "ConfirmActionReply", targetNamespace = ChargingMessages.NAMESPACE, partName = "reply")
    ConfirmActionReply confirmAction(
            @WebParam(name = "ConfirmActionRequest", targetNamespace = ChargingMessages.NAMESPACE, partName = "request") ConfirmActionRequest request);
}
