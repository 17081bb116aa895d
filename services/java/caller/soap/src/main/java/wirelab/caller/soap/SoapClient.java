package wirelab.caller.soap;

import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.WebServiceException;
import jakarta.xml.ws.soap.SOAPBinding;
import jakarta.xml.ws.soap.SOAPFaultException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
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
import org.apache.cxf.ws.security.wss4j.WSS4JOutInterceptor;
import org.apache.wss4j.common.ConfigurationConstants;
import org.apache.wss4j.common.ext.WSPasswordCallback;
import org.apache.wss4j.dom.WSConstants;
import wirelab.caller.Failure;
import wirelab.caller.Stamps;
import wirelab.caller.Target;
import wirelab.caller.soap.literal.HelloRequest;
import wirelab.service.wss.Keys;
import wirelab.service.wss.MessageSecurity;

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
        if (target.secrets() != null) {
            secure(ClientProxy.getClient(proxy), target.secrets());
        }
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

    private void secure(Client client, Target.Secrets secrets) {
        if (secrets.keystore() == null) {
            client.getOutInterceptors().add(new WSS4JOutInterceptor(Map.of(
                    ConfigurationConstants.ACTION, ConfigurationConstants.USERNAME_TOKEN,
                    ConfigurationConstants.USER, secrets.username(),
                    ConfigurationConstants.PASSWORD_TYPE, WSConstants.PW_TEXT,
                    ConfigurationConstants.PW_CALLBACK_REF, (CallbackHandler) requested -> answer(requested, secrets))));
            return;
        }
        try {
            Keys keys = Keys.ofCaller(secrets.keystore(), secrets.password());
            client.getEndpoint().putAll(MessageSecurity.stores());
            new MessageSecurity(target.axis("ws_security", "none"), target.axis("soap", "1.1"), keys).intercept(client);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private static void answer(Callback[] requested, Target.Secrets secrets) {
        for (Callback each : requested) {
            ((WSPasswordCallback) each).setPassword(secrets.password());
        }
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
        // CXF makes a fault of its own where WSS4J refuses the reply.
        if (error instanceof SOAPFaultException) {
            return Failure.wrong("the reply is not secured as the stack says: " + error.getMessage());
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
