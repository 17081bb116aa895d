//! What each call of a script is made from.

use wirelab_contract::workload::{self, Carried, Function};
use wirelab_contract::{Call as Typed, Operation, Reply};

use crate::call::waiting::{Numbers, Waiting};
use crate::request::sequences::{Sequence, Sequences};
use crate::request::steps::Steps;

/// What each call is made from.
#[derive(Debug, Clone)]
pub(crate) enum RequestGenerator {
    /// The same call every time, prepared: only its bytes differ.
    Same(Operation),
    /// The calls of a function of charging, for the user's account.
    Function {
        function: Function,
        accounts: u32,
        /// False: its first call alone, again and again.
        whole: bool,
    },
    /// Bookings of a calendar, for the user as their owner.
    Book {
        /// Bookings so far, by user of a closed load.
        made: Vec<u32>,
        numbers: Numbers,
    },
    /// Calls with values of rows and of earlier replies.
    Steps(Box<Steps>),
}

impl RequestGenerator {
    /// Bookings, before it is known by whom.
    pub(crate) fn book() -> RequestGenerator {
        RequestGenerator::Book {
            made: Vec::new(),
            numbers: Numbers { first: 0, step: 1 },
        }
    }

    /// Takes the numbers of `users` users of a closed load; of an open load,
    /// where every arrival is a new user, `users` is 0.
    pub(crate) fn number(&mut self, users: usize, own: Numbers) {
        match self {
            RequestGenerator::Book { made, numbers } => {
                *made = vec![0; users];
                *numbers = own;
            }
            RequestGenerator::Steps(steps) => steps.number(own),
            RequestGenerator::Same(_) | RequestGenerator::Function { .. } => {}
        }
    }

    /// The row of the call that was made last, where its calls have values of rows.
    #[inline]
    pub(crate) fn picked_row(&self) -> usize {
        match self {
            RequestGenerator::Steps(steps) => steps.picked,
            _ => 0,
        }
    }

    /// A call is made again: with its row, or under its number.
    #[cold]
    pub(crate) fn take_back(&mut self, waiting: &Waiting, row: usize) {
        match self {
            RequestGenerator::Steps(steps) => steps.take_back(row),
            RequestGenerator::Book { made, numbers } => {
                let place = waiting.user.wrapping_sub(numbers.first) / numbers.step;
                if let Some(made) = made.get_mut(place as usize) {
                    *made -= 1;
                }
            }
            RequestGenerator::Same(_) | RequestGenerator::Function { .. } => {}
        }
    }

    /// Whether its calls make up sequences that are recorded.
    pub(crate) fn is_sequence(&self) -> bool {
        match self {
            RequestGenerator::Function { whole, .. } => *whole,
            RequestGenerator::Steps(steps) => steps.is_sequence,
            RequestGenerator::Same(_) | RequestGenerator::Book { .. } => false,
        }
    }

    /// Notes what later requests of a sequence need of the reply to a step.
    pub(crate) fn take(&self, step: usize, state: &mut Sequence, reply: &Reply) {
        match self {
            RequestGenerator::Steps(steps) => steps.take(step, state, reply),
            _ => state.carried.take(reply),
        }
    }

    /// The operations that are called, in their order.
    pub(crate) fn operations(&self) -> Vec<Operation> {
        match self {
            RequestGenerator::Same(operation) => vec![*operation],
            RequestGenerator::Function {
                function, whole, ..
            } => {
                let steps = function.steps();
                steps[..if *whole { steps.len() } else { 1 }].to_vec()
            }
            RequestGenerator::Book { .. } => vec![Operation::Book],
            RequestGenerator::Steps(steps) => steps.operations(),
        }
    }

    /// A call of a step, where one is known beforehand.
    pub(crate) fn call(&self, step: usize) -> Option<&Typed> {
        match self {
            RequestGenerator::Steps(steps) => steps.calls().get(step),
            _ => None,
        }
    }

    /// The step of the script that comes next, and its call unless that is prepared.
    pub(crate) fn next(
        &mut self,
        waiting: &mut Waiting,
        sequences: &mut Sequences,
    ) -> (usize, Option<Typed>) {
        match self {
            RequestGenerator::Same(_) => (0, None),
            RequestGenerator::Function {
                function,
                accounts,
                whole,
            } => {
                let (step, carried) = match whole {
                    true => {
                        let state = sequences.of(&mut waiting.sequence);
                        (state.step, state.carried)
                    }
                    false => (0, Carried::default()),
                };
                // The service numbers its accounts from 1.
                let account = 1 + waiting.user % *accounts;
                (step, function.next(step, account as i32, &carried))
            }
            RequestGenerator::Book { made, numbers } => {
                // From a user's number in the whole load back to its place in this thread. An
                // open load has no places: each of its users books once.
                let place = waiting.user.wrapping_sub(numbers.first) / numbers.step;
                let n = made.get_mut(place as usize).map_or(0, |made| {
                    *made += 1;
                    *made - 1
                });
                let request = workload::book(u64::from(waiting.user), u64::from(n));
                (0, Some(Typed::Book(request)))
            }
            RequestGenerator::Steps(steps) => {
                let (step, call) = steps.next(waiting, sequences);
                (step, Some(call))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(generator: &mut RequestGenerator, user: u32) -> Typed {
        let mut waiting = Waiting::arrival(user, 0);
        let (_, call) = generator.next(&mut waiting, &mut Sequences::default());
        call.expect("made")
    }

    #[test]
    fn each_user_of_a_closed_load_books_slot_after_slot() {
        let mut generator = RequestGenerator::book();
        generator.number(2, Numbers { first: 1, step: 3 });
        for (user, n) in [(1, 0), (4, 0), (4, 1), (1, 1)] {
            let expected = Typed::Book(workload::book(u64::from(user), n));
            assert_eq!(next(&mut generator, user), expected);
        }
    }

    #[test]
    fn each_arrival_of_an_open_load_is_a_user_of_its_own() {
        let mut generator = RequestGenerator::book();
        generator.number(0, Numbers { first: 0, step: 1 });
        for user in [0, 1, 2] {
            let expected = Typed::Book(workload::book(u64::from(user), 0));
            assert_eq!(next(&mut generator, user), expected);
        }
    }

    #[test]
    fn users_share_the_accounts() {
        let mut generator = RequestGenerator::Function {
            function: Function::CreditControl,
            accounts: 2,
            whole: false,
        };
        for (user, id) in [(0, 1), (1, 2), (2, 1), (7, 2)] {
            let Typed::CreditControl(request) = next(&mut generator, user) else {
                panic!("CreditControl");
            };
            assert_eq!(request.id, id);
        }
    }
}
