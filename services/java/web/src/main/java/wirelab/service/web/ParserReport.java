package wirelab.service.web;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import wirelab.service.Binding;

/** A stack that also reports which class reads its requests, as {@code parser} of its settings. */
public record ParserReport(Binding.Running stack, Supplier<String> parser) implements Binding.Running {
    @Override
    public String address() {
        return stack.address();
    }

    @Override
    public Map<String, Object> set() {
        Map<String, Object> set = new LinkedHashMap<>(stack.set());
        set.put("parser", parser.get());
        return set;
    }

    @Override
    public void callSelf() throws IOException {
        stack.callSelf();
    }

    @Override
    public void stop(long graceMs) {
        stack.stop(graceMs);
    }
}
