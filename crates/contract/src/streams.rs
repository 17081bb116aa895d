//! The canonical model of `stream`: when items are due, what they hold, and what clients may send
//! (contracts/stream.proto).

use std::str::FromStr;

use sha2::{Digest, Sha256};

use crate::error::ApplicationError;
use crate::model::hex;
use crate::stream::{FeedRequest, Item, PushReply};
use crate::texts::{self, SplitMix64};

/// Items of one stream at most.
pub const ITEMS_MAX: i32 = 1_000_000;

/// Bytes of one text at most.
pub const TEXT_BYTES_MAX: u64 = 65_536;

/// Bytes of the texts of one stream at most.
pub const STREAM_BYTES_MAX: u64 = 1 << 30;

/// The greatest mean gap, in microseconds.
pub const GAP_US_MAX: i64 = 60_000_000;

/// Items times gap at most, in microseconds: one hour.
const SPAN_US_MAX: u64 = 3_600_000_000;

/// Items that come together in a burst.
const BURST_ITEMS: u64 = 10;

/// Length of the pause, in gaps.
const PAUSE_GAPS: u64 = 20;

/// Gaps before the first token.
const FIRST_TOKEN_GAPS: u64 = 8;

/// How items are spread over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// Equal gaps.
    Constant,
    /// Ten items at a time.
    Bursts,
    /// Equal gaps, with one long pause in the middle.
    Pause,
    /// Random gaps after a long first one, like tokens of a language model.
    Tokens,
}

impl Pattern {
    /// Every pattern.
    pub const ALL: [Pattern; 4] = [
        Pattern::Constant,
        Pattern::Bursts,
        Pattern::Pause,
        Pattern::Tokens,
    ];

    /// Its name in a request.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Pattern::Constant => "constant",
            Pattern::Bursts => "bursts",
            Pattern::Pause => "pause",
            Pattern::Tokens => "tokens",
        }
    }
}

impl FromStr for Pattern {
    type Err = ApplicationError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Pattern::ALL
            .into_iter()
            .find(|pattern| pattern.name() == name);
        found.ok_or(ApplicationError::FeedPattern)
    }
}

/// When an item is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// Its number, from 0.
    pub index: i32,
    /// Nanoseconds after the service received the request.
    pub due_ns: u64,
}

/// The items of one feed in their order: when each is due, and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    pattern: Pattern,
    count: i32,
    bytes: u32,
    next: i32,
    gap_us: u64,
    /// Of the item before, with [`Pattern::Tokens`].
    due_ns: u64,
    gaps: SplitMix64,
    /// First output of the seed, from which the texts begin.
    texts: u64,
}

impl Schedule {
    /// The schedule that a request defines.
    ///
    /// # Errors
    /// The first limit of contracts/README.md that the request violates.
    pub fn of(request: &FeedRequest) -> Result<Schedule, ApplicationError> {
        let FeedRequest { count, bytes, .. } = *request;
        if !(1..=ITEMS_MAX).contains(&count) {
            return Err(ApplicationError::FeedCount);
        }
        let text_bytes = u64::try_from(bytes).map_err(|_| ApplicationError::FeedBytes)?;
        if text_bytes > TEXT_BYTES_MAX {
            return Err(ApplicationError::FeedBytes);
        }
        if !(0..=GAP_US_MAX).contains(&request.gap_us) {
            return Err(ApplicationError::FeedGap);
        }
        let pattern = request.pattern.parse()?;
        let (items, gap_us) = (
            u64::from(count.unsigned_abs()),
            request.gap_us.unsigned_abs(),
        );
        if items * text_bytes > STREAM_BYTES_MAX {
            return Err(ApplicationError::StreamTooLarge);
        }
        if items * gap_us > SPAN_US_MAX {
            return Err(ApplicationError::StreamTooLong);
        }
        // The seed as 64 bits, whatever its sign.
        let seed = request.seed.cast_unsigned();
        Ok(Schedule {
            pattern,
            count,
            bytes: bytes.unsigned_abs(),
            next: 0,
            gap_us,
            due_ns: 0,
            gaps: SplitMix64::new(seed),
            texts: SplitMix64::new(seed).next_u64(),
        })
    }

