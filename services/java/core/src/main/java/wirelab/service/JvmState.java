package wirelab.service;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Map;

/** What the virtual machine was really started with. Processors, collector and heap are flags of the launcher. */
final class JvmState {
    private static final Map<String, String> FLAGS = Map.of(
            "serial", "UseSerialGC", "parallel", "UseParallelGC", "g1", "UseG1GC", "zgc", "UseZGC");
    /** The machine rounds the heap up to whole regions, at most this much. */
    private static final long HEAP_ROUNDING_BYTES = 64 << 20;

    private JvmState() {}

    /** Refuses what the configuration asks for and the machine does not have. */
    static void check(Configuration config) throws Refusal {
        int processors = Runtime.getRuntime().availableProcessors();
        if (config.processors() != null && config.processors() != processors) {
            throw notSet("processors", "the virtual machine counts " + processors);
        }
        String gc = config.collector().gc();
        if (gc != null && !gc.equals(collector())) {
            throw notSet("collector.gc", "the virtual machine runs " + collector());
        }
        Long heap = config.collector().heapMaxBytes();
        if (heap != null && (heapMaxBytes() < heap || heapMaxBytes() > heap + HEAP_ROUNDING_BYTES)) {
            throw notSet("collector.heap_max_bytes", "the virtual machine has " + heapMaxBytes());
        }
    }

    private static Refusal notSet(String option, String instead) {
        return new Refusal(option, instead, "start it by its launcher, which reads the configuration first");
    }

    /** Processors, collector and heap as the machine reports them. */
    static Map<String, Object> now() {
        Map<String, Object> set = new LinkedHashMap<>();
        set.put("processors", Runtime.getRuntime().availableProcessors());
        set.put("gc", collector());
        set.put("collectors", ManagementFactory.getGarbageCollectorMXBeans().stream()
                .map(GarbageCollectorMXBean::getName).sorted().toList());
        set.put("heap_max_bytes", heapMaxBytes());
        return set;
    }

    /** The machine's name and version. */
    static String runtime() {
        return System.getProperty("java.vm.name") + " " + System.getProperty("java.runtime.version");
    }

    private static String collector() {
        return FLAGS.entrySet().stream()
                .filter(flag -> Boolean.parseBoolean(option(flag.getValue())))
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse("unknown");
    }

    private static long heapMaxBytes() {
        return Long.parseLong(option("MaxHeapSize"));
    }

    private static String option(String name) {
        return ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).getVMOption(name).getValue();
    }
}
