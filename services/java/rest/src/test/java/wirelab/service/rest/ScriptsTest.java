package wirelab.service.rest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import wirelab.service.Bench;
import wirelab.service.Calls;
import wirelab.service.contract.ApplicationError;
import wirelab.service.contract.Calendar;
import wirelab.service.contract.Charging;
import wirelab.service.contract.Exchange;
import wirelab.service.contract.Exchanges;
import wirelab.service.contract.Model;

/** The scripts of the golden vectors, from JSON to JSON. */
class ScriptsTest {
    private final Codec codec = Codecs.codec("json", null);
    private final Map<Object, Object> numbers = new HashMap<>();

    @Test
    void scriptsAreThoseOfTheVectors() throws Exception {
        for (Object each : (List<?>) Bench.vectors("scripts.json")) {
            Map<?, ?> script = (Map<?, ?>) each;
            Model model = model(script);
            numbers.clear();
            for (Object step : (List<?>) script.get("steps")) {
                play(model, (Map<?, ?>) step, (String) script.get("name"));
            }
        }
    }

    private static Model model(Map<?, ?> script) {
        if (script.get("contract").equals("calendar")) {
            return new Calendar();
        }
        Map<?, ?> store = (Map<?, ?>) script.get("store");
        return new Charging((Integer) store.get("accounts"), (Integer) store.get("balance"));
    }

    private void play(Model model, Map<?, ?> step, String script) throws Exception {
        Map<Object, Object> request = new HashMap<>((Map<?, ?>) step.get("request"));
        request.replaceAll((name, value) -> numbers.getOrDefault(value, value));
        Map<?, ?> reply = answer(model, (String) step.get("operation"), request);
        if (step.get("error") != null) {
            assertEquals(Map.of("error", step.get("error")), reply, script);
            return;
        }
        ((Map<?, ?>) step.get("reply")).forEach((name, value) -> {
            if (value instanceof String symbol && symbol.startsWith("$") && !numbers.containsKey(symbol)) {
                assertFalse(numbers.containsValue(reply.get(name)), "given before: " + reply);
                numbers.put(symbol, reply.get(name));
            }
            assertEquals(numbers.getOrDefault(value, value), reply.get(name), script + ": " + step);
        });
    }

    private Map<?, ?> answer(Model model, String operation, Map<Object, Object> request) throws Exception {
        Exchange<?, ?> exchange = Exchanges.of(model).stream()
                .filter(each -> each.operation().equals(operation)).findFirst().orElseThrow();
        Object message = codec.read(Bench.json(request).getBytes(StandardCharsets.UTF_8), exchange.request());
        try (Calls.Call call = new Calls(model.operations(), 0).tally(operation).begin()) {
            return (Map<?, ?>) Bench.value(new String(codec.write(exchange.answer(call, message)), StandardCharsets.UTF_8));
        } catch (ApplicationError error) {
            return Map.of("error", error.getMessage());
        }
    }
}
