package wirelab.caller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlanTest {
    private static final String WHOLE = "{'groups':[{'name':'m','target':'127.0.0.1:1','stack':{'binding':'rest'},"
            + "'workload':{'kind':'contract','contract':'transfer','operation':'Hello'},"
            + "'load':{'kind':'closed','users':1},'window':{'duration_s':1}}]}";

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '#', value = {
        "'Hello'|'Shout'|workload.operation",
        "'Hello'|'Submit'|bytes = 0: Submit takes 100 to 67108864 bytes",
        "'Hello'|'Hello','bytes':67108865|0 to 67108864 bytes",
        "'Hello'|'Download','chunk_bytes':0|chunks hold 1 to 1048576 bytes",
        "'Hello'|'Hello','data':{}|workload.data",
        "'transfer'|'petclinic'|workload.contract",
        "'contract','contract'|'mix','contract'|workload.kind",
        "'transfer','operation':'Hello'|'charging','operation':'ConfirmAction'|takes a number from an earlier reply",
        "'closed'|'bursts'|load.kind",
        "'users':1|'users':1,'think_s':1|load",
        "'users':1|'users':0|load.users",
        "'duration_s':1|'x':1|window",
        "'name':'m'|'name':'m','first_calls':1001|first_calls",
        "'name':'m'|'name':'m','username':'u'|username",
        "{'groups'|{{|not one JSON object",
        "'rest'|'raw'|stack.binding",
        "'rest'|'iiop'|object"
    })
    void whatCannotBeCarriedOutIsRefusedByName(String old, String changed, String said) {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        String plan = WHOLE.replace(old, changed).replace('\'', '"');
        assertEquals(Main.REFUSED, Main.carryOut(plan, output));
        String line = output.toString(StandardCharsets.UTF_8);
        assertTrue(line.contains(said) && line.contains("\"kind\":\"plan\""), line);
    }
}
