//! Calls of `records`, alone and by many callers at once.

use std::collections::HashSet;
use std::thread;

use wirelab_contract::allocations::{self, ALLOCATIONS, GROUP_FIRST};
use wirelab_contract::records::{
    AllocateRequest, CountAllocationsRequest, FindAllocationRequest, Team,
};
use wirelab_contract::texts::SplitMix64;
use wirelab_contract::{Call, Reply};

use crate::difference::excerpt;
use crate::finding::{Exam, Finding, Section};
use crate::subject::{Response, Subject, Subjects};
use crate::walk::Walk;

/// Allocations of the generated sequence.
const GENERATED: usize = 200;

/// Callers at the same time, each on a connection of its own.
const CALLERS: i32 = 200;

/// Teams that each of them stores.
const ALLOCATIONS_PER_CALLER: i32 = 10;

/// Findings of the callers that are kept.
const FINDINGS_MAX: usize = 20;

const NAMES: [&str; 6] = ["Alice", "Zoë", "Li <Wei>", "O'Neil", "Грета", "😀 & Co"];

pub(crate) fn operations(walk: &mut Walk, seed: u64) {
    let _ = walk.step("the teams at the start", &count());
    for n in [0, 1, 17, 99, 100, 5_000, ALLOCATIONS - 1] {
        let _ = walk.step("a team that is there at the start", &find(GROUP_FIRST + n));
    }
    allocate(walk, "the request of the study", allocations::sample());
    let _ = walk.step("one team more", &count());
    let mut random = SplitMix64::new(seed ^ 0x7EA4);
    for _ in 0..GENERATED {
        let request = AllocateRequest {
            name: NAMES[random.next_u64() as usize % NAMES.len()].to_owned(),
            // 31 bits make a positive int32.
            id: (random.next_u64() >> 33).max(1) as i32,
            course_code: format!("CS{}", random.next_u64() % 100_000),
        };
        allocate(walk, "a generated allocation", request);
    }
    let _ = walk.step("the teams after generated allocations", &count());
}

/// Stores a team and reads it back.
fn allocate(walk: &mut Walk, name: &str, request: AllocateRequest) {
    if let Ok(Reply::Allocate(reply)) = walk.step(name, &Call::Allocate(request)) {
        let group = reply.team_details.unwrap_or_default().group_id;
        let _ = walk.step(&format!("{name}, read back"), &find(group));
    }
}

pub(crate) fn errors(walk: &mut Walk) {
    let good = allocations::sample();
    let mut refused = |name: &str, change: &dyn Fn(&mut AllocateRequest)| {
        let mut request = good.clone();
        change(&mut request);
        let _ = walk.step(name, &Call::Allocate(request));
    };
    refused("no name", &|request| request.name.clear());
    refused("no course code", &|request| request.course_code.clear());
    for id in [0, -1, i32::MIN] {
        refused("an id that is not positive", &|request| request.id = id);
    }
    refused("the name comes first", &|request| {
        *request = AllocateRequest::default();
    });
    refused("the id comes before the course code", &|request| {
        request.id = 0;
        request.course_code.clear();
    });
    for group in [0, -1, 1, i32::MIN, i32::MAX, GROUP_FIRST - 1] {
        let _ = walk.step("a team that is not there", &find(group));
    }
    let _ = walk.step("refused allocations store nothing", &count());
}

pub(crate) fn limits(walk: &mut Walk) {
    // Bytes count: 1,024 ASCII characters or 512 of two bytes, and one more of each.
    for (length, letter) in [(1_024, "x"), (1_025, "x"), (512, "é"), (513, "é")] {
        let text = letter.repeat(length);
        let (mut name, mut course) = (allocations::sample(), allocations::sample());
        name.name.clone_from(&text);
        course.course_code = text;
        allocate(walk, &format!("a name of {length} {letter}"), name);
        allocate(walk, &format!("a course code of {length} {letter}"), course);
    }
    for id in [1, 99, 100, i32::MAX] {
        let id = AllocateRequest {
            id,
            ..allocations::sample()
        };
        allocate(walk, "the least and the greatest id", id);
    }
    let _ = walk.step("the teams after the limits", &count());
}

