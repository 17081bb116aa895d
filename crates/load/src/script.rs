//! Which request goes out for a call: the same every time, or one made for it.

use std::sync::Arc;

use wirelab_contract::workload::{self, Function};
use wirelab_contract::{Call as Typed, Operation};
use wirelab_wire::Request;
use wirelab_wire::codec::{Expected, Form};

use crate::body::BodyWriter;
use crate::calls::Call;
use crate::reply::Varied;
use crate::sequences::{Next, Sequences};
use crate::users::{Numbers, Waiting};

/// What a group sends.
#[derive(Debug, Clone)]
pub(crate) enum Script {
    /// The same request every time.
    Same(Arc<Request>),
    /// Requests that differ from call to call.
    Varying(Box<Varying>),
}

/// What each call is made from.
#[derive(Debug, Clone)]
pub(crate) enum Maker {
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
        /// Number of the first user, and what lies between two.
        first: u32,
        step: u32,
    },
}

impl Maker {
    /// Bookings, before it is known by whom.
    pub(crate) fn book() -> Maker {
        Maker::Book {
            made: Vec::new(),
            first: 0,
            step: 1,
        }
    }

    /// The operations that are called, in their order.
    pub(crate) fn operations(&self) -> &'static [Operation] {
        match self {
            Maker::Function {
                function,
                whole: true,
                ..
            } => function.steps(),
            Maker::Function { function, .. } => &function.steps()[..1],
            Maker::Book { .. } => &[Operation::Book],
        }
    }

    /// The call that comes next, and which step of the script it is.
    fn next(&mut self, waiting: &mut Waiting, sequences: &mut Sequences) -> (usize, Typed) {
        match self {
            Maker::Function {
                function,
                accounts,
                whole,
            } => {
                let sequence = match whole {
                    true => *sequences.of(&mut waiting.sequence),
                    false => Default::default(),
                };
                let account = 1 + waiting.user % *accounts;
                let typed = function.next(sequence.step, account as i32, &sequence.carried);
                (
                    sequence.step,
                    typed.expect("a sequence ends with its last step"),
                )
            }
            Maker::Book { made, first, step } => {
                let place = waiting.user.wrapping_sub(*first) / *step;
                let n = made.get_mut(place as usize).map_or(0, |made| {
                    *made += 1;
                    *made - 1
                });
                let request = workload::book(u64::from(waiting.user), u64::from(n));
                (0, Typed::Book(request))
            }
        }
    }
}

/// Requests that differ from call to call.
#[derive(Debug, Clone)]
pub(crate) struct Varying {
    pub(crate) maker: Maker,
    pub(crate) form: Form,
    pub(crate) writer: BodyWriter,
    /// By step, everything but the body.
    pub(crate) templates: Vec<Arc<Request>>,
    /// By step, requests that nobody holds any more.
    free: Vec<Vec<Arc<Request>>>,
    body: Vec<u8>,
}

impl Script {
    /// The request of a call that begins, and in the call which step it is.
    #[inline]
    pub(crate) fn request<'a>(
        &'a mut self,
        call: &'a mut Call,
        sequences: &mut Sequences,
    ) -> &'a Arc<Request> {
        match self {
            Script::Same(request) => request,
            Script::Varying(varying) => varying.request(call, sequences),
        }
    }

    /// What comes after a call that has ended.
    #[inline]
    pub(crate) fn after(&mut self, call: &mut Call, sequences: &mut Sequences) -> Next {
        match self {
            Script::Same(_) => Next::Arrival,
            Script::Varying(varying) => varying.after(call, sequences),
        }
    }

    /// A call must be made again: nothing comes of it but its memory.
    pub(crate) fn take_back(&mut self, call: &mut Call) {
        if let Script::Varying(varying) = self {
            varying.recycle(call);
        }
    }

    /// Takes the numbers of `users` users of a closed load; of an open load,
    /// where every arrival is a new user, `users` is 0.
    pub(crate) fn number(&mut self, users: usize, numbers: Numbers) {
        if let Script::Varying(varying) = self
            && let Maker::Book { made, first, step } = &mut varying.maker
        {
            *made = vec![0; users];
            (*first, *step) = (numbers.first, numbers.step);
        }
    }

    /// Whether its calls make up sequences that are recorded.
    pub(crate) fn is_sequence(&self) -> bool {
        match self {
            Script::Same(_) => false,
            Script::Varying(varying) => varying.whole(),
        }
    }
}

impl Varying {
    pub(crate) fn new(
        maker: Maker,
        form: Form,
        writer: BodyWriter,
        templates: Vec<Arc<Request>>,
    ) -> Varying {
        Varying {
            maker,
            form,
            writer,
            free: vec![Vec::new(); templates.len()],
            templates,
            body: Vec::new(),
        }
    }

    fn whole(&self) -> bool {
        matches!(self.maker, Maker::Function { whole: true, .. })
    }

    fn request<'a>(&mut self, call: &'a mut Call, sequences: &mut Sequences) -> &'a Arc<Request> {
        let (step, typed) = self.maker.next(&mut call.waiting, sequences);
        call.step = step;
        let request = self.write(step, &typed);
        let expected = Expected::of(self.form, &typed).expect("the workload was checked");
        let varied = call.reply.varied.get_or_insert_default();
        **varied = Varied {
            request: None,
            expected: Some(expected),
            read: None,
        };
        varied.request.insert(request)
    }

    /// A request with the body of `typed`, in memory of one before where there is any.
    fn write(&mut self, step: usize, typed: &Typed) -> Arc<Request> {
        self.body.clear();
        self.writer.write(typed, &mut self.body);
        let spare = self.free[step].pop();
        let mut request = spare.unwrap_or_else(|| Arc::new(Request::clone(&self.templates[step])));
        let own = Arc::get_mut(&mut request).expect("only requests without holders are kept");
        match Arc::get_mut(&mut own.body) {
            Some(body) if body.len() == self.body.len() => body.copy_from_slice(&self.body),
            _ => own.body = Arc::from(self.body.as_slice()),
        }
        own.id = head_id(step, own.body.len());
        request
    }

    fn recycle(&mut self, call: &mut Call) {
        let varied = call.reply.varied.as_mut();
        let request = varied.and_then(|varied| varied.request.take());
        // A session may still hold the request of a call that was given up.
        if let Some(request) = request.filter(|request| Arc::strong_count(request) == 1) {
            self.free[call.step].push(request);
        }
    }

    fn after(&mut self, call: &mut Call, sequences: &mut Sequences) -> Next {
        self.recycle(call);
        if !self.whole() {
            return Next::Arrival;
        }
        let Waiting {
            arrival, sequence, ..
        } = call.waiting;
        if call.failed || call.step + 1 == self.templates.len() {
            sequences.end(sequence);
            return Next::Over {
                arrival,
                failed: call.failed,
            };
        }
        let state = sequences.of(&mut call.waiting.sequence);
        state.step += 1;
        let varied = call.reply.varied.as_mut();
        if let Some(reply) = varied.and_then(|varied| varied.read.take()) {
            state.carried.take(&reply);
        }
        Next::Another(Waiting {
            intended: call.done,
            hops: 0,
            ..call.waiting
        })
    }
}

/// Sessions remember heads by the request's id: equal heads, equal ids. Heads
/// differ by step, and by the body's length where they tell it.
fn head_id(step: usize, length: usize) -> u32 {
    const LENGTHS: u32 = 1 << 26;
    step as u32 * LENGTHS | (length as u32 & (LENGTHS - 1))
}
