//! The tables of `records`: partners and teams, as a service starts with them and
//! as one without a database keeps them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI32, AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::calendars::TEXT_BYTES_MAX;
use crate::error::ApplicationError;
use crate::records::{
    AllocateReply, AllocateRequest, CountAllocationsReply, FindAllocationReply,
    FindAllocationRequest, Team,
};

/// Rows of the table of partners.
pub const PARTNERS: i32 = 100;

/// Rows of the table of teams at the start.
pub const ALLOCATIONS: i32 = 10_001;

/// The first stored team. The first new one is then 879253, the number that
/// Jagannathan (2022), figure 2.1, shows.
pub const GROUP_FIRST: i32 = 869_252;

/// The confirmation that every allocation answers.
pub const MESSAGE: &str = "Your team has been allocated for the course";

/// New teams that a service without a database can still find, at least.
const KEPT: usize = 1_000_000;

/// Parts with a lock each; successive group numbers lie in different ones.
const SHARDS: usize = 64;

/// Names of partners; the tenth part of them each.
const NAMES: [&str; 10] = [
    "Amir", "Beatrice", "Chloe", "Daniel", "Elena", "Farina", "Gustav", "Derek", "Hana", "Ivo",
];

/// The id of partner 0, chosen so that student 113517 gets partner 113520.
const PARTNER_ID_FIRST: i32 = 113_503;

/// A row of the table of partners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Partner {
    /// 0 to 99.
    pub number: i32,
    /// The name.
    pub name: &'static str,
    /// The student's number.
    pub id: i32,
}

/// The partner of the student with that number, which must be at least 0.
#[must_use]
pub fn partner(student: i32) -> Partner {
    let number = student % PARTNERS;
    Partner {
        number,
        name: NAMES[number as usize % NAMES.len()],
        id: PARTNER_ID_FIRST + number,
    }
}

/// The rows of the table of teams at the start, in the order of their groups.
pub fn initial() -> impl Iterator<Item = Team> {
    (0..ALLOCATIONS).map(initial_team)
}

/// Row `n` of the table of teams at the start.
fn initial_team(n: i32) -> Team {
    let student = 200_000 + n;
    Team {
        member1: partner(n).name.to_owned(),
        member2: partner(student).name.to_owned(),
        member1id: student,
        member2id: partner(student).id,
        course_code: format!("CS{}", 10_000 + n % 100),
        group_id: GROUP_FIRST + n,
    }
}

/// The request of Jagannathan (2022), figure 2.1: 51 bytes of compact JSON.
#[must_use]
pub fn sample() -> AllocateRequest {
    AllocateRequest {
        name: "Alice".to_owned(),
        id: 113_517,
        course_code: "CS31245".to_owned(),
    }
}

/// Whether the contract allows the allocation.
///
/// # Errors
/// The first application error that applies.
pub fn check(request: &AllocateRequest) -> Result<(), ApplicationError> {
    if request.name.is_empty() {
        Err(ApplicationError::EmptyName)
    } else if request.id < 1 {
        Err(ApplicationError::Id)
    } else if request.course_code.is_empty() {
        Err(ApplicationError::EmptyCourseCode)
    } else if request.name.len().max(request.course_code.len()) > TEXT_BYTES_MAX {
        Err(ApplicationError::TextTooLong)
    } else {
        Ok(())
    }
}

/// The teams of a service without a database.
#[derive(Debug)]
pub(crate) struct Allocations {
    /// New teams, each part in the order of arrival; bounded, see [`KEPT`].
    shards: Vec<Mutex<VecDeque<Team>>>,
    next: AtomicI32,
    count: AtomicI64,
}

impl Allocations {
    pub(crate) fn new() -> Self {
        Allocations {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            next: AtomicI32::new(GROUP_FIRST + ALLOCATIONS),
            count: AtomicI64::new(i64::from(ALLOCATIONS)),
        }
    }

