package wirelab.caller.axis;

import org.apache.axis.client.Stub;
import wirelab.caller.Client;
import wirelab.caller.Stamps;
import wirelab.caller.Target;
import wirelab.caller.axis.encoded.Transfer;

/** The stub of one user, which Axis's WSDL2Java makes of the contract's WSDL. */
final class AxisClient implements Client {
    private final Target target;
    private final Stub stub;
    private final Transfer transfer;

    AxisClient(Target target, Stub stub) {
        this.target = target;
        this.stub = stub;
        transfer = (Transfer) stub;
    }

    @Override
    public void call(Stamps at) throws Exception {
        stub._setProperty(AxisStubs.STAMPS, at);
        at.sent();
        if (target.isBytes()) {
            target.compare(transfer.helloBytes());
        } else {
            target.compare(transfer.hello());
        }
    }

    @Override
    public void close() {
        // Kept connections end with the process.
    }
}
