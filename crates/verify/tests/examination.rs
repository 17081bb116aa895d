//! The examination examined: the model itself passes, wrong ones do not.

use std::sync::Arc;

use wirelab_contract::lists::ITEMS_MAX;
use wirelab_contract::stream::Item;
use wirelab_contract::streams::Schedule;
use wirelab_contract::{ApplicationError, Call, Contract, Reply, State, Store};
use wirelab_verify::{Exam, Extent, Response, Section, Subject, Subjects, examine};

const EXTENT: Extent = Extent {
    seed: 1,
    deep: false,
    validation: true,
};

/// What a wrong service makes of a right answer.
// A plain function: every mutant is one change of one answer, so that a missed one names
// its cause.
type Wrong = fn(&Call, Result<Reply, ApplicationError>) -> Result<Reply, ApplicationError>;

/// The model as a service, its answers passed through `wrong`.
struct Service {
    state: Arc<State>,
    wrong: Wrong,
}

impl Service {
    fn new(wrong: Wrong) -> Self {
        Service {
            state: Arc::new(State::new(&Store::default())),
            wrong,
        }
    }
}

struct Connection {
    state: Arc<State>,
    wrong: Wrong,
}

impl Subjects for Service {
    fn connect(&self) -> Result<Box<dyn Subject + Send>, String> {
        Ok(Box::new(Connection {
            state: Arc::clone(&self.state),
            wrong: self.wrong,
        }))
    }
}

impl Subject for Connection {
    fn call(&mut self, call: &Call) -> Response {
        match (self.wrong)(call, self.state.answer(call)) {
            Ok(Reply::Download(chunks)) => {
                Response::Chunks(chunks.map(|chunk| chunk.data).collect())
            }
            Ok(Reply::Feed(schedule)) => Response::Items(send(schedule)),
            Ok(Reply::Chat(items)) => Response::Items(answer(items)),
            Ok(reply) => Response::Reply(reply),
            Err(error) => Response::Error(error.to_string()),
        }
    }
}

/// When the model as a service received each request, nanoseconds.
const RECEIVED_NS: i64 = 1_000_000;

/// The items of a feed, each sent when it is due.
fn send(schedule: Schedule) -> Vec<Item> {
    let texts = schedule.clone();
    let items = schedule.map(|due| Item {
        index: due.index,
        due_ns: due.due_ns as i64,
        sent_ns: RECEIVED_NS + due.due_ns as i64,
        received_ns: if due.index == 0 { RECEIVED_NS } else { 0 },
        text: texts.text(due.index),
    });
    items.collect()
}

/// The items of a chat, each sent when it was received.
fn answer(items: Vec<Item>) -> Vec<Item> {
    let items = items.into_iter().map(|item| Item {
        sent_ns: RECEIVED_NS,
        received_ns: RECEIVED_NS,
        ..item
    });
    items.collect()
}

fn exams(contract: Contract, wrong: Wrong) -> Vec<Exam> {
    let service = Service::new(wrong);
    examine(contract, &Store::default(), &service, EXTENT).unwrap()
}

fn sections_that_failed(contract: Contract, wrong: Wrong) -> Vec<Section> {
    let failed = exams(contract, wrong)
        .into_iter()
        .filter(|exam| !exam.findings.is_empty());
    failed.map(|exam| exam.section).collect()
}

#[test]
fn the_model_passes_its_own_examination() {
    for contract in Contract::ALL {
        for exam in exams(contract, |_, answer| answer) {
            assert_eq!(exam.findings, [], "{contract:?} {:?}", exam.section);
            // A section that calls nothing would pass too.
            assert!(exam.calls > 0, "{contract:?} {:?}", exam.section);
        }
    }
}

#[test]
fn a_number_given_twice_is_found() {
    let failed = sections_that_failed(Contract::Charging, |_, answer| {
        answer.map(|reply| match reply {
            Reply::Credit(mut reply) => {
                reply.cn = 7;
                Reply::Credit(reply)
            }
            other => other,
        })
    });
    assert!(failed.contains(&Section::Operations));
}

#[test]
fn a_unit_lost_on_the_way_is_found() {
    let failed = sections_that_failed(Contract::Charging, |call, answer| {
        answer.map(|reply| match (call, reply) {
            // Account 12 is called by the section of money only, so that none of the others
            // may fail.
            (Call::CreditControl(request), Reply::CreditControl(mut reply)) if request.id == 12 => {
                reply.balance -= 1;
                Reply::CreditControl(reply)
            }
            (_, other) => other,
        })
    });
    assert_eq!(failed, [Section::Money]);
}

#[test]
fn a_team_that_is_lost_is_found() {
    let failed = sections_that_failed(Contract::Records, |call, answer| match call {
        // Numbers begin at 879,253: only the teams of the concurrent callers come this far.
        Call::FindAllocation(request) if request.group_id > 880_000 => {
            Err(ApplicationError::NoGroup)
        }
        _ => answer,
    });
    assert_eq!(failed, [Section::Concurrency]);
}

