//! Occurrences of one cause, counted over a whole capture and put into sentences.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use crate::diagnosis::cause::Cause;
use crate::flow::event::{Direction, FlowId};
use crate::host::HostPart;
use crate::text::{duration, pluralize};

/// One cause, all its occurrences together.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Why time was lost.
    pub cause: Cause,
    /// How often. One occurrence is an exchange, or an opening of a connection.
    pub occurrences: u64,
    /// Exchanges among them.
    pub exchanges: u64,
    /// Time charged, in all, milliseconds.
    pub ms_total: f64,
    /// Of the occurrences' times, milliseconds.
    pub ms_median: f64,
    /// Part of the time that all exchanges took, openings included, 0 to 1.
    /// Exchanges at the same time each count.
    pub share_of_latency: f64,
    /// The longest occurrences, in the order of the capture.
    #[serde(rename = "where")]
    pub examples: Vec<Where>,
    /// One or two sentences with the figures.
    pub words: String,
    /// The switch that the finding blames; None where the lab has none.
    pub test: Option<Test>,
}

/// One occurrence.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Where {
    /// The connection's number.
    pub flow: FlowId,
    /// The exchange's on that connection, from 0; None where messages cannot be read.
    pub exchange: Option<u64>,
    /// Numbers of the packets that show it.
    pub packets: Vec<u64>,
    /// Time charged, milliseconds.
    pub ms: f64,
    /// The same by what the server's threads did, milliseconds; left out without a record of
    /// their host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_ms: Option<BTreeMap<HostPart, f64>>,
}

/// What to flip, and what should follow if the finding is right.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Test {
    /// An axis of stacks, as in references.
    pub axis: String,
    /// The value to set.
    pub value: String,
    /// The prediction.
    pub predict: String,
    /// The least that it saves, in all, milliseconds. The most is the finding's `ms_total`. Less
    /// than that where the packets do not show how much of the time the setting causes.
    pub ms_least: f64,
}

impl Finding {
    /// Of nagle-delayed-ack in replies: the part of its time that is certainly after the
    /// application's write, ms, which the server's switch saves. The rest stays "up to".
    pub(crate) fn limit_from_below(&mut self, held_ms: f64) {
        let (occurrences, total) = (self.occurrences, self.ms_total);
        let test = self.test.as_mut().filter(|test| test.axis == SERVER_NAGLE);
        let Some(test) = test.filter(|_| held_ms > 0.0) else {
            return;
        };
        test.ms_least = held_ms.min(total);
        let [least, most] = [test.ms_least, total].map(duration);
        test.predict = format!(
            "{}, that is {least} to {most} in all: by the record of the host, the application had \
             written what was held back for at least {least} of it",
            disappearance(occurrences),
        );
    }
}

/// One exchange, or opening of a connection, and one cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// Why.
    pub cause: Cause,
    /// The connection.
    pub flow: FlowId,
    /// Which exchange of it; None where messages cannot be read, or an opening
    /// without any.
    pub exchange: Option<u64>,
    /// The way of the bytes that were held up, or whose sender split them.
    pub direction: Direction,
    /// Packets that show it, in order; at most 8.
    pub packets: Vec<u64>,
    /// Time attributed, nanoseconds. Time that is attributed to a cause before it in
    /// [`Cause::ALL`] is not in it, so that of a pattern may be 0.
    pub ns: u64,
}

const NS_PER_MS: f64 = 1e6;
const DIGITS: u8 = 3;

#[derive(Debug)]
pub(crate) struct Tally {
    cause: Cause,
    occurrences: u64,
    exchanges: u64,
    ns: u64,
    /// By the direction of what was held up.
    by_direction: [u64; 2],
    times: Histogram<u64>,
    longest: Vec<Occurrence>,
    kept: usize,
}

#[derive(Debug, Clone, Copy)]
struct Figures {
    cause: Cause,
    occurrences: u64,
    exchanges: u64,
    exchanges_seen: u64,
    ms_total: f64,
    ms_median: f64,
    share: f64,
    /// The way of most that was held up.
    direction: Direction,
    /// The same cause was found in the other direction, too.
    both_ways: bool,
}

impl Tally {
    pub(crate) fn new(cause: Cause, kept: usize) -> Tally {
        Tally {
            cause,
            occurrences: 0,
            exchanges: 0,
            ns: 0,
            by_direction: [0; 2],
            // Constant memory for any number of occurrences, at a resolution of 0.1 %.
            times: Histogram::new(DIGITS).expect("3 digits are legal"),
            longest: Vec::new(),
            kept,
        }
    }

    pub(crate) fn take(&mut self, occurrence: Occurrence) {
        self.occurrences += 1;
        self.exchanges += u64::from(occurrence.exchange.is_some());
        self.ns = self.ns.saturating_add(occurrence.ns);
        self.by_direction[occurrence.direction as usize] += 1;
        self.times
            .record(occurrence.ns)
            .expect("the histogram grows to any time");
        self.keep(occurrence);
    }