    /// Number of all its items, whether or not they were taken.
    #[must_use]
    pub fn total(&self) -> i32 {
        self.count
    }

    /// The text of an item.
    #[must_use]
    pub fn text(&self, index: i32) -> String {
        texts::characters(self.text_generator(index), self.bytes as usize)
    }

    /// Whether a text is that of an item.
    #[must_use]
    pub fn is_text(&self, index: i32, text: &[u8]) -> bool {
        text.len() == self.bytes as usize && texts::are_characters(self.text_generator(index), text)
    }

    /// Length of each text, in bytes.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        self.bytes as usize
    }

    fn text_generator(&self, index: i32) -> SplitMix64 {
        SplitMix64::new(self.texts.wrapping_add(u64::from(index.unsigned_abs())))
    }

    fn due_ns(&mut self, index: u64) -> u64 {
        let gap_ns = self.gap_us * 1_000;
        match self.pattern {
            Pattern::Constant => index * gap_ns,
            Pattern::Bursts => index / BURST_ITEMS * BURST_ITEMS * gap_ns,
            Pattern::Pause => {
                let is_after = index >= u64::from(self.count.unsigned_abs() / 2);
                (index + u64::from(is_after) * PAUSE_GAPS) * gap_ns
            }
            Pattern::Tokens if index == 0 => FIRST_TOKEN_GAPS * gap_ns,
            // Uniform from 0 to two gaps: the mean is one.
            Pattern::Tokens => self.due_ns + self.gaps.next_u64() % (2 * self.gap_us + 1) * 1_000,
        }
    }
}

impl Iterator for Schedule {
    type Item = Due;

