//! Names and texts that both ends know by number.
//!
//! Both ends do the same with every token, so the same numbers stand for the
//! same texts. When a cache is full, the clock algorithm evicts an entry: a
//! hand goes round, passes over each entry that was used since it last came
//! by, and replaces the first that was not.

use super::dictionary::Dictionary;

/// Entries beyond the fixed ones that there is room for from the begin.
// A connection that carries one kind of message meets few more names than these.
const SPARE_ENTRIES: usize = 16;

/// Bytes of their texts.
const SPARE_BYTES: usize = 256;

/// Whether two texts are equal: most are short, so that a call that compares many
/// bytes at a time would cost more than comparing them.
#[inline(always)]
fn equal(one: &[u8], other: &[u8]) -> bool {
    fn ends<const N: usize>(bytes: &[u8]) -> Option<([u8; N], [u8; N])> {
        Some((*bytes.first_chunk()?, *bytes.last_chunk()?))
    }
    one.len() == other.len()
        && match one.len() {
            2..4 => ends::<2>(one) == ends::<2>(other),
            4..8 => ends::<4>(one) == ends::<4>(other),
            8..=16 => ends::<8>(one) == ends::<8>(other),
            _ => one == other,
        }
}

/// A cache as both ends keep it; `P` is what an end notes at an entry.
#[derive(Debug)]
pub(super) struct Cache<P> {
    dictionary: &'static Dictionary,
    entries: Vec<Entry<P>>,
    /// The texts of the entries, those of the fixed ones first, and between the
    /// others those that were evicted.
    characters: String,
    /// Bytes of the fixed ones.
    fixed: usize,
    /// Bytes of those that were evicted.
    evicted_bytes: usize,
    /// The entry that the hand points to, the fixed ones not counted.
    hand: usize,
    /// Texts that were ever entered.
    insertions: u64,
}

#[derive(Debug, Copy)]
struct Entry<P> {
    /// Where the text lies among the characters.
    start: u32,
    length: u32,
    used: bool,
    note: P,
}

// Not derived: that would copy every entry field by field.
impl<P: Copy> Clone for Entry<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Copy> Cache<P> {
    /// A cache of the fixed entries, with a note for each.
    pub(super) fn new(dictionary: &'static Dictionary, note: impl Fn(&str) -> P) -> Self {
        let mut cache = Cache {
            dictionary,
            entries: Vec::new(),
            characters: String::new(),
            fixed: 0,
            evicted_bytes: 0,
            hand: 0,
            insertions: 0,
        };
        for (number, text) in dictionary.fixed.iter().enumerate() {
            cache.enter(number, text, note(text));
            cache.entries[number].used = true;
        }
        cache.fixed = cache.characters.len();
        cache
    }

    /// The same with room for more: quicker than a new one.
    pub(super) fn with_spare_room(&self) -> Self {
        let mut entries = Vec::with_capacity(self.entries.len() + SPARE_ENTRIES);
        entries.extend_from_slice(&self.entries);
        let mut characters = String::with_capacity(self.characters.len() + SPARE_BYTES);
        characters.push_str(&self.characters);
        Cache {
            entries,
            characters,
            ..*self
        }
    }

    /// How many texts were ever entered. As long as it is the same, so are all
    /// numbers, and a mark of use stays where it is.
    pub(super) fn insertions(&self) -> u64 {
        self.insertions
    }

    /// The text of a number that stands for one.
    #[inline]
    pub(super) fn text(&self, number: usize) -> &str {
        let Entry { start, length, .. } = self.entries[number];
        let start = start as usize;
        &self.characters[start..start + length as usize]
    }

    /// Whether a number stands for this text.
    #[inline(always)]
    pub(super) fn is(&self, number: usize, text: &str) -> bool {
        let Entry { start, length, .. } = self.entries[number];
        length as usize == text.len() && {
            let kept = &self.characters.as_bytes()[start as usize..][..text.len()];
            equal(kept, text.as_bytes())
        }
    }

    /// What is noted at a number, which counts as used from now on; `None`
    /// when it stands for nothing.
    #[inline]
    pub(super) fn use_number(&mut self, number: usize) -> Option<P> {
        let entry = self.entries.get_mut(number)?;
        entry.used = true;
        Some(entry.note)
    }

    /// Notes something else at an entry.
    #[inline]
    pub(super) fn note(&mut self, number: usize, note: P) {
        self.entries[number].note = note;
    }

    /// Enters a text.
    pub(super) fn insert(&mut self, text: &str, note: P) {
        let number = self.next_number();
        self.enter(number, text, note);
    }

    /// Whether another is evicted for the next text.
    #[inline]
    fn is_full(&self) -> bool {
        self.entries.len() >= self.dictionary.fixed.len() + self.dictionary.entries
    }

    /// The number of the next text: a new one, or that of the entry to be
    /// evicted.
    fn next_number(&mut self) -> usize {
        if self.is_full() {
            self.evict()
        } else {
            self.entries.len()
        }
    }