    fn keep(&mut self, occurrence: Occurrence) {
        if self.longest.len() < self.kept {
            self.longest.push(occurrence);
            return;
        }
        // Linear in the number of examples, which is eight by default.
        let shortest = self.longest.iter_mut().min_by_key(|kept| kept.ns);
        if let Some(shortest) = shortest.filter(|kept| kept.ns < occurrence.ns) {
            *shortest = occurrence;
        }
    }

    /// None when there were none. `latency_ns`: of all exchanges together.
    pub(crate) fn finding(mut self, exchanges_seen: u64, latency_ns: u64) -> Option<Finding> {
        if self.occurrences == 0 {
            return None;
        }
        let figures = self.figures(exchanges_seen, latency_ns);
        self.longest
            .sort_by(|one, other| one.packets.cmp(&other.packets));
        Some(Finding {
            cause: self.cause,
            occurrences: self.occurrences,
            exchanges: self.exchanges,
            ms_total: figures.ms_total,
            ms_median: figures.ms_median,
            share_of_latency: figures.share,
            examples: self.longest.into_iter().map(example).collect(),
            words: sentence(&figures),
            test: test(&figures),
        })
    }

    fn figures(&self, exchanges_seen: u64, latency_ns: u64) -> Figures {
        let [request, reply] = self.by_direction;
        Figures {
            cause: self.cause,
            occurrences: self.occurrences,
            exchanges: self.exchanges,
            exchanges_seen,
            ms_total: ms(self.ns),
            ms_median: ms(self.times.value_at_quantile(0.5)),
            share: if latency_ns == 0 {
                0.0
            } else {
                (self.ns as f64 / latency_ns as f64).min(1.0)
            },
            // One finding names one side; `both_ways` admits the other.
            direction: if request > reply {
                Direction::Request
            } else {
                Direction::Reply
            },
            both_ways: request > 0 && reply > 0,
        }
    }
}

fn example(occurrence: Occurrence) -> Where {
    Where {
        flow: occurrence.flow,
        exchange: occurrence.exchange,
        packets: occurrence.packets,
        ms: ms(occurrence.ns),
        host_ms: None,
    }
}

fn ms(ns: u64) -> f64 {
    ns as f64 / NS_PER_MS
}

/// Segments of an initial congestion window that holds nearly every message: the
/// largest that a link can be given.
const WINDOW_OF_A_MESSAGE: &str = "1000";

