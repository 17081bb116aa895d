package wirelab.service.petclinic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import wirelab.service.Bench;
import wirelab.service.Refusal;

/** The libraries that the ready line names follow from the options. */
class LibrariesTest {
    @ParameterizedTest
    @CsvSource({
        "data-jpa,store spring-data-jpa;store hibernate-core",
        "jpa,store spring-orm;store hibernate-core",
        "jdbc,store spring-jdbc"
    })
    void theWayToRowsIsNamed(String repository, String libraries) throws Refusal {
        List<String> named = names("\"store\":{\"kind\":\"h2\"},\"options\":{\"repository\":\"" + repository + "\"}");
        assertEquals(
                Stream.concat(Stream.of(libraries.split(";")), Stream.of("store h2", "store HikariCP")).toList(),
                named.stream().filter(row -> row.startsWith("store ")).toList());
    }

    @Test
    void validationIsNamedWhereItIsOn() throws Refusal {
        assertEquals(1, names("\"options\":{}").stream().filter("server hibernate-validator"::equals).count());
        assertEquals(0, names("\"options\":{\"validation\":\"off\"}").stream()
                .filter("server hibernate-validator"::equals).count());
    }

    @Test
    void rowsInMemoryHaveNoRepository() {
        Refusal refusal = assertThrows(Refusal.class, () -> names("\"options\":{\"repository\":\"jdbc\"}"));
        assertEquals("options.repository", refusal.option);
    }

    private static List<String> names(String more) throws Refusal {
        return Bench.libraries("petclinic", "{\"binding\":\"rest\",\"codec\":\"json\"}", more).stream()
                .map(row -> row.substring(0, row.lastIndexOf(' ')))
                .toList();
    }
}
