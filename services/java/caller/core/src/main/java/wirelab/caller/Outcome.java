package wirelab.caller;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.Map;

/** The last line ({@code contracts/process/caller-event.schema.json}). */
record Outcome(
        String event, String caller, String version, String runtime, Map<String, String> libraries, int processors,
        Map<String, String> stamps, boolean interrupted, List<Group> groups) {

    /** What a group measured; what its library does not report is absent. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Group(
            String name, String load, long windowStartNs, double windowS, Run.Warmed warmup, Long callsPlanned,
            Double ratePlannedPerS, long calls, long ok, long errors, long ended, Map<String, Long> errorsByKind,
            Map<String, Long> errorsByCode, List<String> errorExamples, double ratePerS, double concurrency,
            long queueMax, Long connectionsOpened, Long connectionsPeak, long callsWholeRun,
            Map<String, Distribution.Times> times, List<Long> series,
            @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Long> firstCallsNs) {}

    /** The window is about to open, or has moved on. */
    record Progress(String event, String phase, double elapsedS, long calls, long errors, long inFlight) {}

    /** The caller itself failed. */
    record Fault(String event, String kind, String message, String remedy) {}
}
