package wirelab.service.iiop;

import wirelab.charging_v1.ApplicationError;
import wirelab.charging_v1.ChargingPOA;
import wirelab.charging_v1.ConfirmActionReply;
import wirelab.charging_v1.CreditControlReply;
import wirelab.charging_v1.CreditReply;
import wirelab.charging_v1.DebitReservationReply;
import wirelab.charging_v1.DirectDebitReply;
import wirelab.charging_v1.ReleaseResReply;
import wirelab.charging_v1.ReserveReply;
import wirelab.service.Calls;
import wirelab.service.contract.Charging;

/** The contract {@code charging} behind the skeleton that JacORB's compiler made. */
final class ChargingServant extends ChargingPOA {
    private final Charging model;
    private final Answering<ApplicationError> calls;

    ChargingServant(Charging model, Calls calls) {
        this.model = model;
        this.calls = new Answering<>(calls, ApplicationError::new);
    }

    @Override
    public CreditReply credit(int id, int am) throws ApplicationError {
        return calls.answer("Credit", () -> new CreditReply(model.credit(id, am)));
    }

    @Override
    public DirectDebitReply directDebit(int id, int am) throws ApplicationError {
        return calls.answer("DirectDebit", () -> new DirectDebitReply(model.directDebit(id, am)));
    }

    @Override
    public ReserveReply reserve(int id, int am) throws ApplicationError {
        return calls.answer("Reserve", () -> {
            Charging.Reserved made = model.reserve(id, am);
            return new ReserveReply(made.reservation(), made.confirmation());
        });
    }

    @Override
    public DebitReservationReply debitReservation(int id, int am, int res) throws ApplicationError {
        return calls.answer("DebitReservation", () -> new DebitReservationReply(model.debitReservation(id, am, res)));
    }

    @Override
    public ReleaseResReply releaseRes(int res) throws ApplicationError {
        return calls.answer("ReleaseRes", () -> new ReleaseResReply(model.releaseRes(res)));
    }

    @Override
    public CreditControlReply creditControl(int id) throws ApplicationError {
        return calls.answer("CreditControl", () -> {
            Charging.Holding held = model.creditControl(id);
            return new CreditControlReply(held.balance(), held.reserved());
        });
    }

    @Override
    public ConfirmActionReply confirmAction(int cn) throws ApplicationError {
        return calls.answer("ConfirmAction", () -> new ConfirmActionReply(model.confirmAction(cn)));
    }
}
