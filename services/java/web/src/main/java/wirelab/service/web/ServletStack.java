package wirelab.service.web;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import wirelab.service.Binding;
import wirelab.service.Configuration;
import wirelab.service.contract.Model;

/** A SOAP stack that serves from one servlet. */
public record ServletStack(Configuration configuration, Model model, WebServer server) implements Binding.Running {
    @Override
    public String address() {
        return Connectors.address(server.connector(), configuration);
    }

    @Override
    public Map<String, Object> set() {
        return Connectors.set(server.connector(), configuration);
    }

    @Override
    public void callSelf() throws IOException {
        SelfCall.make(configuration, address(), SoapRequests.own(configuration, model));
    }

    @Override
    public void stop(long graceMs) {
        Drain.await(server.connector(), graceMs);
        server.stop();
    }

    /** What is wrong with the HTTP itself is said in plain text. */
    public static void reject(HttpServletResponse response, int status, String text) throws IOException {
        response.setStatus(status);
        response.setContentType("text/plain;charset=utf-8");
        response.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
    }
}
