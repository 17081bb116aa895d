//! How replies that nothing is expected of differ from each other.

use crate::call::result::{RepliesOutcome, ReplyOutcome};

/// Different replies that are kept apart.
const DIFFERENT_MAX: usize = 16;

/// Counts of equal replies.
#[derive(Debug, Clone, Default)]
pub(crate) struct Replies {
    /// The first different ones, in the order in which they came.
    different: Vec<(Reply, u64)>,
    others: u64,
    /// Smallest and largest size; None: there was no reply.
    bytes: Option<(u64, u64)>,
    compared_by_length: u64,
}

/// What makes two replies the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reply {
    status: u16,
    bytes: u64,
    /// 0: the content was not compared.
    hash: u64,
}

impl Replies {
    /// One reply; `hash` 0 where its content was not compared.
    pub(crate) fn add(&mut self, status: u16, bytes: u64, hash: u64) {
        let reply = Reply {
            status,
            bytes,
            hash,
        };
        self.count(reply, 1);
        let (min, max) = self.bytes.unwrap_or((bytes, bytes));
        self.bytes = Some((min.min(bytes), max.max(bytes)));
        self.compared_by_length += u64::from(hash == 0 && bytes > 0);
    }

    fn count(&mut self, reply: Reply, count: u64) {
        // Most often all are the same, and the first is it.
        match self.different.iter().position(|(own, _)| *own == reply) {
            Some(at) => self.different[at].1 += count,
            None if self.different.len() < DIFFERENT_MAX => self.different.push((reply, count)),
            None => self.others += count,
        }
    }

    pub(crate) fn merge(&mut self, other: &Replies) {
        for (reply, count) in &other.different {
            self.count(*reply, *count);
        }
        self.others += other.others;
        self.bytes = match (self.bytes, other.bytes) {
            (Some(mine), Some(theirs)) => Some((mine.0.min(theirs.0), mine.1.max(theirs.1))),
            (mine, theirs) => mine.or(theirs),
        };
        self.compared_by_length += other.compared_by_length;
    }

    /// Those of an outcome; None where a hash is not one.
    pub(crate) fn read(outcome: &RepliesOutcome) -> Option<Replies> {
        let different = outcome.different.iter().map(|reply| {
            let key = Reply {
                status: reply.status,
                bytes: reply.bytes,
                hash: u64::from_str_radix(&reply.hash, 16).ok()?,
            };
            Some((key, reply.count))
        });
        Some(Replies {
            different: different.collect::<Option<_>>()?,
            others: outcome.others,
            bytes: (outcome.count > 0).then_some((outcome.bytes_min, outcome.bytes_max)),
            compared_by_length: outcome.compared_by_length,
        })
    }

    pub(crate) fn outcome(&self) -> RepliesOutcome {
        let mut different: Vec<ReplyOutcome> = self
            .different
            .iter()
            .map(|(reply, count)| ReplyOutcome {
                status: reply.status,
                bytes: reply.bytes,
                hash: format!("{:016x}", reply.hash),
                count: *count,
            })
            .collect();
        different.sort_by_key(|reply| std::cmp::Reverse(reply.count));
        let (bytes_min, bytes_max) = self.bytes.unwrap_or_default();
        RepliesOutcome {
            count: different.iter().map(|reply| reply.count).sum::<u64>() + self.others,
            different,
            others: self.others,
            bytes_min,
            bytes_max,
            compared_by_length: self.compared_by_length,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_replies_are_counted_together_and_all_are_counted() {
        let mut replies = Replies::default();
        (0..100).for_each(|at| replies.add(200, 10, 1 + at % 20));
        let outcome = replies.outcome();
        assert_eq!(
            (outcome.different.len(), outcome.others),
            (DIFFERENT_MAX, 20)
        );
        assert_eq!(outcome.count, 100);
        replies.add(204, 0, 0);
        replies.add(200, 5_000_000, 0);
        let outcome = replies.outcome();
        assert_eq!((outcome.bytes_min, outcome.bytes_max), (0, 5_000_000));
        assert_eq!(outcome.compared_by_length, 1);
    }

    #[test]
    fn threads_that_got_the_same_reply_are_added_up() {
        let (mut one, mut other) = (Replies::default(), Replies::default());
        one.add(200, 5, 7);
        other.add(200, 5, 7);
        other.add(200, 5, 8);
        one.merge(&other);
        let outcome = one.outcome();
        let counts: Vec<u64> = outcome.different.iter().map(|reply| reply.count).collect();
        assert_eq!((counts, outcome.count), (vec![2, 1], 3));
        Replies::default().merge(&one);
    }
}
