package wirelab.service.web;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import wirelab.service.Binding;

/** A stack with one more entry of its settings, such as the class that reads its requests. */
public record ReportedSetting(Binding.Running stack, String name, Supplier<String> value) implements Binding.Running {
    @Override
    public String address() {
        return stack.address();
    }

    @Override
    public Map<String, Object> set() {
        Map<String, Object> set = new LinkedHashMap<>(stack.set());
        set.put(name, value.get());
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
