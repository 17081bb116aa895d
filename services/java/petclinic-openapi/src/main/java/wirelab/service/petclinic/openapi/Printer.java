package wirelab.service.petclinic.openapi;

import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.logging.Level;
import java.util.logging.Logger;
import wirelab.service.Binding;
import wirelab.service.Calls;
import wirelab.service.Configuration;
import wirelab.service.Refusal;
import wirelab.service.TemporaryFolder;
import wirelab.service.contract.Petclinic;
import wirelab.service.petclinic.PetclinicBinding;

/**
 * Prints the OpenAPI document of {@code petclinic} over REST in JSON, which springdoc reads from the controllers
 * of the running application. A program of its own: a service that is measured has neither the library nor the
 * endpoint.
 */
public final class Printer {
    private static final String CONFIGURATION = "{\"contract\":\"petclinic\",\"listen\":\"127.0.0.1:0\","
            + "\"stack\":{\"binding\":\"rest\",\"codec\":\"json\"}}";

    private Printer() {}

    /** Starts the application, asks it, prints and ends. */
    public static void main(String[] arguments) throws Refusal, IOException, InterruptedException {
        PrintStream output = System.out;
        // Libraries that print go to the log.
        System.setOut(System.err);
        Logger.getLogger("").setLevel(Level.WARNING);
        Runtime.getRuntime().addShutdownHook(new Thread(TemporaryFolder::remove));
        System.setProperty("springdoc.api-docs.enabled", "true");
        System.setProperty("springdoc.api-docs.version", "openapi_3_0");
        System.setProperty("springdoc.writer-with-order-by-keys", "true");
        Configuration configuration = Configuration.read(CONFIGURATION);
        Petclinic model = new Petclinic();
        Binding.Running running = new PetclinicBinding().start(
                configuration, model, new Calls(model.operations(), 0), OpenApiConfiguration.class);
        try {
            URI place = URI.create("http://" + running.address() + "/v3/api-docs");
            HttpResponse<String> reply = HttpClient.newHttpClient()
                    .send(HttpRequest.newBuilder(place).build(), HttpResponse.BodyHandlers.ofString());
            if (reply.statusCode() != 200) {
                throw new IllegalStateException("status " + reply.statusCode() + ": " + reply.body());
            }
            output.println(reply.body());
        } finally {
            running.stop(0);
        }
    }
}