    pub(crate) fn allocate(
        &self,
        request: &AllocateRequest,
    ) -> Result<AllocateReply, ApplicationError> {
        check(request)?;
        // `check` has refused ids below 1, as `partner` demands.
        let partner = partner(request.id);
        let team = Team {
            member1: request.name.clone(),
            member2: partner.name.to_owned(),
            member1id: request.id,
            member2id: partner.id,
            course_code: request.course_code.clone(),
            group_id: self.next.fetch_add(1, Ordering::Relaxed),
        };
        self.keep(team.clone());
        self.count.fetch_add(1, Ordering::Relaxed);
        Ok(AllocateReply {
            message: MESSAGE.to_owned(),
            team_details: Some(team),
        })
    }

    fn keep(&self, team: Team) {
        let mut shard = self.shard(team.group_id);
        // Twice the room, so that no part forgets early when groups arrive unevenly.
        if shard.len() == 2 * KEPT / SHARDS {
            shard.pop_front();
        }
        shard.push_back(team);
    }

    pub(crate) fn find(
        &self,
        request: &FindAllocationRequest,
    ) -> Result<FindAllocationReply, ApplicationError> {
        let group = request.group_id;
        // Rows of the start are calculated: 10,001 of them would be copied into every
        // service that never reads one.
        let team = match group.checked_sub(GROUP_FIRST) {
            Some(n) if (0..ALLOCATIONS).contains(&n) => Some(initial_team(n)),
            _ => {
                let shard = self.shard(group);
                // From the back: teams are mostly read soon after they were stored.
                shard.iter().rfind(|team| team.group_id == group).cloned()
            }
        };
        let team_details = Some(team.ok_or(ApplicationError::NoGroup)?);
        Ok(FindAllocationReply { team_details })
    }

    pub(crate) fn count(&self) -> CountAllocationsReply {
        CountAllocationsReply {
            count: self.count.load(Ordering::Relaxed),
        }
    }

    fn shard(&self, group: i32) -> MutexGuard<'_, VecDeque<Team>> {
        // A negative group becomes a large index before the remainder, so every number has
        // a shard.
        let shard = &self.shards[group as usize % SHARDS];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_and_reply_of_the_study_have_its_bytes_of_json() {
        let request = serde_json::to_string(&sample()).unwrap();
        assert_eq!(
            request,
            r#"{"name":"Alice","id":113517,"courseCode":"CS31245"}"#
        );
        let reply = serde_json::to_string(&Allocations::new().allocate(&sample()).unwrap());
        let reply = reply.unwrap();
        assert_eq!((request.len(), reply.len()), (51, 187), "{reply}");
        assert!(reply.contains(r#""member2":"Derek","member1id":113517,"member2id":113520"#));
        assert!(reply.contains(r#""groupId":879253"#), "{reply}");
    }

    #[test]
    fn a_nested_message_is_read_back_and_absent_ones_are_empty() {
        let reply = Allocations::new().allocate(&sample()).unwrap();
        let json = serde_json::to_string(&reply).unwrap();
        assert_eq!(serde_json::from_str::<AllocateReply>(&json).unwrap(), reply);
        let empty: AllocateReply = serde_json::from_str("{}").unwrap();
        assert_eq!(empty, AllocateReply::default());
        assert!(serde_json::from_str::<AllocateReply>(r#"{"teamDetails":["a"]}"#).is_err());
    }

    #[test]
    fn groups_are_found_counted_and_never_given_twice() {
        let allocations = Allocations::new();
        let last = initial().last().unwrap();
        assert_eq!(last.group_id, 879_252);
        let find = |group_id| allocations.find(&FindAllocationRequest { group_id });
        assert_eq!(find(879_252).unwrap().team_details, Some(last));
        for group_id in [0, -1, i32::MIN, i32::MAX, GROUP_FIRST - 1, 879_253] {
            assert_eq!(find(group_id), Err(ApplicationError::NoGroup));
        }
        let first = allocations.allocate(&sample()).unwrap().team_details;
        assert_eq!(find(879_253).unwrap().team_details, first);
        assert_ne!(allocations.allocate(&sample()).unwrap().team_details, first);
        assert_eq!(allocations.count().count, 10_003);
    }
}