/// Many callers store teams at the same time: no group is given twice, every stored
/// team is found as it was answered, and the count grows by the stored teams.
///
/// # Errors
/// When no connection to the service can be made; the text states why.
pub(crate) fn concurrency(subjects: &dyn Subjects) -> Result<Exam, String> {
    let mut findings = Vec::new();
    let mut subject = subjects.connect()?;
    // The difference counts, since sections before have stored teams.
    let before = count_records(&mut *subject, &mut findings);
    let (stored, found) = store(subjects)?;
    findings.extend(found);
    // After all callers have ended, so that the model of the check is simple: what was
    // answered must be there.
    let mut groups = HashSet::new();
    for team in &stored {
        if team.group_id <= 0 || !groups.insert(team.group_id) {
            findings.push(finding(
                "a new group",
                &format!("group {} again", team.group_id),
            ));
        }
        let expected = Reply::FindAllocation(wirelab_contract::records::FindAllocationReply {
            team_details: Some(team.clone()),
        });
        let response = subject.call(&find(team.group_id));
        if response != Response::Reply(expected.clone()) {
            findings.push(finding(&format!("{expected:?}"), &format!("{response:?}")));
        }
    }
    let after = count_records(&mut *subject, &mut findings);
    if after - before != stored.len() as i64 {
        let expected = format!("{} teams more", stored.len());
        findings.push(finding(&expected, &format!("{} more", after - before)));
    }
    findings.truncate(FINDINGS_MAX);
    Ok(Exam {
        section: Section::Concurrency,
        calls: 2 * stored.len() as u64 + 2,
        findings,
        left_out: Vec::new(),
    })
}

/// The teams that all callers were answered, and what was wrong with the answers.
fn store(subjects: &dyn Subjects) -> Result<(Vec<Team>, Vec<Finding>), String> {
    let callers: Vec<_> = thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS)
            .map(|number| scope.spawn(move || caller(subjects, number)))
            .collect();
        let failed = || Err("the examiner itself failed".to_owned());
        let ended = callers.into_iter().map(|thread| thread.join());
        ended.map(|end| end.unwrap_or_else(|_| failed())).collect()
    });
    let (mut stored, mut findings) = (Vec::new(), Vec::new());
    for caller in callers {
        let (teams, found) = caller?;
        stored.extend(teams);
        findings.extend(found);
    }
    Ok((stored, findings))
}

type Stored = (Vec<Team>, Vec<Finding>);

fn caller(subjects: &dyn Subjects, number: i32) -> Result<Stored, String> {
    let mut subject = subjects.connect()?;
    let (mut stored, mut findings) = (Vec::new(), Vec::new());
    for k in 0..ALLOCATIONS_PER_CALLER {
        let request = AllocateRequest {
            name: format!("caller {number}"),
            // Every call has an id of its own, so that a reply to another caller is seen.
            id: 1 + number * ALLOCATIONS_PER_CALLER + k,
            course_code: "CS31245".to_owned(),
        };
        match subject.call(&Call::Allocate(request.clone())) {
            Response::Reply(Reply::Allocate(reply)) => {
                let team = reply.team_details.unwrap_or_default();
                let expected = expect_team(&request, team.group_id);
                if team != expected {
                    findings.push(finding(&format!("{expected:?}"), &format!("{team:?}")));
                }
                stored.push(team);
            }
            other => findings.push(finding("a stored team", &format!("{other:?}"))),
        }
    }
    Ok((stored, findings))
}

/// The team that `request` must be answered with, under the group of the service's choice.
fn expect_team(request: &AllocateRequest, group_id: i32) -> Team {
    let partner = allocations::partner(request.id);
    Team {
        member1: request.name.clone(),
        member2: partner.name.to_owned(),
        member1id: request.id,
        member2id: partner.id,
        course_code: request.course_code.clone(),
        group_id,
    }
}

fn count_records(subject: &mut dyn Subject, findings: &mut Vec<Finding>) -> i64 {
    match subject.call(&count()) {
        Response::Reply(Reply::CountAllocations(reply)) => reply.count,
        other => {
            // The section goes on: the teams can be checked without a count.
            findings.push(finding("a count", &format!("{other:?}")));
            0
        }
    }
}

fn finding(expected: &str, found: &str) -> Finding {
    Finding {
        name: format!("{CALLERS} callers at the same time"),
        call: "Allocate".to_owned(),
        expected: excerpt(expected),
        found: excerpt(found),
    }
}

fn find(group_id: i32) -> Call {
    Call::FindAllocation(FindAllocationRequest { group_id })
}

fn count() -> Call {
    Call::CountAllocations(CountAllocationsRequest {})
}
