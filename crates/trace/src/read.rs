//! The way through a capture: frames, packets, connections.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::clock::Clock;
use crate::flow::event::Observer;
use crate::flow::{Counts, Flows, Limits};
use crate::packet::decode::{Decoded, Other, decode};
use crate::packet::file::{Damage, Error, Item, Reader, Record};
use crate::packet::link_layer::LinkType;
use crate::protocol::dns;

/// Takes the frames of a capture, live or from a file, one after the other.
pub struct Analyzer {
    flows: Flows,
    summary: Summary,
}

impl Analyzer {
    /// Has seen nothing yet.
    pub fn new(limits: Limits) -> Analyzer {
        Analyzer {
            flows: Flows::new(limits),
            summary: Summary::default(),
        }
    }

    /// Takes the next frame, and reports its events to `observer`.
    #[inline]
    pub fn record(&mut self, record: &Record<'_>, observer: &mut impl Observer) {
        let steps = self.summary.clock.steps;
        let record = &Record {
            at_ns: self.summary.clock.take(record.at_ns, record.number),
            ..*record
        };
        if self.summary.clock.steps > steps {
            observer.clock_stepped(record.number);
        }
        // Before decoding, so that the sums hold frames that cannot be decoded.
        self.summary.count(record);
        match &decode(record) {
            Decoded::Tcp(packet) => {
                self.summary.tcp_packets += 1;
                self.flows.packet(packet, observer);
            }
            Decoded::Udp(datagram) => {
                self.summary.count_other(Other::Udp);
                if [datagram.source.port(), datagram.destination.port()].contains(&dns::PORT) {
                    observer.datagram(datagram);
                }
            }
            Decoded::Fragment(fragment) => {
                self.summary.count_other(Other::Fragment);
                observer.fragment(fragment);
            }
            Decoded::Other(other) => {
                self.summary.count_other(*other);
                if *other == Other::UnknownLink {
                    self.summary.count_unread(record.link_type);
                }
            }
        }
    }

    /// The capture is over: reports the rest.
    pub fn finish(self, observer: &mut impl Observer) -> Summary {
        Summary {
            flows: self.flows.finish(observer),
            ..self.summary
        }
    }
}

/// Reads a capture to its end, from a file or a pipe, in constant memory.
///
/// Damage ends the reading early and is in the summary; what came before it counts.
///
/// # Errors
/// When it is not a capture, or the file system fails.
pub fn read(capture: impl Read, observer: &mut impl Observer) -> Result<Summary, Error> {
    read_within(Limits::default(), capture, observer)
}

/// The same with other bounds of memory.
///
/// # Errors
/// As [`read`].
pub fn read_within(
    limits: Limits,
    capture: impl Read,
    observer: &mut impl Observer,
) -> Result<Summary, Error> {
    let mut reader = Reader::new(capture)?;
    let mut analyzer = Analyzer::new(limits);
    while let Some(item) = reader.next()? {
        match item {
            Item::Frame(record) => analyzer.record(&record, observer),
            Item::Secrets(key_log) => observer.secrets(key_log),
        }
    }
    let mut summary = analyzer.finish(observer);
    // pcapng has the statistics at its end, so drops are known only now.
    summary.drops = reader.drops();
    summary.damage = reader.damage().cloned();
    Ok(summary)
}

/// Reads the capture in a file; `-` is standard input.
///
/// # Errors
/// As [`read`], and when there is no such file.
pub fn read_file(path: &Path, observer: &mut impl Observer) -> Result<Summary, Error> {
    if path.as_os_str() == "-" {
        return read(std::io::stdin().lock(), observer);
    }
    let file = File::open(path).map_err(|source| Error::Io { offset: 0, source })?;
    read(file, observer)
}

/// Frames that are not TCP, by what they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OtherPackets {
    /// UDP.
    pub udp: u64,
    /// Another protocol over IP.
    pub ip: u64,
    /// Fragments of IP packets.
    pub fragments: u64,
    /// No IP.
    pub link: u64,
    /// Cut before it showed.
    pub cut: u64,
    /// With headers that contradict each other.
    pub malformed: u64,
    /// Of a link type that is not read.
    pub unknown_link: u64,
    /// Encrypted below TCP: 802.11, IPsec.
    pub encrypted: u64,
}