fn sentence(figures: &Figures) -> String {
    let (sender, receiver) = sides(figures.direction);
    let what = match figures.cause {
        Cause::SynRetransmission => "a SYN, or the answer to it, had to be sent again, so that its connection opened late or not at all".to_string(),
        Cause::DataRetransmission => format!("payload of the {sender} was lost and had to be sent again"),
        Cause::TailLoss => format!("the last segment of the {sender} was lost: none behind it showed the loss, so a timer had to run out"),
        Cause::Reordering => format!("packets of the {sender} overtook each other, and those that came first had to wait for the others"),
        Cause::ClientNotReading => "the client read nothing from its socket until its window was closed, and the server had to wait".to_string(),
        Cause::TcpWindowExhausted => format!("the {sender} had used up the TCP window of the {receiver} and waited for more"),
        Cause::H2WindowExhausted => format!("the {sender} had used up the HTTP/2 window of the {receiver} and waited for WINDOW_UPDATE"),
        Cause::NagleDelayedAck => format!("the {sender} held back the rest of a message (Nagle's algorithm) until the delayed acknowledgment of the {receiver} came"),
        Cause::IdleRestart => format!("the congestion window of the {sender} had been reduced by a pause and had to grow again"),
        Cause::SlowStart => format!("a message of the {sender} was larger than its congestion window, which had to grow first"),
        Cause::ExpectContinue => "the client sent the head of its request with `Expect: 100-continue`, and the body only after the server's 100 (Continue), or after it had waited long enough".to_string(),
        Cause::ReadUntilClose => "the reply had no length: only the close of the connection ended it".to_string(),
        Cause::ServerThinkTime => "the server had the whole request and sent nothing, for longer than the network delay and its variation explain".to_string(),
        Cause::ConnectionPerCall => "a connection was opened for this one exchange".to_string(),
        Cause::SplitWrites => format!("the {sender} sent a message in two writes, the first of less than a segment"),
        Cause::EventsInBursts => format!("the events of a stream of the {sender} came in bursts: their own times, or bursts of one size that end inside an event, show that a buffer held them between their maker and this capture, in a proxy or in the {sender}"),
        Cause::UnevenStream => format!("the {sender} sent the messages of a stream at uneven intervals"),
        Cause::DribbledWrites => format!("the {sender} sent a message in several pieces and paused between them"),
        Cause::SenderStalled => format!("the {sender} paused in the middle of a message, with nothing in its way"),
        Cause::LongPath => "the network needed that long for the way there and back".to_string(),
        Cause::HeadOfLine => "the reply waited behind the replies to earlier requests on its connection (pipelining)".to_string(),
        Cause::Redirect => "the reply sent the client to another address, which cost this exchange".to_string(),
        Cause::ClientIdle => "the client had an open connection and sent nothing".to_string(),
        Cause::ZeroWindow => format!("the {receiver} announced a closed window: its application did not read"),
        Cause::ConnectionRefused => "the server refused the connection (RST in answer to SYN)".to_string(),
        Cause::ConnectionReset => format!("the {sender} reset the connection while something was under way"),
        Cause::KeepAliveRace => "the server closed a kept connection (FIN) while the client sent a request on it, and answered with RST. A client should close idle connections sooner than the server does (its idle timeout below the server's keep-alive timeout), or send such a request again on a new connection".to_string(),
        Cause::Unanswered => "a request got no reply before the connection or the capture ended".to_string(),
        Cause::SlowDns => "the name server took long to answer before the connection was opened".to_string(),
        Cause::MtuBlackHole => format!("large segments of the {sender} never arrived although the {receiver} was heard: a link with a smaller MTU drops them"),
        Cause::HalfOpen => format!("the {sender} sent the same payload again and again, and heard nothing of the {receiver}"),
        Cause::KeepAliveDeath => format!("the {receiver} did not answer keep-alive probes of the {sender}"),
        Cause::IpFragments => format!("segments of the {sender} came in IP fragments: they were larger than a link on the path carries"),
        Cause::SpuriousRetransmission => format!("payload of the {sender} was sent again although it had arrived"),
        Cause::H2SettingsWait => "the client sent its first request only after the SETTINGS of the server had come".to_string(),
        Cause::H2PingWait => "the client sent its request only after the answer to its PING had come".to_string(),
        Cause::H2StreamLimit => "as many requests were under way as the server allows on a connection (SETTINGS_MAX_CONCURRENT_STREAMS), and the next one was sent when one of them had ended".to_string(),
        Cause::MessagesCoalesced => format!("messages of a stream of the {sender} could be read only together, although they were sent apart, or made apart by their own times"),
        Cause::StreamBuffered => "a proxy had a message of a stream and passed it on only together with the next one; both of its sides are in the capture".to_string(),
        Cause::H2HeadOfLine => format!("messages of the {sender} had come and could not be read: bytes of another HTTP/2 stream of their connection were lost, and TCP delivers all in order"),
        Cause::SlowTls => "the TLS handshake took longer than its round trips".to_string(),
    };
    // A connection has no exchange, and what is said of it names no direction twice.
    let both = if figures.both_ways && !figures.cause.is_of_connection() {
        " (in other exchanges in the opposite direction)"
    } else {
        ""
    };
    format!(
        "{}: {what}{both}. {}",
        frequency_text(figures),
        duration_text(figures)
    )
}

fn sides(direction: Direction) -> (&'static str, &'static str) {
    match direction {
        Direction::Request => ("client", "server"),
        Direction::Reply => ("server", "client"),
    }
}

fn frequency_text(figures: &Figures) -> String {
    if figures.cause.is_of_connection() {
        return pluralize(figures.occurrences, "time");
    }
    if figures.exchanges == 0 {
        return format!(
            "{}, in connections without exchanges that can be read",
            pluralize(figures.occurrences, "time")
        );
    }
    format!(
        "In {} of {}",
        figures.exchanges,
        pluralize(figures.exchanges_seen, "exchange")
    )
}

fn duration_text(figures: &Figures) -> String {
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

fn test(figures: &Figures) -> Option<Test> {
    let (axis, value) = switch(figures)?;
    let [total, median] = [figures.ms_total, figures.ms_median].map(duration);
    let (least, words) = match figures.cause {
        _ if figures.ms_total <= 0.0 => (0.0, String::new()),
        // Without the application's side it is not known when it wrote the late part: what it
        // wrote only then is not sooner by any switch.
        Cause::NagleDelayedAck => (
            0.0,
            format!(
                ", that is up to {total} in all, up to {median} in a median one: less where the \
                 application itself wrote late"
            ),
        ),
        _ => (
            figures.ms_total,
            format!(", that is {total} in all, {median} in a median one"),
        ),
    };
    Some(Test {
        axis,
        value,
        predict: disappearance(figures.occurrences) + &words,
        ms_least: least,
    })
}

fn disappearance(occurrences: u64) -> String {
    let verb = if occurrences == 1 {
        "disappears"
    } else {
        "disappear"
    };
    format!("the {} {verb}", pluralize(occurrences, "occurrence"))
}

/// The switch that lets a server send small segments at once.
const SERVER_NAGLE: &str = "server.nagle";

fn switch(figures: &Figures) -> Option<(String, String)> {
    let (sender, receiver) = sides(figures.direction);
    let (axis, value) = match figures.cause {
        // Axes and values are those of crates/stack: a run with this one changed tests
        // the finding.
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
