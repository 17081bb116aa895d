//! The calendars of `calendar`.

use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::calendar::{
    BookReply, BookRequest, DeployReply, DeployRequest, EntriesReply, EntriesRequest, Entry,
};
use crate::error::ApplicationError;
use crate::model::sha256_hex;

/// Days of a calendar.
pub const DAYS: i32 = 364;

/// Half-hours of a day.
pub const SLOTS: i32 = 48;

/// Bytes of a document.
pub const DOCUMENT_BYTES_MAX: usize = 1 << 20;

/// Bytes of an owner, a title or a note, in UTF-8.
pub const TEXT_BYTES_MAX: usize = 1024;

/// Owners that a service keeps.
pub const OWNERS_MAX: usize = 10_000;

/// Hexadecimal digits of the digest that Deploy returns.
const DIGEST_DIGITS: usize = 49;

/// Parts with a lock each.
const SHARDS: usize = 64;

/// An owner's entries by number. Notes are for the owner alone and no
/// operation reads them.
type Year = BTreeMap<i32, Entry>;

type Answer<T> = Result<T, ApplicationError>;

#[derive(Debug)]
pub(crate) struct Calendars {
    shards: Vec<Mutex<HashMap<String, Year>>>,
    // Owners are chosen by callers. With a random key nobody can aim all of them at one
    // lock.
    hasher: RandomState,
    owners: AtomicUsize,
}

impl Calendars {
    pub(crate) fn new() -> Self {
        Calendars {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            hasher: RandomState::new(),
            owners: AtomicUsize::new(0),
        }
    }

    pub(crate) fn book(&self, request: &BookRequest) -> Answer<BookReply> {
        check_book(request)?;
        let number = (request.day - 1) * SLOTS + request.slot;
        let entry = Entry {
            slot: request.slot,
            title: request.title.clone(),
            open: request.open,
            weight: request.weight,
        };
        let mut shard = self.shard(&request.owner);
        match shard.get_mut(&request.owner) {
            Some(year) => _ = year.insert(number, entry),
            None => {
                // Last of the checks, as the contract has it, and only for a new owner: an
                // old one may book when the service is full.
                self.count_owner()?;
                shard.insert(request.owner.clone(), Year::from([(number, entry)]));
            }
        }
        Ok(BookReply {
            number,
            owner: request.owner.clone(),
            title: request.title.clone(),
        })
    }

    pub(crate) fn entries(&self, request: &EntriesRequest) -> Answer<EntriesReply> {
        check(!request.owner.is_empty(), ApplicationError::EmptyOwner)?;
        check_day(request.day)?;
        // Numbers of one day follow each other, and the map is ordered: a day is a range,
        // already by slot.
        let first = (request.day - 1) * SLOTS;
        let shard = self.shard(&request.owner);
        let day = shard
            .get(&request.owner)
            .map(|year| year.range(first..first + SLOTS));
        let entries = day.into_iter().flatten().map(|(_, entry)| entry.clone());
        Ok(EntriesReply {
            entries: entries.collect(),
        })
    }

    fn count_owner(&self) -> Answer<()> {
        // One atomic step across all shards. Counting and inserting separately could let an
        // owner too many in.
        let more = |owners| (owners < OWNERS_MAX).then_some(owners + 1);
        let counted = self
            .owners
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        counted
            .map(|_| ())
            .map_err(|_| ApplicationError::TooManyOwners)
    }

    fn shard(&self, owner: &str) -> MutexGuard<'_, HashMap<String, Year>> {
        let shard = &self.shards[self.hasher.hash_one(owner) as usize % SHARDS];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Deploy.
///
/// # Errors
/// [`ApplicationError::EmptyDocument`], [`ApplicationError::DocumentTooLong`].
pub fn deploy(request: &DeployRequest) -> Result<DeployReply, ApplicationError> {
    let document = &request.document;
    check(!document.is_empty(), ApplicationError::EmptyDocument)?;
    let fits = document.len() <= DOCUMENT_BYTES_MAX;
    check(fits, ApplicationError::DocumentTooLong)?;
    let digest = sha256_hex(document.as_bytes());
    Ok(DeployReply {
        status: format!("deployed {}", &digest[..DIGEST_DIGITS]),
    })
}

fn check_book(request: &BookRequest) -> Answer<()> {
    check(!request.owner.is_empty(), ApplicationError::EmptyOwner)?;
    check_day(request.day)?;
    check((0..SLOTS).contains(&request.slot), ApplicationError::Slot)?;
    check(!request.title.is_empty(), ApplicationError::EmptyTitle)?;
    // Together, after the checks for emptiness: the contract has one error for the three.
    let texts = [&request.owner, &request.title, &request.note];
    let fit = texts.iter().all(|text| text.len() <= TEXT_BYTES_MAX);
    check(fit, ApplicationError::TextTooLong)?;
    check(request.weight.is_finite(), ApplicationError::Weight)
}

fn check_day(day: i32) -> Answer<()> {
    check((1..=DAYS).contains(&day), ApplicationError::Day)
}

fn check(holds: bool, error: ApplicationError) -> Answer<()> {
    match holds {
        true => Ok(()),
        false => Err(error),
    }
}

#[cfg(test)]
#[path = "calendars_tests.rs"]
mod tests;