    /// The entry to be replaced; the hand moves behind it.
    fn evict(&mut self) -> usize {
        loop {
            let number = self.dictionary.fixed.len() + self.hand;
            self.hand = (self.hand + 1) % self.dictionary.entries;
            let entry = &mut self.entries[number];
            // Second chance: an entry used since the hand's last visit stays.
            if !std::mem::take(&mut entry.used) {
                return number;
            }
        }
    }

    /// Enters a text under a number from [`Cache::next_number`].
    #[inline]
    fn enter(&mut self, number: usize, text: &str, note: P) {
        let entry = Entry {
            start: self.characters.len() as u32,
            length: text.len() as u32,
            used: false,
            note,
        };
        self.insertions += 1;
        self.characters.push_str(text);
        match self.entries.get_mut(number) {
            None => self.entries.push(entry),
            Some(old) => {
                self.evicted_bytes += old.length as usize;
                *old = entry;
                // Compaction at half waste keeps the cost per insertion constant.
                if self.evicted_bytes > (self.characters.len() - self.fixed) / 2 {
                    self.compact();
                }
            }
        }
    }

    /// Drops the characters of texts that were evicted.
    #[inline(never)]
    fn compact(&mut self) {
        let room = self.characters.len();
        let before = std::mem::replace(&mut self.characters, String::with_capacity(room));
        for entry in &mut self.entries {
            let start = entry.start as usize;
            entry.start = self.characters.len() as u32;
            self.characters
                .push_str(&before[start..start + entry.length as usize]);
        }
        self.evicted_bytes = 0;
    }
}

/// The sender's side: also from texts to numbers.
///
/// Messages resemble each other: the text that followed last time is compared
/// first. Others are found by their hash: all of one hash are a chain.
#[derive(Debug)]
pub(super) struct Index {
    cache: Cache<Link>,
    /// By hash.
    heads: [u16; HASHES],
    /// The number that came last.
    last: usize,
}

/// What the sender notes at an entry.
#[derive(Debug, Clone, Copy)]
struct Link {
    /// The number that followed it last time.
    follower: u16,
    /// The next number of the same hash.
    next: u16,
}

/// The end of a chain; there are fewer entries.
const NONE: u16 = u16::MAX;

impl Index {
    pub(super) fn new(dictionary: &'static Dictionary) -> Self {
        let unlinked = Link {
            follower: 0,
            next: NONE,
        };
        let mut index = Index {
            cache: Cache::new(dictionary, |_| unlinked),
            heads: [NONE; HASHES],
            last: 0,
        };
        for (number, text) in dictionary.fixed.iter().enumerate() {
            index.link(number, hash(text));
        }
        index
    }

    /// The same with room for more: quicker than a new one.
    pub(super) fn with_spare_room(&self) -> Self {
        Index {
            cache: self.cache.with_spare_room(),
            ..*self
        }
    }

    /// See [`Cache::insertions`].
    pub(super) fn insertions(&self) -> u64 {
        self.cache.insertions()
    }

    /// The number of a text, if it is the one that followed last time; it counts
    /// as used from now on.
    #[inline(always)]
    pub(super) fn predict(&mut self, text: &str) -> Option<usize> {
        // A document repeats the order of its names, so that one comparison mostly suffices.
        let likely = usize::from(self.cache.entries[self.last].note.follower);
        if !self.cache.is(likely, text) {
            return None;
        }
        self.cache.entries[likely].used = true;
        self.last = likely;
        Some(likely)
    }

    /// The number of a text, which counts as used from now on. A text that has
    /// none is entered.
    #[inline]
    pub(super) fn find_or_insert(&mut self, text: &str) -> Option<usize> {
        let hash = hash(text);
        let found = self.search(text, hash);
        let number = match found {
            Some(number) => {
                self.cache.entries[number].used = true;
                number
            }
            None => self.enter(text, hash),
        };
        self.cache.entries[self.last].note.follower = number as u16;
        self.last = number;
        found
    }

    fn search(&self, text: &str, hash: usize) -> Option<usize> {
        let mut number = self.heads[hash];
        while number != NONE {
            let found = usize::from(number);
            if self.cache.is(found, text) {
                return Some(found);
            }
            number = self.cache.entries[found].note.next;
        }
        None
    }
    /// Enters a text that has no number.
    fn enter(&mut self, text: &str, hash: usize) -> usize {
        let number = self.cache.next_number();
        if number < self.cache.entries.len() {
            self.unlink(number);
        }
        let unlinked = Link {
            follower: 0,
            next: NONE,
        };
        self.cache.enter(number, text, unlinked);
        self.link(number, hash);
        number
    }

    /// Puts an entry at the front of its chain.
    fn link(&mut self, number: usize, hash: usize) {
        let next = std::mem::replace(&mut self.heads[hash], number as u16);
        self.cache.entries[number].note.next = next;
    }

