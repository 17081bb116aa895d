package wirelab.caller.axis;

import org.apache.axis.client.Stub;
import wirelab.caller.Call;
import wirelab.caller.Client;
import wirelab.caller.Stamps;

/** The stub of one user, which Axis's WSDL2Java makes of the contract's WSDL. */
final class AxisClient implements Client {
    private final EncodedStubs<?> stubs;
    private final Stub stub;

    AxisClient(EncodedStubs<?> stubs, Stub stub) {
        this.stubs = stubs;
        this.stub = stub;
    }

    @Override
    public Object call(Call call, Stamps at) throws Exception {
        stub._setProperty(AxisStubs.STAMPS, at);
        return stubs.call(stub, call, at);
    }

    @Override
    public void close() {
        // Kept connections end with the process.
    }
}
