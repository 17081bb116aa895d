//! Text of numbers: counts with their nouns, and times.

/// From here on a time is written in minutes, seconds.
const MINUTES_FROM_S: f64 = 59.95;

/// The count with its noun, whose plural is regular: `1 packet`, `2 packets`.
pub fn pluralize(count: u64, noun: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{end}")
}

/// Milliseconds as text, in three significant figures: `850 µs`, `1.2 ms`,
/// `42 s`, `3 min 5 s`.
pub fn duration(ms: f64) -> String {
    let seconds = ms / 1e3;
    if seconds >= MINUTES_FROM_S {
        let whole = seconds.round() as u64;
        return format!("{} min {} s", whole / 60, whole % 60);
    }
    for (units, name) in [(ms * 1e3, "µs"), (ms, "ms")] {
        // Not by the time itself: 999.6 µs are written as 1 ms.
        let shown = three_figures(units);
        if ms > 0.0 && shown < 1e3 {
            return format!("{shown} {name}");
        }
    }
    format!("{} s", three_figures(seconds))
}

fn three_figures(value: f64) -> f64 {
    // Through the decimal form, so that the number that is compared is the one that is
    // printed.
    let rounded = format!("{value:.2e}").parse();
    rounded.expect("a number that was just written")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        let text = [0, 1, 2, 21].map(|count| pluralize(count, "exchange"));
        let expected = ["0 exchanges", "1 exchange", "2 exchanges", "21 exchanges"];
        assert_eq!(text, expected);
    }

    #[test]
    fn times_have_three_figures_in_the_unit_that_suits_them() {
        let table = [
            (0.0, "0 s"),
            (0.000_123_4, "0.123 µs"),
            (0.85, "850 µs"),
            (0.999_6, "1 ms"),
            (1.0, "1 ms"),
            (44.041, "44 ms"),
            (999.4, "999 ms"),
            (999.6, "1 s"),
            (2_051.015, "2.05 s"),
            (59_940.0, "59.9 s"),
            (59_950.0, "1 min 0 s"),
            (185_400.0, "3 min 5 s"),
        ];
        for (ms, text) in table {
            assert_eq!(duration(ms), text, "{ms} ms");
        }
    }
}