    /// Takes an entry out of its chain.
    fn unlink(&mut self, number: usize) {
        let next = self.cache.entries[number].note.next;
        let head = &mut self.heads[hash(self.cache.text(number))];
        let mut before = usize::from(*head);
        if before == number {
            *head = next;
            return;
        }
        loop {
            let link = &mut self.cache.entries[before].note;
            if usize::from(link.next) == number {
                link.next = next;
                return;
            }
            before = usize::from(link.next);
        }
    }
}

/// Hashes of texts.
const HASHES: usize = 256;

/// 2^64 divided by the golden ratio, odd.
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

/// A quick hash of short texts. Texts chosen to collide make a search at
/// most as long as the cache, which is short.
#[inline]
fn hash(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mix = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(MIX);
    let word = |chunk: &[u8; 8]| u64::from_le_bytes(*chunk);
    let half = |chunk: &[u8; 4]| u64::from(u32::from_le_bytes(*chunk));
    let (words, rest) = bytes.as_chunks();
    let whole = words
        .iter()
        .fold(bytes.len() as u64, |hash, chunk| mix(hash, word(chunk)));
    // The rest may be taken together with bytes before it.
    let last = match (bytes.last_chunk(), bytes.first_chunk(), bytes.last_chunk()) {
        (Some(chunk), ..) => word(chunk),
        (_, Some(first), Some(last)) => half(first) << 32 | half(last),
        _ => (rest.iter()).fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    // The highest bits depend on all of the text.
    (mix(whole, last) >> 56) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equal_texts_are_equal(one in "[ab]{0,20}", other in "[ab]{0,3}|[ab]{7,9}|[ab]{15,18}", at in 0_usize..20) {
            prop_assert!(equal(one.as_bytes(), one.as_bytes()));
            let bytes = other.as_bytes();
            prop_assert_eq!(equal(one.as_bytes(), bytes), one.as_bytes() == bytes);
            let mut changed = one.clone().into_bytes();
            if let Some(byte) = changed.get_mut(at) {
                *byte = b'c';
                prop_assert!(!equal(one.as_bytes(), &changed));
            }
        }
    }

    static SMALL: Dictionary = Dictionary {
        fixed: &["fixed"],
        entries: 3,
    };

    impl Index {
        fn find(&mut self, text: &str) -> Option<usize> {
            self.predict(text).or_else(|| self.find_or_insert(text))
        }

        fn number(&self, text: &str) -> u16 {
            let found = self.search(text, hash(text));
            found.map_or(NONE, |number| number as u16)
        }
    }

    #[test]
    fn what_is_used_stays_and_the_rest_goes_in_turn() {
        let mut index = Index::new(&SMALL);
        for text in ["a", "b", "c"] {
            assert_eq!(index.find(text), None);
        }
        assert_eq!(["a", "b", "c"].map(|text| index.number(text)), [1, 2, 3]);
        assert_eq!(index.find("a"), Some(1));
        assert_eq!(index.find("d"), None);
        assert_eq!(index.number("b"), NONE, "the first that was not used");
        assert_eq!(index.find("d"), Some(2));
        assert_eq!(index.find("e"), None);
        assert_eq!(index.number("c"), NONE);
        assert_eq!(index.find("f"), None);
        let why = "its mark was taken when the hand passed";
        assert_eq!(index.number("a"), NONE, "{why}");
        assert_eq!(index.find("fixed"), Some(0));
    }

    #[test]
    fn both_ends_agree_after_any_number_of_texts() {
        let mut sender = Index::new(&SMALL);
        let mut receiver = Cache::new(&SMALL, |_| ());
        for n in 0..1000_u32 {
            let text = (n * n % 7).to_string();
            match sender.find(&text) {
                Some(number) => {
                    assert!(receiver.use_number(number).is_some());
                    assert_eq!(receiver.text(number), text);
                }
                None => receiver.insert(&text, ()),
            }
        }
        let chained = |head: &u16| {
            std::iter::successors(Some(*head).filter(|number| *number != NONE), |number| {
                let next = sender.cache.entries[usize::from(*number)].note.next;
                Some(next).filter(|number| *number != NONE)
            })
            .count()
        };
        let chained: usize = sender.heads.iter().map(chained).sum();
        assert_eq!(chained, 4, "the fixed one and the three that are kept");
    }

    #[test]
    fn texts_that_were_given_up_take_no_more_room_than_the_others() {
        let mut sender = Index::new(&SMALL);
        for n in 0..10_000_u32 {
            let text = format!("{n:>width$}", width = n as usize % 100);
            sender.find(&text);
            let kept = 1..sender.cache.entries.len();
            let kept: usize = kept.map(|number| sender.cache.text(number).len()).sum();
            let characters = sender.cache.characters.len() - "fixed".len();
            assert!(characters <= 2 * kept + 1);
            assert_eq!(
                sender.find(&text).map(|n| sender.cache.text(n)),
                Some(&*text)
            );
        }
    }
}
