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
        "'Hello'|'Submit'|workload",
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