    fn next(&mut self) -> Option<Due> {
        if self.next == self.count {
            return None;
        }
        let index = self.next;
        self.due_ns = self.due_ns(u64::from(index.unsigned_abs()));
        self.next += 1;
        Some(Due {
            index,
            due_ns: self.due_ns,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.count - self.next).unsigned_abs() as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Schedule {}

/// The items of a client, taken one after the other.
#[derive(Debug, Clone, Default)]
pub struct Taken {
    count: i32,
    bytes: u64,
}

impl Taken {
    /// Number of items so far.
    #[must_use]
    pub fn count(&self) -> i32 {
        self.count
    }

    /// Takes the next item.
    ///
    /// # Errors
    /// The first limit of contracts/README.md that it violates.
    pub fn take(&mut self, item: &Item) -> Result<(), ApplicationError> {
        if item.index != self.count {
            return Err(ApplicationError::ItemOrder);
        }
        if self.count == ITEMS_MAX {
            return Err(ApplicationError::TooManyStreamItems);
        }
        let bytes = item.text.len() as u64;
        if bytes > TEXT_BYTES_MAX {
            return Err(ApplicationError::ItemTooLong);
        }
        if self.bytes + bytes > STREAM_BYTES_MAX {
            return Err(ApplicationError::StreamTooLarge);
        }
        self.count += 1;
        self.bytes += bytes;
        Ok(())
    }
}

/// Push, while its items come.
#[derive(Debug, Clone, Default)]
pub struct Pushed {
    taken: Taken,
    digest: Sha256,
}

impl Pushed {
    /// Takes the next item.
    ///
    /// # Errors
    /// As [`Taken::take`].
    pub fn take(&mut self, item: &Item) -> Result<(), ApplicationError> {
        self.taken.take(item)?;
        self.digest.update(item.text.as_bytes());
        Ok(())
    }

    /// The reply after the last item.
    #[must_use]
    pub fn reply(self) -> PushReply {
        PushReply {
            count: self.taken.count,
            bytes: self.taken.bytes as i64,
            sha256: hex(&self.digest.finalize()),
        }
    }
}

/// Push of these items.
///
/// # Errors
/// As [`Taken::take`].
pub fn push(items: &[Item]) -> Result<PushReply, ApplicationError> {
    let mut pushed = Pushed::default();
    items.iter().try_for_each(|item| pushed.take(item))?;
    Ok(pushed.reply())
}

/// Chat of these items: the replies, without times.
///
/// # Errors
/// As [`Taken::take`].
pub fn chat(items: &[Item]) -> Result<Vec<Item>, ApplicationError> {
    let mut taken = Taken::default();
    let replies = items.iter().map(|item| {
        taken.take(item)?;
        Ok(Item {
            index: item.index,
            text: item.text.clone(),
            ..Item::default()
        })
    });
    replies.collect()
}

/// A short feed with texts of `bytes` bytes.
#[must_use]
pub fn sample(bytes: i32) -> FeedRequest {
    FeedRequest {
        count: 10,
        bytes,
        gap_us: 1_000,
        pattern: Pattern::Constant.name().to_owned(),
        seed: 0,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Vectors {
        feeds: Vec<Feed>,
        refused: Vec<Refused>,
        pushes: Vec<Push>,
    }

    #[derive(Deserialize)]
    struct Feed {
        name: String,
        request: FeedRequest,
        items: Vec<Item>,
    }

    #[derive(Deserialize)]
    struct Refused {
        name: String,
        request: FeedRequest,
        error: String,
    }

    #[derive(Deserialize)]
    struct Push {
        name: String,
        items: Vec<Item>,
        reply: Option<PushReply>,
        error: Option<String>,
    }

    fn vectors() -> Vectors {
        serde_json::from_str(include_str!("../../../contracts/vectors/streams.json")).unwrap()
    }

    #[test]
    fn schedules_are_those_of_the_vectors() {
        for vector in vectors().feeds {
            let schedule = Schedule::of(&vector.request).unwrap();
            let texts = schedule.clone();
            let items = schedule.map(|due| Item {
                index: due.index,
                due_ns: due.due_ns as i64,
                text: texts.text(due.index),
                ..Item::default()
            });
            let items: Vec<Item> = items.collect();
            assert_eq!(items, vector.items, "{}", vector.name);
            for item in &items {
                assert!(texts.is_text(item.index, item.text.as_bytes()));
            }
        }
    }

    #[test]
    fn requests_beyond_a_limit_are_refused_as_in_the_vectors() {
        for vector in vectors().refused {
            let error = Schedule::of(&vector.request).unwrap_err();
            assert_eq!(error.to_string(), vector.error, "{}", vector.name);
        }
    }

    #[test]
    fn pushes_are_answered_as_in_the_vectors() {
        for vector in vectors().pushes {
            let answer = push(&vector.items).map_err(|error| error.to_string());
            let expected = vector.reply.ok_or(vector.error.unwrap_or_default());
            assert_eq!(answer, expected, "{}", vector.name);
        }
    }

    #[test]
    fn a_text_of_another_item_seed_or_length_is_not_the_text() {
        let of_seed = |seed| Schedule::of(&FeedRequest { seed, ..sample(16) }).unwrap();
        let (one, other) = (of_seed(1), of_seed(2));
        let text = one.text(3);
        assert!(one.is_text(3, text.as_bytes()));
        assert!(!one.is_text(4, text.as_bytes()));
        assert!(!other.is_text(3, text.as_bytes()));
        assert!(!one.is_text(3, &text.as_bytes()[..15]));
    }

    #[test]
    fn items_of_clients_end_at_each_limit() {
        let item = |index, bytes: u64| Item {
            index,
            text: "x".repeat(bytes as usize),
            ..Item::default()
        };
        let mut taken = Taken::default();
        let too_long = taken.take(&item(0, TEXT_BYTES_MAX + 1));
        assert_eq!(too_long, Err(ApplicationError::ItemTooLong));
        taken.take(&item(0, TEXT_BYTES_MAX)).unwrap();
        taken.bytes = STREAM_BYTES_MAX;
        assert_eq!(taken.take(&item(1, 0)), Ok(()));
        let too_large = taken.take(&item(2, 1));
        assert_eq!(too_large, Err(ApplicationError::StreamTooLarge));
        taken.count = ITEMS_MAX;
        let too_many = taken.take(&item(ITEMS_MAX, 0));
        assert_eq!(too_many, Err(ApplicationError::TooManyStreamItems));
    }
}
