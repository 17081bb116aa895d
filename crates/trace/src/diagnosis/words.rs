//! Findings in sentences, and what would test them.

use crate::diagnosis::cause::Cause;
use crate::diagnosis::finding::Test;
use crate::diagnosis::tally::Figures;
use crate::flow::event::Direction;
use crate::wording::{counted, duration};

/// Segments of an initial congestion window that holds nearly every message: the
/// largest that a link can be given.
const WINDOW_OF_A_MESSAGE: &str = "1000";

/// What happened, how often and how long.
pub(crate) fn sentence(figures: &Figures) -> String {
    let (sender, receiver) = sides(figures.direction);
    let what = match figures.cause {
        Cause::SynRetransmission => "a connection opened late: its SYN, or the answer to it, had to be sent again".to_string(),
        Cause::DataRetransmission => format!("payload of the {sender} was lost and had to be sent again"),
        Cause::ClientNotReading => "the client read nothing from its socket until its window was closed, and the server had to wait".to_string(),
        Cause::TcpWindowExhausted => format!("the {sender} had used up the TCP window of the {receiver} and waited for more"),
        Cause::H2WindowExhausted => format!("the {sender} had used up the HTTP/2 window of the {receiver} and waited for WINDOW_UPDATE"),
        Cause::NagleDelayedAck => format!("the {sender} held back the rest of a message (Nagle's algorithm) until the delayed acknowledgment of the {receiver} came"),
        Cause::IdleRestart => format!("the congestion window of the {sender} had been reduced by a pause and had to grow again"),
        Cause::SlowStart => format!("a message of the {sender} was larger than its congestion window, which had to grow first"),
        Cause::ReadUntilClose => "nothing but the end of the connection ended the reply".to_string(),
        Cause::ServerThinkTime => "the server had the whole request and sent nothing, for longer than the way to it and its variation explain".to_string(),
        Cause::ConnectionPerCall => "a connection was opened for this one exchange".to_string(),
        Cause::SplitWrites => format!("the {sender} sent a message in two writes, the first of less than a segment"),
    };
    let both = if figures.both_ways {
        " (in other exchanges the other way round)"
    } else {
        ""
    };
    format!(
        "{}: {what}{both}. {}",
        how_often(figures),
        how_long(figures)
    )
}

fn sides(direction: Direction) -> (&'static str, &'static str) {
    match direction {
        Direction::Request => ("client", "server"),
        Direction::Reply => ("server", "client"),
    }
}

fn how_often(figures: &Figures) -> String {
    if figures.exchanges == 0 {
        return format!(
            "{}, in connections whose messages cannot be read",
            counted(figures.occurrences, "time")
        );
    }
    format!(
        "In {} of {}",
        figures.exchanges,
        counted(figures.exchanges_seen, "exchange")
    )
}

fn how_long(figures: &Figures) -> String {
    let Figures {
        ms_median,
        ms_total,
        share,
        ..
    } = *figures;
    let part = if share > 0.0 {
        format!(", {:.1} % of the time of all exchanges", share * 100.0)
    } else {
        String::new()
    };
    let [median, total] = [ms_median, ms_total].map(duration);
    format!("That took {median} (median), {total} in all{part}.")
}

/// The axis to flip, where the lab has one.
pub(crate) fn test(figures: &Figures) -> Option<Test> {
    let (axis, value) = switch(figures)?;
    let go = if figures.occurrences == 1 {
        "goes"
    } else {
        "go"
    };
    let gone = format!("the {} {go}", counted(figures.occurrences, "occurrence"));
    let gone = if figures.ms_total > 0.0 {
        let [total, median] = [figures.ms_total, figures.ms_median].map(duration);
        format!("{gone}, that is {total} in all, {median} in a median one")
    } else {
        gone
    };
    Some(Test {
        axis,
        value,
        predict: gone,
    })
}

fn switch(figures: &Figures) -> Option<(String, String)> {
    let (sender, receiver) = sides(figures.direction);
    let (axis, value) = match figures.cause {
        Cause::NagleDelayedAck => (format!("{sender}.nagle"), "off"),
        Cause::SplitWrites => (format!("{sender}.writes"), "joined"),
        Cause::ConnectionPerCall => ("connection".to_string(), "keep"),
        Cause::ReadUntilClose => ("end_of_message".to_string(), "content-length"),
        Cause::SlowStart => ("initial_window".to_string(), WINDOW_OF_A_MESSAGE),
        Cause::IdleRestart => ("after_idle".to_string(), "keep"),
        Cause::TcpWindowExhausted => (format!("{receiver}.tcp_window"), "kernel"),
        Cause::H2WindowExhausted if receiver == "client" => {
            ("client.h2_window".to_string(), "engine")
        }
        Cause::H2WindowExhausted => ("server.h2_window".to_string(), "library"),
        _ => return None,
    };
    Some((axis, value.to_string()))
}
