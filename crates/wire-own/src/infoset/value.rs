//! Values as XML Schema writes them (XML Schema part 2, section 3).

use std::borrow::Cow;
use std::str::FromStr;

use super::chars;
use super::error::ErrorKind;
use super::scope::excerpt;
use super::source::Text;

/// xsd:boolean (section 3.2.2).
///
/// # Errors
/// [`ErrorKind::Value`] for any other text.
pub fn boolean(text: &Text<'_>) -> Result<bool, ErrorKind> {
    match text {
        Text::Bool(value) => Ok(*value),
        // The lexical forms `0` and `1` arrive as integers from tokens.
        Text::Int(0) => Ok(false),
        Text::Int(1) => Ok(true),
        Text::Int(other) => Err(wrong("a boolean", &other.to_string())),
        Text::Str(text) => match chars::trim(text) {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(wrong("a boolean", text)),
        },
    }
}

/// xsd:int and xsd:long (section 3.3): an optional sign and decimal digits.
///
/// # Errors
/// [`ErrorKind::Value`] for any other text, or a number outside of the type's range.
#[inline]
pub fn integer<I: FromStr + TryFrom<i64>>(
    text: &Text<'_>,
    expected: &'static str,
) -> Result<I, ErrorKind> {
    match text {
        Text::Int(number) => I::try_from(*number).map_err(|_| wrong(expected, &number.to_string())),
        Text::Bool(value) => Err(wrong(expected, &value.to_string())),
        Text::Str(text) => {
            // Signs, leading zeros beyond 19 digits and white space take the slow path.
            let plain = plain_digits(text.as_bytes()).and_then(|n| I::try_from(n).ok());
            if let Some(number) = plain {
                return Ok(number);
            }
            // Rust's `parse` also takes the leading plus that xsd:int allows (section
            // 3.3.17).
            let number = chars::trim(text).parse();
            number.map_err(|_| wrong(expected, text))
        }
    }
}

/// Digits of which no number goes beyond 64 bits.
const DIGITS_MAX: usize = 19;

/// The number that nothing but digits write, behind a minus where negative, as
/// most numbers are.
#[inline]
fn plain_digits(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    // 19 digits are less than 10^19, which is within u64; the range of i64 is checked
    // at the end. The least i64 takes the slow path, because its magnitude is not an
    // i64.
    if digits.is_empty() || digits.len() > DIGITS_MAX {
        return None;
    }
    let (eights, rest) = digits.as_chunks();
    let mut number = 0;
    for eight in eights {
        number = number * 100_000_000 + of_eight_digits(*eight)?;
    }
    for byte in rest {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + u64::from(digit);
    }
    let number = i64::try_from(number).ok()?;
    Some(if negative { -number } else { number })
}

/// The number that eight digits write: digits, pairs and fours of them are added
/// up side by side in one register.
#[inline]
fn of_eight_digits(digits: [u8; 8]) -> Option<u64> {
    const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);
    // The technique is known as SIMD within a register (SWAR).
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    // The first digit is the lowest byte.
    let ones = u64::from_le_bytes(digits) ^ ZEROS;
    // A byte above 9 sets its high bit. A carry into the next byte can arise only from
    // a byte of at least 0x8A, which has its own high bit set and is refused anyway.
    let beyond_nine = ones.wrapping_add(u64::from_le_bytes([0x80 - 10; 8]));
    if (ones | beyond_nine) & HIGH != 0 {
        return None;
    }
    // Neighbours are combined pairwise: 8 digits in three multiplications.
    let pairs = (ones * 10 + (ones >> 8)) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_FFFF_0000_FFFF;
    Some((fours * 10_000 + (fours >> 32)) & 0xFFFF_FFFF)
}

/// xsd:double (section 3.2.5).
///
/// # Errors
/// [`ErrorKind::Value`] for any other text.
pub fn double(text: &Text<'_>) -> Result<f64, ErrorKind> {
    let text: Cow<'_, str> = match text {
        Text::Int(number) => Cow::Owned(number.to_string()),
        Text::Bool(value) => return Err(wrong("a double", &value.to_string())),
        Text::Str(text) => Cow::Borrowed(chars::trim(text)),
    };
    match &*text {
        // XML Schema 1.1 adds `+INF`; 1.0, which SOAP refers to, does not have it.
        "INF" => Ok(f64::INFINITY),
        "-INF" => Ok(f64::NEG_INFINITY),
        "NaN" => Ok(f64::NAN),
        // Rust also reads `inf`, `infinity` and `nan`, XML Schema does not.
        number
            if number
                .bytes()
                .any(|b| b.is_ascii_alphabetic() && !matches!(b, b'e' | b'E')) =>
        {
            Err(wrong("a double", number))
        }
        number => number.parse().map_err(|_| wrong("a double", number)),
    }
}

