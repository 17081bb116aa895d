//! Values that have a shorter form than their characters.
//!
//! A text becomes one of these only if the value, written again, gives the
//! same characters; so nothing is lost, whatever the text was meant to be.

use std::fmt::Write;

/// Integers, booleans and dates (the study's fifth rule).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Atom {
    /// `true` or `false`.
    Bool(bool),
    /// Decimal digits without leading zeros, after a minus sign where negative.
    Int(i64),
    /// `YYYY-MM-DD`: days since 1970-01-01 in the Gregorian calendar.
    Date(i32),
    /// `YYYY-MM-DDThh:mm:ssZ`: seconds since 1970-01-01T00:00:00Z.
    DateTime(i64),
}

const DAY_SECONDS: i64 = 86_400;

/// The first day that is written with four digits of a year, 0001-01-01.
pub(super) const DAYS_MIN: i64 = -719_162;

/// The last one, 9999-12-31.
pub(super) const DAYS_MAX: i64 = 2_932_896;

impl Atom {
    /// The value that `text` is the one way to write.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        match bytes.first()? {
            b't' => (text == "true").then_some(Atom::Bool(true)),
            b'f' => (text == "false").then_some(Atom::Bool(false)),
            b'0'..=b'9' if bytes.len() == 10 && bytes[4] == b'-' => {
                i32::try_from(date(bytes)?).ok().map(Atom::Date)
            }
            b'0'..=b'9' if bytes.len() == 20 && bytes[4] == b'-' => moment(bytes),
            b'0'..=b'9' | b'-' => integer(text),
            _ => None,
        }
    }

    /// Appends the characters.
    pub fn write(self, out: &mut String) {
        let written = match self {
            Atom::Bool(value) => write!(out, "{value}"),
            Atom::Int(value) => write!(out, "{value}"),
            Atom::Date(days) => write_date(i64::from(days), out),
            Atom::DateTime(seconds) => write_moment(seconds, out),
        };
        written.expect("a String takes every character");
    }

    /// The characters.
    #[must_use]
    pub fn text(self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }
}

