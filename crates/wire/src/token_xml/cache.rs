//! Names and texts that both ends know by number.
//!
//! Both ends do the same with every token, so the same numbers stand for the
//! same texts. When a cache is full, the clock algorithm gives up an entry: a
//! hand goes round, passes over each entry that was used since it last came
//! by, and replaces the first that was not.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// How large a cache is, and what it holds from the start.
#[derive(Debug)]
pub(super) struct Plan {
    /// Numbers 0 and up; never given up.
    pub(super) fixed: &'static [&'static str],
    /// The numbers of those, made once.
    pub(super) numbers: OnceLock<Numbers<&'static str>>,
    /// Entries beyond those.
    pub(super) entries: usize,
}

/// From texts to numbers.
type Numbers<T> = HashMap<T, usize, BuildHasherDefault<WordHasher>>;

impl Plan {
    fn number(&self, text: &str) -> Option<usize> {
        let made = || (0..).zip(self.fixed).map(|(n, text)| (*text, n)).collect();
        self.numbers.get_or_init(made).get(text).copied()
    }
}

/// Names of elements and attributes: those of SOAP are there from the start.
pub(super) static NAMES: Plan = Plan {
    numbers: OnceLock::new(),
    fixed: &[
        "soapenv:Envelope",
        "xmlns:soapenv",
        "soapenv:Header",
        "soapenv:Body",
        "soapenv:Fault",
        "faultcode",
        "faultstring",
        "faultactor",
        "detail",
        "xmlns",
        "soapenv:mustUnderstand",
        "soapenv:actor",
        "soapenv:encodingStyle",
        "xmlns:xsd",
        "xmlns:xsi",
        "xsi:type",
        "xsi:nil",
        "SOAP-ENV:Envelope",
        "xmlns:SOAP-ENV",
        "SOAP-ENV:Header",
        "SOAP-ENV:Body",
        "SOAP-ENV:Fault",
        "SOAP-ENV:mustUnderstand",
        "SOAP-ENV:actor",
        "SOAP-ENV:encodingStyle",
        "xmlns:SOAP-ENC",
        "SOAP-ENC:arrayType",
        "id",
        "href",
        "item",
    ],
    entries: 1024,
};

/// Texts and values of attributes.
pub(super) static TEXTS: Plan = Plan {
    numbers: OnceLock::new(),
    fixed: &[
        "http://schemas.xmlsoap.org/soap/envelope/",
        "http://schemas.xmlsoap.org/soap/encoding/",
        "http://www.w3.org/2001/XMLSchema",
        "http://www.w3.org/2001/XMLSchema-instance",
        "soapenv:Client",
        "soapenv:Server",
        "soapenv:VersionMismatch",
        "soapenv:MustUnderstand",
        "SOAP-ENV:Client",
        "SOAP-ENV:Server",
        "xsd:boolean",
        "xsd:int",
        "xsd:long",
        "xsd:double",
        "xsd:string",
        "xsd:base64Binary",
        "SOAP-ENC:Array",
    ],
    entries: 256,
};

/// A cache as both ends keep it; `P` is what an end notes at an entry.
#[derive(Debug)]
pub(super) struct Cache<P> {
    plan: &'static Plan,
    entries: Vec<Entry<P>>,
    /// The entry that the hand points to, the fixed ones not counted.
    hand: usize,
}

#[derive(Debug)]
struct Entry<P> {
    text: Text,
    used: bool,
    note: P,
}

/// The text of an entry.
#[derive(Debug, Clone)]
pub(super) enum Text {
    Fixed(&'static str),
    Sent(Arc<str>),
}

impl Deref for Text {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        match self {
            Text::Fixed(text) => text,
            Text::Sent(text) => text,
        }
    }
}

impl<P: Clone> Cache<P> {
    pub(super) fn new(plan: &'static Plan, note: P) -> Self {
        let fixed = plan.fixed.iter().map(|text| Entry {
            text: Text::Fixed(text),
            used: true,
            note: note.clone(),
        });
        Cache {
            plan,
            entries: fixed.collect(),
            hand: 0,
        }
    }

    /// The text of a number, which counts as used from now on, and its note.
    #[inline]
    pub(super) fn used(&mut self, number: usize) -> Option<(&str, &mut P)> {
        let entry = self.entries.get_mut(number)?;
        entry.used = true;
        Some((&entry.text, &mut entry.note))
    }

