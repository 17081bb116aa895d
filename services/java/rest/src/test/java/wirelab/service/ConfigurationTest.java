package wirelab.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What cannot be honoured is refused by the name of its option. */
class ConfigurationTest {
    private static final String REST = "{\"binding\":\"rest\"}";

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
        "stack.binding | {'binding':'raw'} |",
        "stack.codec | {'binding':'rest','codec':'cdr'} |",
        "stack.transport | {'binding':'grpc','transport':'http/1.1'} |",
        "stack.soap | {'binding':'soap','codec':'soap-encoded','soap':'1.2'} |",
        "stack.security | {'binding':'iiop','security':'tls'} |",
        "stack.compression | {'binding':'iiop','compression':'gzip'} |",
        "stack.end_of_message | {'binding':'rest','transport':'http/2','end_of_message':'chunked'} |",
        "stack.reply | {'binding':'rest','reply':'one-way'} |",
        "stack.close_delay_ms | {'binding':'rest','close_delay_ms':5} |",
        "stack.nope | {'binding':'rest','nope':1} |",
        "socket.writes | {'binding':'rest'} | 'socket':{'writes':'split'}",
        "socket.quickack | {'binding':'rest'} | 'socket':{'quickack':true}",
        "socket.h2_window | {'binding':'rest'} | 'socket':{'h2_window':70000}",
        "socket.tcp_window | {'binding':'rest'} | 'socket':{'tcp_window':'1'}",
        "socket.tcp_window | {'binding':'rest'} | 'socket':{'tcp_window':1073741823}",
        "socket.tcp_window | {'binding':'iiop'} | 'socket':{'tcp_window':10}",
        "processors | {'binding':'rest'} | 'processors':0",
        "collector.gc | {'binding':'rest'} | 'collector':{'gc':'epsilon'}",
        "faults.hang | {'binding':'rest'} | 'faults':{'hang':{'every':1}}",
        "faults.delay_us | {'binding':'rest'} | 'faults':{'delay_us':-1}",
        "store.username | {'binding':'rest'} | 'store':{'username':'u','password':'p'}",
        "store.password | {'binding':'soap'} | 'store':{'username':'u'}",
        "tls.certificate | {'binding':'rest','security':'tls'} |",
        "listen | {'binding':'rest'} | 'listen':'192.0.2.1:80'",
        "listen | {'binding':'rest'} | 'listen':'198.17.255.255:80'",
        "listen | {'binding':'rest'} | 'listen':'198.20.0.0:80'",
        "metrics_listen | {'binding':'rest'} | 'metrics_listen':'198.18.0.2:0'",
        "listen | {'binding':'rest'} | 'listen':'localhost:80'",
        "listen | {'binding':'iiop'} | 'listen':'unix:/x'",
    })
    void isRefusedByName(String option, String stack, String more) {
        String rest = more == null ? "" : more.replace('\'', '"');
        Refusal refusal = assertThrows(
                Refusal.class, () -> Bench.configuration("transfer", stack.replace('\'', '"'), rest));
        assertEquals(option, refusal.option);
    }

    @Test
    void noPlainTextWithoutHello() {
        Refusal refusal = assertThrows(
                Refusal.class, () -> Bench.configuration("charging", "{\"binding\":\"rest\",\"codec\":\"text\"}", ""));
        assertEquals("stack.codec", refusal.option);
    }

    @Test
    void aLineThatIsNotAnObjectIsRefused() {
        for (String line : new String[] {"", "[]", "{", "{} {}", "{\"a\":1,\"a\":2}"}) {
            assertThrows(Refusal.class, () -> Configuration.read(line), line);
        }
    }

    @Test
    void defaultsAreTheBindings() throws Refusal {
        Configuration read = Bench.configuration("transfer", REST, "");
        assertEquals("json", read.stack().codec());
        assertEquals("http/1.1", read.stack().transport());
        assertEquals(14, read.store().helloBytes());
    }
}
