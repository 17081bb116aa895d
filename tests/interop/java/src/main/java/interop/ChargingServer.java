package interop;

import jakarta.jws.WebService;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import interop.charging.Charging;
import interop.charging.ConfirmActionReply;
import interop.charging.ConfirmActionRequest;
import interop.charging.CreditControlReply;
import interop.charging.CreditControlRequest;
import interop.charging.CreditReply;
import interop.charging.CreditRequest;
import interop.charging.DebitReservationReply;
import interop.charging.DebitReservationRequest;
import interop.charging.DirectDebitReply;
import interop.charging.DirectDebitRequest;
import interop.charging.ReleaseResReply;
import interop.charging.ReleaseResRequest;
import interop.charging.ReserveReply;
import interop.charging.ReserveRequest;

/** The contract {@code charging} with one account, as far as its functions need it. */
@WebService(
    endpointInterface = "interop.charging.Charging",
    serviceName = "ChargingService",
    portName = "Charging",
    targetNamespace = "urn:wirelab:charging:v1")
public class ChargingServer implements Charging {
  private final String soap;
  private final Set<Integer> confirmations = new HashSet<>();
  private final Map<Integer, Integer> reservations = new HashMap<>();
  private int balance = 1_000_000_000;
  private int reserved;
  private int last;

  ChargingServer(String soap) {
    this.soap = soap;
  }

  @Override
  public synchronized CreditReply credit(CreditRequest request) {
    check(request.getId() == 1, "no such account");
    balance += request.getAm();
    CreditReply reply = new CreditReply();
    reply.setCn(confirmation());
    return reply;
  }

  @Override
  public synchronized DirectDebitReply directDebit(DirectDebitRequest request) {
    check(request.getId() == 1, "no such account");
    check(balance - reserved >= request.getAm(), "not enough credit");
    balance -= request.getAm();
    DirectDebitReply reply = new DirectDebitReply();
    reply.setCn(confirmation());
    return reply;
  }

  @Override
  public synchronized ReserveReply reserve(ReserveRequest request) {
    check(request.getId() == 1, "no such account");
    check(balance - reserved >= request.getAm(), "not enough credit");
    reserved += request.getAm();
    ReserveReply reply = new ReserveReply();
    reply.setRes(++last);
    reservations.put(last, request.getAm());
    reply.setCn(confirmation());
    return reply;
  }

  @Override
  public synchronized DebitReservationReply debitReservation(DebitReservationRequest request) {
    check(request.getId() == 1, "no such account");
    release(request.getRes());
    balance -= request.getAm();
    DebitReservationReply reply = new DebitReservationReply();
    reply.setCn(confirmation());
    return reply;
  }

  @Override
  public synchronized ReleaseResReply releaseRes(ReleaseResRequest request) {
    release(request.getRes());
    ReleaseResReply reply = new ReleaseResReply();
    reply.setCn(confirmation());
    return reply;
  }

  @Override
  public synchronized CreditControlReply creditControl(CreditControlRequest request) {
    check(request.getId() == 1, "no such account");
    CreditControlReply reply = new CreditControlReply();
    reply.setBalance(balance);
    reply.setReserved(reserved);
    return reply;
  }

  @Override
  public synchronized ConfirmActionReply confirmAction(ConfirmActionRequest request) {
    check(confirmations.remove(request.getCn()), "unknown confirmation");
    ConfirmActionReply reply = new ConfirmActionReply();
    reply.setCn(request.getCn());
    return reply;
  }

  private int confirmation() {
    confirmations.add(++last);
    return last;
  }

  private void release(int reservation) {
    Integer amount = reservations.remove(reservation);
    check(amount != null, "unknown reservation");
    reserved -= amount;
  }

  private void check(boolean holds, String text) {
    if (!holds) {
      throw Refusal.of(soap, text);
    }
  }
}