/// xsd:base64Binary (section 3.2.16) without its white space.
pub fn base64(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.bytes().any(chars::is_space) {
        return text;
    }
    // Many toolkits break lines after 76 letters, as MIME does (RFC 2045 section 6.8).
    let letters = text.chars().filter(|c| !c.is_ascii_whitespace());
    Cow::Owned(letters.collect())
}

/// Appends a double so that reading it gives the same one.
pub fn write_double(value: f64, out: &mut Vec<u8>) {
    if value.is_finite() {
        // The shortest digits that do, as in JSON.
        // JSON's numbers are a subset of xsd:double's lexical forms.
        serde_json::to_writer(out, &value).expect("a Vec takes every byte");
    } else if value.is_nan() {
        out.extend_from_slice(b"NaN");
    } else {
        out.extend_from_slice(if value > 0.0 { b"INF" } else { b"-INF" });
    }
}

/// Appends an integer in decimal digits.
#[inline]
pub fn write_integer(value: i64, out: &mut Vec<u8>) {
    let mut digits = itoa::Buffer::new();
    out.extend_from_slice(digits.format(value).as_bytes());
}

fn wrong(expected: &'static str, text: &str) -> ErrorKind {
    ErrorKind::Value {
        expected,
        text: excerpt(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Text<'_> {
        Text::Str(Cow::Borrowed(text))
    }

    #[test]
    fn lexical_forms_of_xml_schema_are_read_and_no_others() {
        for (written, value) in [
            ("true", true),
            (" 1\n", true),
            ("false", false),
            ("0", false),
        ] {
            assert_eq!(boolean(&text(written)), Ok(value));
        }
        for bad in ["", "TRUE", "2", "yes"] {
            assert!(boolean(&text(bad)).is_err(), "{bad:?}");
        }
        for (written, value) in [
            ("5", 5),
            ("+5", 5),
            (" -007 ", -7),
            ("2147483647", i32::MAX),
        ] {
            assert_eq!(integer::<i32>(&text(written), "an int"), Ok(value));
        }
        for (written, value) in [
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775807", -i64::MAX),
            ("-9223372036854775808", i64::MIN),
            ("-0", 0),
            ("00000000000000000001", 1),
        ] {
            assert_eq!(integer::<i64>(&text(written), "a long"), Ok(value));
        }
        for bad in ["-", "9223372036854775808", "18446744073709551617", "1-"] {
            assert!(integer::<i64>(&text(bad), "a long").is_err(), "{bad:?}");
        }
        for bad in ["", "1.0", "0x1", "2147483648", "1 2", "--1", "\u{A0}1"] {
            assert!(integer::<i32>(&text(bad), "an int").is_err(), "{bad:?}");
        }
        assert!(integer::<i32>(&Text::Int(1 << 40), "an int").is_err());
        for (written, value) in [
            ("1.5", 1.5),
            ("-1E4", -1e4),
            (".5", 0.5),
            ("INF", f64::INFINITY),
        ] {
            assert_eq!(double(&text(written)), Ok(value));
        }
        assert!(double(&text("NaN")).unwrap().is_nan());
        for bad in ["", "inf", "nan", "infinity", "+INF", "1,5", "0x1p3"] {
            assert!(double(&text(bad)).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn numbers_of_any_length_are_read() {
        let digits = "9081726354817263540";
        for (begin, end) in (0..19).flat_map(|begin| (begin + 1..20).map(move |end| (begin, end))) {
            let written = &digits[begin..end];
            let number = written.parse::<i64>().ok();
            assert_eq!(integer(&text(written), "a long").ok(), number, "{written}");
            let negative = format!("-{written}");
            let number = number.map(|number| -number);
            assert_eq!(
                integer(&text(&negative), "a long").ok(),
                number,
                "{negative}"
            );
        }
    }

    #[test]
    fn only_digits_are_digits() {
        for (byte, at) in (0..=255).flat_map(|byte| (0..8).map(move |at| (byte, at))) {
            let mut digits = *b"10293847";
            digits[at] = byte;
            let text = std::str::from_utf8(&digits).ok();
            let number = text.and_then(|text| text.parse().ok());
            let number = number.filter(|_| byte.is_ascii_digit());
            assert_eq!(of_eight_digits(digits), number, "{byte} at {at}");
        }
    }

    #[test]
    fn doubles_come_back_to_the_bit() {
        for value in [
            0.0,
            -0.0,
            0.1,
            1e300,
            5e-324,
            f64::MAX,
            1.0,
            f64::NEG_INFINITY,
        ] {
            let mut out = Vec::new();
            write_double(value, &mut out);
            let written = String::from_utf8(out).unwrap();
            assert_eq!(
                double(&text(&written)).unwrap().to_bits(),
                value.to_bits(),
                "{written}"
            );
        }
    }

    #[test]
    fn white_space_in_base64_is_dropped() {
        assert_eq!(base64(Cow::Borrowed("YWJj\r\n ZGVm\t")), "YWJjZGVm");
        assert!(matches!(base64(Cow::Borrowed("YWJj")), Cow::Borrowed(_)));
    }
}
