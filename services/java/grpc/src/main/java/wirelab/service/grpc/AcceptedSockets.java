package wirelab.service.grpc;

import io.grpc.Attributes;
import io.grpc.ServerTransportFilter;
import wirelab.service.Calls;

/** Counts the connections that were accepted. */
final class AcceptedSockets extends ServerTransportFilter {
    private final Calls calls;

    AcceptedSockets(Calls calls) {
        this.calls = calls;
    }

    @Override
    public Attributes transportReady(Attributes attributes) {
        calls.connected();
        return attributes;
    }
}
