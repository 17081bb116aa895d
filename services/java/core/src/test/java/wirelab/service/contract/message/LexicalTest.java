package wirelab.service.contract.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LexicalTest {
    @ParameterizedTest
    @ValueSource(strings = {"5", "+5", "005", " \t\r\n5\n"})
    void signsZerosAndSpaceOfXmlAreRead(String text) {
        assertEquals(5, Lexical.read(int.class, text));
        assertEquals(5L, Lexical.read(long.class, text));
        assertEquals(5.0, Lexical.read(double.class, text));
    }

    /** Arabic-Indic and full-width digits, EM SPACE, and what is not a number. */
    @ParameterizedTest
    @ValueSource(strings = {"\u0665", "1\uff15", "\u20035", "", " ", "5.", "0x5", "5L"})
    void otherDigitsAndSpacesAreNotAnInteger(String text) {
        assertThrows(IllegalArgumentException.class, () -> Lexical.read(int.class, text));
        assertThrows(IllegalArgumentException.class, () -> Lexical.read(long.class, text));
        assertThrows(IllegalArgumentException.class, () -> new Strict.Int().unmarshal(text));
        assertThrows(IllegalArgumentException.class, () -> new Strict.Whole().unmarshal(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"\u2003true", "1\u2003", "TRUE", ""})
    void otherWordsAreNotABoolean(String text) {
        assertThrows(IllegalArgumentException.class, () -> Lexical.read(boolean.class, text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"\u20035", "\u0665", "Infinity", "0x1p3", "5d"})
    void otherFormsAreNotADouble(String text) {
        assertThrows(IllegalArgumentException.class, () -> Lexical.read(double.class, text));
    }
}