#[test]
fn a_cascade_that_stops_halfway_is_found() {
    let failed = sections_that_failed(Contract::Petclinic, |call, answer| match (call, answer) {
        (Call::ListVisits(_), Ok(Reply::Visits(mut reply))) => {
            reply.visits.retain(|visit| visit.pet_id != 7);
            Ok(Reply::Visits(reply))
        }
        (_, answer) => answer,
    });
    assert!(failed.contains(&Section::Operations), "{failed:?}");
}

#[test]
fn a_limit_that_is_off_by_one_is_found() {
    let failed = sections_that_failed(Contract::Petclinic, |call, answer| match call {
        Call::AddPet(request) if request.name.len() == 30 => Err(ApplicationError::Invalid),
        _ => answer,
    });
    assert_eq!(failed, [Section::Limits]);
}

#[test]
fn an_item_out_of_order_is_found() {
    let failed = sections_that_failed(Contract::Stream, |_, answer| {
        answer.map(|reply| match reply {
            Reply::Chat(mut items) => {
                items.reverse();
                Reply::Chat(items)
            }
            other => other,
        })
    });
    assert_eq!(failed, [Section::Operations]);
}

#[test]
fn a_limit_of_texts_that_is_off_by_one_is_found() {
    let failed = sections_that_failed(Contract::Stream, |call, answer| match call {
        Call::Feed(request) if request.bytes == 65_536 => Err(ApplicationError::FeedBytes),
        _ => answer,
    });
    assert_eq!(failed, [Section::Errors, Section::Limits]);
}

#[test]
fn a_group_given_twice_is_found() {
    let failed = sections_that_failed(Contract::Records, |_, answer| {
        answer.map(|reply| match reply {
            Reply::Allocate(mut reply) => {
                if let Some(team) = &mut reply.team_details {
                    // Every even number becomes the odd one after it, which is then given
                    // twice.
                    team.group_id |= 1;
                }
                Reply::Allocate(reply)
            }
            other => other,
        })
    });
    assert!(failed.contains(&Section::Operations), "{failed:?}");
    assert!(failed.contains(&Section::Concurrency), "{failed:?}");
}

#[test]
fn an_error_that_is_swallowed_is_found() {
    let failed = sections_that_failed(Contract::Charging, |call, answer| match (call, answer) {
        (Call::ConfirmAction(request), Err(_)) => Ok(Reply::ConfirmAction(
            wirelab_contract::charging::ConfirmActionReply { cn: request.cn },
        )),
        (_, answer) => answer,
    });
    assert!(failed.contains(&Section::Errors));
}

#[test]
fn another_order_of_errors_is_found() {
    let failed = sections_that_failed(Contract::Calendar, |call, answer| match (call, &answer) {
        (Call::Book(request), Err(_)) if request.day == 0 => Err(ApplicationError::Day),
        _ => answer,
    });
    assert_eq!(failed, [Section::Errors]);
}

#[test]
fn a_letter_of_a_text_is_found() {
    let failed = sections_that_failed(Contract::Calendar, |_, answer| {
        answer.map(|reply| match reply {
            Reply::Book(mut reply) => {
                // What a reader does that takes every U+FEFF for a byte order mark.
                reply.title = reply.title.replace('\u{feff}', "");
                Reply::Book(reply)
            }
            other => other,
        })
    });
    assert_eq!(failed, [Section::Operations]);
}

#[test]
fn a_list_that_was_read_beyond_its_bound_is_found() {
    let failed = sections_that_failed(Contract::Transfer, |call, answer| match call {
        Call::Submit(request) if request.records.len() > ITEMS_MAX => {
            Err(ApplicationError::TooManyRecords)
        }
        _ => answer,
    });
    assert_eq!(failed, [Section::Limits]);
}

#[test]
fn a_service_that_cannot_be_reached_is_an_error() {
    struct Unreachable;
    impl Subjects for Unreachable {
        fn connect(&self) -> Result<Box<dyn Subject + Send>, String> {
            Err("connection refused".into())
        }
    }
    let store = Store::default();
    let exams = examine(Contract::Transfer, &store, &Unreachable, EXTENT);
    assert_eq!(exams.unwrap_err(), "connection refused");
}

#[test]
fn limits_that_a_service_does_not_check_are_left_out_with_a_reason() {
    let service = Service::new(|_, answer| answer);
    let extent = Extent {
        validation: false,
        ..EXTENT
    };
    let exams = examine(Contract::Petclinic, &Store::default(), &service, extent).unwrap();
    let limits = &exams[2];
    assert_eq!((limits.section, limits.calls), (Section::Limits, 0));
    for exam in &exams[1..] {
        let reason = "with validation=off the service does not check limits of fields";
        assert!(exam.left_out[0].ends_with(reason), "{:?}", exam.left_out);
    }
    assert_eq!(exams[0].left_out, [""; 0]);
}
