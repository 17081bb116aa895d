package wirelab.service.rest;

import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;
import wirelab.service.Binding;
import wirelab.service.Calls;
import wirelab.service.Configuration;
import wirelab.service.Refusal;
import wirelab.service.contract.Model;
import wirelab.service.contract.Stream;
import wirelab.service.rest.websocket.WebSocketServer;
import wirelab.service.spring.SpringServer;

/** REST and SSE on Spring Boot's web stack with Tomcat, and WebSocket on Tomcat alone. */
public final class RestBinding implements Binding {
    @Override
    public Running start(Configuration configuration, Model model, Calls calls)
            throws Refusal, IOException {
        if (configuration.stack().binding().equals("websocket")) {
            return WebSocketServer.start(configuration, (Stream) model, calls);
        }
        Codec codec = Codecs.codec(configuration.stack().codec(), model);
        return SpringServer.start(configuration, OwnRequest.of(model, codec), beans -> {
            beans.registerBean(Model.class, () -> model);
            beans.registerBean(Calls.class, () -> calls);
            beans.registerBean(Codec.class, () -> codec);
        }, RestApplication.class);
    }

    @Override
    public List<String> fullCodecs() {
        return Codecs.names().stream().filter(name -> !name.equals("text")).toList();
    }

    @Override
    public List<String> codecWorkers(Configuration.Stack stack) {
        return Codecs.of(stack.codec()).workers().stream().map(Supplier::get).toList();
    }
}