    /// Enters a text. Returns its number and the text that was given up.
    pub(super) fn insert(&mut self, text: Arc<str>, note: P) -> (usize, Option<Text>) {
        let new = Entry {
            text: Text::Sent(text),
            used: false,
            note,
        };
        if self.entries.len() < self.plan.fixed.len() + self.plan.entries {
            self.entries.push(new);
            return (self.entries.len() - 1, None);
        }
        let number = self.unused();
        let old = std::mem::replace(&mut self.entries[number], new);
        (number, Some(old.text))
    }

    /// The entry to be replaced; the hand moves behind it.
    fn unused(&mut self) -> usize {
        loop {
            let number = self.plan.fixed.len() + self.hand;
            self.hand = (self.hand + 1) % self.plan.entries;
            let entry = &mut self.entries[number];
            if !std::mem::take(&mut entry.used) {
                return number;
            }
        }
    }
}

/// The sender's side: also from texts to numbers.
///
/// Messages resemble each other: what followed a text last time is looked at
/// first.
#[derive(Debug)]
pub(super) struct Index {
    /// Each with the number that followed it last time.
    cache: Cache<usize>,
    /// Of the texts that are not fixed.
    numbers: Numbers<Arc<str>>,
    /// The number that came last.
    last: usize,
}

impl Index {
    pub(super) fn new(plan: &'static Plan) -> Self {
        Index {
            cache: Cache::new(plan, 0),
            numbers: Numbers::default(),
            last: 0,
        }
    }

    /// The number of a text, which counts as used from now on.
    #[inline]
    pub(super) fn find(&mut self, text: &str) -> Option<usize> {
        let entries = &mut self.cache.entries;
        let next = entries[self.last].note;
        if let Some(entry) = entries.get_mut(next)
            && *entry.text == *text
        {
            entry.used = true;
            self.last = next;
            return Some(next);
        }
        self.search(text)
    }

    fn search(&mut self, text: &str) -> Option<usize> {
        let sent = self.numbers.get(text).copied();
        let number = sent.or_else(|| self.cache.plan.number(text))?;
        self.cache.used(number);
        self.follow(number);
        Some(number)
    }

    /// Enters a text that [`Index::find`] did not find.
    pub(super) fn insert(&mut self, text: &str) {
        let text: Arc<str> = text.into();
        let (number, given_up) = self.cache.insert(text.clone(), 0);
        if let Some(old) = given_up {
            self.numbers.remove(&*old);
        }
        self.numbers.insert(text, number);
        self.follow(number);
    }

    fn follow(&mut self, number: usize) {
        self.cache.entries[self.last].note = number;
        self.last = number;
    }
}

/// A quick hash of short texts. Whoever finds texts that collide makes a
/// search no longer than the cache is large, which is little.
#[derive(Debug, Default)]
pub(super) struct WordHasher(u64);

/// 2^64 divided by the golden ratio, odd.
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

impl WordHasher {
    #[inline]
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(MIX);
    }
}

impl Hasher for WordHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        let rest = rest.iter().rev();
        self.mix(rest.fold(0, |word, byte| word << 8 | u64::from(*byte)));
    }

    #[inline]
    fn write_u8(&mut self, byte: u8) {
        self.mix(byte.into());
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static SMALL: Plan = Plan {
        numbers: OnceLock::new(),
        fixed: &["fixed"],
        entries: 3,
    };

    #[test]
    fn what_is_used_stays_and_the_rest_goes_in_turn() {
        let mut index = Index::new(&SMALL);
        for text in ["a", "b", "c"] {
            assert_eq!(index.find(text), None);
            index.insert(text);
        }
        assert_eq!(["a", "b", "c"].map(|text| index.numbers[text]), [1, 2, 3]);
        assert_eq!(index.find("a"), Some(1));
        index.insert("d");
        assert_eq!(index.find("b"), None, "the first that was not used");
        assert_eq!(index.find("d"), Some(2));
        index.insert("e");
        assert_eq!(index.find("c"), None);
        index.insert("f");
        assert_eq!(
            index.find("a"),
            None,
            "its mark was taken when the hand passed"
        );
        assert_eq!(index.find("fixed"), Some(0));
    }

    #[test]
    fn both_ends_agree_after_any_number_of_texts() {
        let mut sender = Index::new(&SMALL);
        let mut receiver = Cache::new(&SMALL, ());
        for n in 0..1000_u32 {
            let text = (n * n % 7).to_string();
            match sender.find(&text) {
                Some(number) => assert_eq!(receiver.used(number).unwrap().0, text),
                None => {
                    sender.insert(&text);
                    receiver.insert(text.into(), ());
                }
            }
        }
        assert_eq!(sender.numbers.len(), 3);
    }
}
