package wirelab.caller.soap;

import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.WebServiceException;
import jakarta.xml.ws.soap.SOAPBinding;
import java.io.IOException;
import org.apache.cxf.Bus;
import org.apache.cxf.BusFactory;
import org.apache.cxf.endpoint.Client;
import org.apache.cxf.frontend.ClientProxy;
import org.apache.cxf.interceptor.Fault;
import org.apache.cxf.jaxws.JaxWsProxyFactoryBean;
import org.apache.cxf.message.Message;
import org.apache.cxf.phase.AbstractPhaseInterceptor;
import org.apache.cxf.phase.Phase;
import org.apache.cxf.transport.http.HTTPConduit;
import org.apache.cxf.transport.http.HTTPConduitFactory;
import org.apache.cxf.transport.http.URLConnectionHTTPConduit;
import org.apache.cxf.transports.http.configuration.ConnectionType;
import org.apache.cxf.transports.http.configuration.HTTPClientPolicy;
import wirelab.caller.Failure;
import wirelab.caller.Stamps;
import wirelab.caller.Target;
import wirelab.caller.soap.literal.HelloRequest;

/** A proxy of the interface that CXF's wsdl2java makes of the contract's WSDL. */
final class SoapClient implements wirelab.caller.Client {
    /** Of the request context. */
    private static final String REPLY = Reply.class.getName();

    /** What CXF's chains tell of the reply to one call. */
    private static final class Reply {
        private final Stamps at;
        private volatile boolean isFault;

        Reply(Stamps at) {
            this.at = at;
        }

        /** Of the call that a message answers. */
        static Reply to(Message message) {
            return (Reply) message.getExchange().getOutMessage().get(REPLY);
        }
    }

    /** Makes one call and compares its reply. */
    private interface Call {
        void make() throws Failure;
    }

    private final Target target;
    private final BindingProvider proxy;
    private final Call call;

    SoapClient(Target target) {
        this.target = target;
        boolean isRpc = target.axis("codec", "soap-literal").equals("soap-rpc");
        proxy = (BindingProvider) proxy(isRpc ? wirelab.caller.soap.rpc.Transfer.class
                : wirelab.caller.soap.literal.Transfer.class);
        // By itself a context is of all threads.
        proxy.getRequestContext().put("thread.local.request.context", "true");
        configure(ClientProxy.getClient(proxy));
        call = isRpc ? rpc((wirelab.caller.soap.rpc.Transfer) proxy)
                : literal((wirelab.caller.soap.literal.Transfer) proxy);
    }

    private Object proxy(Class<?> kind) {
        Bus bus = BusFactory.newInstance().createBus();
        if (target.closes()) {
            HTTPConduitFactory byConnection = (transport, of, service, peer) ->
                    new URLConnectionHTTPConduit(of, service, peer);
            bus.setExtension(byConnection, HTTPConduitFactory.class);
        }
        JaxWsProxyFactoryBean factory = new JaxWsProxyFactoryBean();
        factory.setBus(bus);
        factory.setServiceClass(kind);
        factory.setBindingId(target.axis("soap", "1.1").equals("1.2")
                ? SOAPBinding.SOAP12HTTP_BINDING
                : SOAPBinding.SOAP11HTTP_BINDING);
        factory.setAddress("http://" + target.address() + "/transfer/soap");
        return factory.create();
    }

    private void configure(Client client) {
        HTTPClientPolicy policy = new HTTPClientPolicy();
        policy.setConnectionTimeout(target.timeout().toMillis());
        policy.setReceiveTimeout(target.timeout().toMillis());
        policy.setConnection(target.closes() ? ConnectionType.CLOSE : ConnectionType.KEEP_ALIVE);
        // Otherwise each request offers an upgrade to HTTP/2.
        policy.setVersion("1.1");
        ((HTTPConduit) client.getConduit()).setClient(policy);
        client.getInInterceptors().add(new Stamping());
        client.getInFaultInterceptors().add(new Marking());
    }

    private Call literal(wirelab.caller.soap.literal.Transfer transfer) {
        return target.isBytes()
                ? () -> target.compare(transfer.helloBytes(new HelloRequest()).getText())
                : () -> target.compare(transfer.hello(new HelloRequest()).getText());
    }

    private Call rpc(wirelab.caller.soap.rpc.Transfer transfer) {
        return target.isBytes()
                ? () -> target.compare(transfer.helloBytes())
                : () -> target.compare(transfer.hello());
    }

    @Override
    public void call(Stamps at) throws Exception {
        Reply reply = new Reply(at);
        proxy.getRequestContext().put(REPLY, reply);
        at.sent();
        try {
            call.make();
        } catch (WebServiceException error) {
            throw failure(reply, error);
        }
    }

    /** CXF shows a reply that it cannot read, too, as a fault. */
    private static Exception failure(Reply reply, WebServiceException error) {
        Fault fault = null;
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof IOException) {
                return error;
            }
            if (fault == null && cause instanceof Fault first) {
                fault = first;
            }
        }
        if (reply.isFault) {
            return Failure.application(fault == null ? error.getMessage() : fault.getMessage());
        }
        return fault == null ? error : Failure.wrong("the reply cannot be decoded: " + fault.getMessage());
    }

    @Override
    public void close() {
        // Kept connections end with the process.
    }

    /** Stamps the reply, whose status and headers are there. */
    private static final class Stamping extends AbstractPhaseInterceptor<Message> {
        Stamping() {
            super(Phase.RECEIVE);
        }

        @Override
        public void handleMessage(Message message) {
            Reply.to(message).at.firstByte();
        }
    }

    /** Notes that the reply is a fault of the service: only these pass the chain of faults. */
    private static final class Marking extends AbstractPhaseInterceptor<Message> {
        Marking() {
            super(Phase.RECEIVE);
        }

        @Override
        public void handleMessage(Message message) {
            Reply.to(message).isFault = true;
        }
    }
}