impl OtherPackets {
    /// All of them.
    pub fn total(&self) -> u64 {
        let known = self.udp + self.ip + self.fragments + self.link;
        known + self.cut + self.malformed + self.unknown_link + self.encrypted
    }

    fn count(&mut self, other: Other) {
        *match other {
            Other::Udp => &mut self.udp,
            Other::Ip => &mut self.ip,
            Other::Fragment => &mut self.fragments,
            Other::Link => &mut self.link,
            Other::Cut => &mut self.cut,
            Other::Malformed => &mut self.malformed,
            Other::UnknownLink => &mut self.unknown_link,
            Other::Encrypted => &mut self.encrypted,
        } += 1;
    }
}

/// What a capture holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// Frames.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Their bytes in the capture.
    pub captured_bytes: u64,
    /// Frames that carry TCP.
    pub tcp_packets: u64,
    /// Frames that do not.
    pub other: OtherPackets,
    /// Frames of which the capture holds a part only.
    pub truncated: u64,
    /// The earliest timestamp, nanoseconds since the Unix epoch.
    pub first_at_ns: Option<u64>,
    /// The latest one.
    pub last_at_ns: Option<u64>,
    /// In order of appearance, the first few.
    pub link_types: Vec<LinkType>,
    /// Its clock; the times above go on where it stepped back.
    pub clock: Clock,
    /// Those of them that are not read, with their packets.
    pub unread_links: Vec<(LinkType, u64)>,
    /// Packets that the capturing process lost, as far as the capture shows.
    pub drops: Option<u64>,
    /// Where and why the reading ended before the file did.
    pub damage: Option<Damage>,
    /// Connections and segments.
    pub flows: Counts,
}

impl Summary {
    /// No honest capture mixes more.
    const LINK_TYPES_MAX: usize = 16;

    /// From the first frame to the last, seconds.
    pub fn seconds(&self) -> f64 {
        match (self.first_at_ns, self.last_at_ns) {
            (Some(first), Some(last)) => (last - first) as f64 / 1e9,
            _ => 0.0,
        }
    }

    #[inline]
    fn count(&mut self, record: &Record<'_>) {
        self.packets += 1;
        self.bytes += u64::from(record.wire_bytes);
        self.captured_bytes += record.data.len() as u64;
        self.truncated += u64::from((record.data.len() as u64) < u64::from(record.wire_bytes));
        let first = self.first_at_ns.get_or_insert(record.at_ns);
        // Merged captures and captures of several queues are not in order of time.
        *first = record.at_ns.min(*first);
        let last = self.last_at_ns.get_or_insert(record.at_ns);
        *last = record.at_ns.max(*last);
        // Frames of one interface follow each other: the search below runs once per
        // change.
        if self.link_types.last() != Some(&record.link_type) {
            self.note(record.link_type);
        }
    }

    fn count_other(&mut self, other: Other) {
        self.other.count(other);
    }

    #[cold]
    fn count_unread(&mut self, link_type: LinkType) {
        let known = self
            .unread_links
            .iter_mut()
            .find(|(known, _)| *known == link_type);
        if let Some((_, packets)) = known {
            *packets += 1;
        } else if self.unread_links.len() < Summary::LINK_TYPES_MAX {
            self.unread_links.push((link_type, 1));
        }
    }

    /// Packets that may carry TCP and are not read, by what hides it.
    pub fn unread(&self) -> BTreeMap<String, u64> {
        let by_link = self.unread_links.iter();
        let mut unread: BTreeMap<String, u64> = by_link
            .map(|(link_type, packets)| (link_type.name(), *packets))
            .collect();
        if self.other.encrypted > 0 {
            unread.insert("encrypted frames".to_owned(), self.other.encrypted);
        }
        unread
    }

    #[cold]
    fn note(&mut self, link_type: LinkType) {
        let is_known = self.link_types.contains(&link_type);
        if !is_known && self.link_types.len() < Summary::LINK_TYPES_MAX {
            self.link_types.push(link_type);
        }
    }
}
