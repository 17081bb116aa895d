//! Names and texts that both ends know by number.
//!
//! Both ends do the same with every token, so the same numbers stand for the
//! same texts. When a cache is full, the clock algorithm gives up an entry: a
//! hand goes round, passes over each entry that was used since it last came
//! by, and replaces the first that was not.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// How large a cache is, and what it holds from the start.
#[derive(Debug)]
pub(super) struct Plan {
    /// Numbers 0 and up; never given up.
    pub(super) fixed: &'static [&'static str],
    /// Entries beyond those.
    pub(super) entries: usize,
}

/// Names of elements and attributes: those of SOAP are there from the start.
pub(super) const NAMES: Plan = Plan {
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
pub(super) const TEXTS: Plan = Plan {
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
    text: Cow<'static, str>,
    used: bool,
    note: P,
}

impl<P: Clone> Cache<P> {
    pub(super) fn new(plan: &'static Plan, note: P) -> Self {
        let fixed = plan.fixed.iter().map(|text| Entry {
            text: Cow::Borrowed(*text),
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
    pub(super) fn used(&mut self, number: usize) -> Option<(&str, &mut P)> {
        let entry = self.entries.get_mut(number)?;
        entry.used = true;
        Some((&entry.text, &mut entry.note))
    }

    /// Enters a text. Returns its number and the text that was given up.
    pub(super) fn insert(&mut self, text: &str, note: P) -> (usize, Option<Cow<'static, str>>) {
        let new = Entry {
            text: Cow::Owned(text.to_owned()),
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
#[derive(Debug)]
pub(super) struct Index {
    cache: Cache<()>,
    numbers: HashMap<Cow<'static, str>, usize, BuildHasherDefault<WordHasher>>,
}

impl Index {
    pub(super) fn new(plan: &'static Plan) -> Self {
        let numbered = plan.fixed.iter().enumerate();
        Index {
            cache: Cache::new(plan, ()),
            numbers: numbered
                .map(|(n, text)| (Cow::Borrowed(*text), n))
                .collect(),
        }
    }

    /// The number of a text, which counts as used from now on.
    pub(super) fn find(&mut self, text: &str) -> Option<usize> {
        let number = *self.numbers.get(text)?;
        self.cache.used(number);
        Some(number)
    }

    /// Enters a text that [`Index::find`] did not find.
    pub(super) fn insert(&mut self, text: &str) {
        let (number, given_up) = self.cache.insert(text, ());
        if let Some(old) = given_up {
            self.numbers.remove(&old);
        }
        self.numbers.insert(Cow::Owned(text.to_owned()), number);
    }
}

/// A quick hash of short texts. Whoever finds texts that collide makes a
/// search no longer than the cache is large, which is little.
#[derive(Debug, Default)]
pub(super) struct WordHasher(u64);

/// 2^64 divided by the golden ratio, odd.
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = (self.0.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(MIX);
        }
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Plan = Plan {
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
        assert_eq!(
            ["fixed", "a", "b", "c"].map(|t| index.numbers[t]),
            [0, 1, 2, 3]
        );
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
                    receiver.insert(&text, ());
                }
            }
        }
        assert_eq!(sender.numbers.len(), 4);
    }
}