fn integer(text: &str) -> Option<Atom> {
    // `-0`, `+1` and `007` are numbers too, but written again they would be `0`, `1`
    // and `7`.
    let digits = text.strip_prefix('-').unwrap_or(text);
    let canonical = match digits.as_bytes() {
        [b'0'] => text.len() == 1,
        // i64 has at most 19 digits; the parse below decides at the edge.
        [b'1'..=b'9', rest @ ..] => rest.len() < 19 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    canonical.then(|| text.parse().ok().map(Atom::Int))?
}

/// Days since 1970-01-01 of `YYYY-MM-DD`, the first ten bytes.
fn date(bytes: &[u8]) -> Option<i64> {
    if bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let year = number(&bytes[..4])?;
    let month = number(&bytes[5..7])?;
    let day = number(&bytes[8..10])?;
    // Year 0000 is not a year in XML Schema 1.0 (part 2, section 3.2.7), so that such a
    // text stays text.
    let sound = year >= 1 && (1..=12).contains(&month);
    (sound && day >= 1 && day <= month_days(year, month)).then(|| days(year, month, day))
}

fn moment(bytes: &[u8]) -> Option<Atom> {
    if (bytes[10], bytes[13], bytes[16], bytes[19]) != (b'T', b':', b':', b'Z') {
        return None;
    }
    let hours = number(&bytes[11..13])?;
    let minutes = number(&bytes[14..16])?;
    let seconds = number(&bytes[17..19])?;
    // 24:00:00 and the leap second 60 are refused: they would be written back as other
    // characters.
    let sound = hours < 24 && minutes < 60 && seconds < 60;
    let of_day = hours * 3600 + minutes * 60 + seconds;
    // Only `Z`: an offset or fractions of a second would be lost, since the atom is
    // whole seconds of UTC.
    sound.then_some(Atom::DateTime(date(bytes)? * DAY_SECONDS + of_day))
}

fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |value, digit| {
        let digit = digit.is_ascii_digit().then(|| digit - b'0')?;
        Some(value * 10 + i64::from(digit))
    })
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn month_days(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 0001-01-01 to the first day of a year.
fn days_before_year(year: i64) -> i64 {
    let past = year - 1;
    // Leap days of the proleptic Gregorian calendar.
    past * 365 + past / 4 - past / 100 + past / 400
}

fn days(year: i64, month: i64, day: i64) -> i64 {
    let months: i64 = (1..month).map(|m| month_days(year, m)).sum();
    DAYS_MIN + days_before_year(year) + months + day - 1
}

/// Year, month and day of a day between [`DAYS_MIN`] and [`DAYS_MAX`].
fn calendar(days: i64) -> (i64, i64, i64) {
    let since = days - DAYS_MIN;
    // An estimate that is right or one year too late.
    // 146,097 days are 400 years of the Gregorian calendar.
    let mut year = since * 400 / 146_097 + 1;
    while days_before_year(year + 1) <= since {
        year += 1;
    }
    while days_before_year(year) > since {
        year -= 1;
    }
    let mut rest = since - days_before_year(year);
    let mut month = 1;
    while rest >= month_days(year, month) {
        rest -= month_days(year, month);
        month += 1;
    }
    (year, month, rest + 1)
}

fn write_date(days: i64, out: &mut String) -> std::fmt::Result {
    let (year, month, day) = calendar(days);
    write!(out, "{year:04}-{month:02}-{day:02}")
}

fn write_moment(seconds: i64, out: &mut String) -> std::fmt::Result {
    write_date(seconds.div_euclid(DAY_SECONDS), out)?;
    // Euclidean, because seconds before 1970 are negative and a time of day is not.
    let rest = seconds.rem_euclid(DAY_SECONDS);
    let (hours, minutes) = (rest / 3600, rest / 60 % 60);
    write!(out, "T{hours:02}:{minutes:02}:{:02}Z", rest % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_are_known_by_their_one_spelling() {
        for (text, atom) in [
            ("true", Atom::Bool(true)),
            ("false", Atom::Bool(false)),
            ("0", Atom::Int(0)),
            ("-1", Atom::Int(-1)),
            ("9223372036854775807", Atom::Int(i64::MAX)),
            ("-9223372036854775808", Atom::Int(i64::MIN)),
            ("1970-01-01", Atom::Date(0)),
            ("0001-01-01", Atom::Date(-719_162)),
            ("9999-12-31", Atom::Date(2_932_896)),
            ("2000-02-29", Atom::Date(11_016)),
            ("1970-01-02T00:00:01Z", Atom::DateTime(86_401)),
            ("1969-12-31T23:59:59Z", Atom::DateTime(-1)),
        ] {
            assert_eq!(Atom::of(text), Some(atom), "{text}");
            assert_eq!(atom.text(), text);
        }
    }

    #[test]
    fn other_spellings_stay_texts() {
        for text in [
            "",
            "True",
            "1.0",
            "+1",
            "-0",
            "00",
            "01",
            "-",
            "1 ",
            "9223372036854775808",
            "1900-02-29",
            "2001-13-01",
            "2001-00-10",
            "2001-04-31",
            "0000-01-01",
            "2001-1-01",
            "2001-01-01Z",
            "2001-01-01T24:00:00Z",
            "2001-01-01T00:00:60Z",
            "2001-01-01 00:00:00Z",
            "12345678901234567890",
            "1234-56789",
            "000--00---",
        ] {
            assert_eq!(Atom::of(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn dates_come_back(day in DAYS_MIN..=DAYS_MAX, second in 0..DAY_SECONDS) {
            let date = Atom::Date(day as i32);
            prop_assert_eq!(Atom::of(&date.text()), Some(date));
            let moment = Atom::DateTime(day * DAY_SECONDS + second);
            prop_assert_eq!(Atom::of(&moment.text()), Some(moment));
        }

        #[test]
        fn recognised_values_are_written_alike(text in "[-0-9tT:Z]{0,21}|true|false") {
            if let Some(atom) = Atom::of(&text) {
                prop_assert_eq!(atom.text(), text);
            }
        }
    }
}
