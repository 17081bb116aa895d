//! Which request goes out for a call: the same every time, or one made for it.

use std::sync::Arc;

use wirelab_contract::Call as Typed;
use wirelab_contract::clinic::routes::Route;
use wirelab_wire::Request;
use wirelab_wire::codec::{Expected, MessageFormat};

use crate::call::calls::Call;
use crate::call::reply::{Due, Varied};
use crate::call::waiting::{NO_PART, Numbers, Waiting};
use crate::connection::tokens::{DocumentSource, PreparedDocument, Tokens};
use crate::request::body::BodyWriter;
use crate::request::head::{self, OWN_PATH, head_id};
use crate::request::mix::Chooser;
use crate::request::own_sequence::OwnSequence;
use crate::request::request_generator::RequestGenerator;
use crate::request::rows::RowRequests;
use crate::request::sequences::{Ended, Next, Sequences};

/// What a group sends.
#[derive(Debug, Clone)]
pub(crate) enum Script {
    /// The same request every time.
    Same(Arc<Request>),
    /// Requests that differ from call to call.
    Varying(Box<Varying>),
    /// One request for each row of data.
    Rows(Box<RowRequests>),
    /// Requests in a fixed order to a service that is not of the lab.
    Own(Box<OwnSequence>),
    /// Of several kinds, chosen at random for each arrival.
    Mix(Box<Mix>),
}

/// Several scripts, of which each arrival takes one.
#[derive(Debug, Clone)]
pub(crate) struct Mix {
    parts: Vec<MixPart>,
    chooser: Chooser,
}

/// A script of a mix.
#[derive(Debug, Clone)]
pub(crate) struct MixPart {
    /// No mix itself.
    pub(crate) script: Script,
    /// Number of its first step among those of all parts.
    pub(crate) first: usize,
}

/// How requests that differ from call to call come about.
#[derive(Debug, Clone)]
pub(crate) struct RequestBuilder {
    pub(crate) generator: RequestGenerator,
    pub(crate) format: MessageFormat,
    pub(crate) writer: BodyWriter,
    /// With token-xml.
    pub(crate) documents: Option<DocumentSource>,
    /// By step, the route in REST where requests have paths of their own or no body; empty
    /// where that is so of none.
    pub(crate) routes: Vec<Option<Route>>,
    /// The document of a generator that always makes the same call.
    pub(crate) prepared: Option<PreparedDocument>,
}

/// Requests that differ from call to call.
#[derive(Debug, Clone)]
pub(crate) struct Varying {
    /// Number of its first step among those of the group.
    first: usize,
    builder: RequestBuilder,
    /// By step, counted from its first, everything but the body.
    templates: Vec<Arc<Request>>,
    /// By step, requests that nobody holds any more.
    free: Vec<Vec<Arc<Request>>>,
    body: Vec<u8>,
    /// Requests with a path of their own so far.
    paths: u64,
}

impl Script {
    /// The request of a call that begins, and in the call which step it is.
    #[inline]
    pub(crate) fn request<'a>(
        &'a mut self,
        call: &'a mut Call,
        sequences: &mut Sequences,
        tokens: Option<&mut Tokens>,
    ) -> &'a Arc<Request> {
        match self {
            Script::Same(request) => request,
            Script::Varying(varying) => varying.request(call, sequences, tokens),
            Script::Rows(rows) => rows.request(call),
            Script::Own(own) => own.request(call, sequences),
            Script::Mix(mix) => {
                let part = mix.part_of(&mut call.waiting);
                call.step = part.first;
                part.script.request(call, sequences, tokens)
            }
        }
    }

    /// The caches of a new connection, where there are such.
    pub(crate) fn tokens(&self) -> Option<Box<Tokens>> {
        match self {
            Script::Same(_) | Script::Rows(_) | Script::Own(_) => None,
            Script::Varying(varying) => {
                let documents = varying.builder.documents?;
                Some(Box::new(Tokens::new(documents.cache)))
            }
            // All parts have one stack.
            Script::Mix(mix) => mix.parts.first()?.script.tokens(),
        }
    }

    /// What comes after a call that has ended.
    #[inline]
    pub(crate) fn find_next(&mut self, call: &mut Call, sequences: &mut Sequences) -> Next {
        match self {
            Script::Same(_) | Script::Rows(_) => Next::Arrival,
            Script::Varying(varying) => varying.find_next(call, sequences),
            Script::Own(own) => own.find_next(call, sequences),
            Script::Mix(mix) => mix
                .part_of(&mut call.waiting)
                .script
                .find_next(call, sequences),
        }
    }

    /// A call must be made again: nothing comes of it but its memory and its row.
    pub(crate) fn take_back(&mut self, call: &mut Call) {
        match self {
            Script::Same(_) | Script::Own(_) => {}
            Script::Rows(rows) => rows.take_back(call),
            Script::Varying(varying) => {
                varying.recycle(call);
                let generator = &mut varying.builder.generator;
                generator.take_back(&call.waiting, call.row);
            }
            Script::Mix(mix) => mix.part_of(&mut call.waiting).script.take_back(call),
        }
    }

    /// Takes the numbers of `users` users of a closed load; of an open load,
    /// where every arrival is a new user, `users` is 0.
    pub(crate) fn number(&mut self, users: usize, numbers: Numbers) {
        match self {
            Script::Same(_) => {}
            Script::Varying(varying) => varying.builder.generator.number(users, numbers),
            Script::Rows(rows) => rows.number(numbers),
            Script::Own(own) => own.number(numbers),
            Script::Mix(mix) => {
                mix.chooser.number(users, numbers);
                for part in &mut mix.parts {
                    part.script.number(users, numbers);
                }
            }
        }
    }

    /// The step of a call that will not be sent, and whether it belongs to a sequence that
    /// is recorded.
    #[cold]
    pub(crate) fn unsent(&mut self, waiting: &mut Waiting, sequences: &Sequences) -> (usize, bool) {
        match self {
            Script::Same(_) | Script::Rows(_) => (0, false),
            Script::Own(own) => (own.unsent(waiting, sequences), true),
            Script::Varying(varying) => {
                let step = varying.first + sequences.step(waiting.sequence);
                (step, varying.builder.generator.is_sequence())
            }
            Script::Mix(mix) => {
                let part = mix.part_of(waiting);
                match part.script {
                    Script::Same(_) | Script::Rows(_) => (part.first, false),
                    _ => part.script.unsent(waiting, sequences),
                }
            }
        }
    }
}

impl Mix {
    pub(crate) fn new(parts: Vec<MixPart>, chooser: Chooser) -> Mix {
        Mix { parts, chooser }
    }

    /// The part of an arrival, which is chosen once.
    #[inline]
    fn part_of(&mut self, waiting: &mut Waiting) -> &mut MixPart {
        if waiting.part == NO_PART {
            waiting.part = self.chooser.choose(waiting.user) as u16;
        }
        &mut self.parts[usize::from(waiting.part)]
    }
}

impl RequestBuilder {
    /// Appends the body of a call, or of the prepared one, which is the only one of `step`.
    fn write(
        &self,
        step: usize,
        typed: Option<&Typed>,
        tokens: Option<&mut Tokens>,
        out: &mut Vec<u8>,
    ) {
        let (Some(source), Some(tokens)) = (self.documents, tokens) else {
            let typed = typed.expect("only documents are prepared");
            return self.writer.write(typed, out);
        };
        match (typed, &self.prepared) {
            (Some(typed), _) => source.write(typed, tokens, out),
            (None, Some(prepared)) => prepared.write(step, tokens, out),
            (None, None) => unreachable!("a call is made or prepared"),
        }
        self.writer.compress_in_place(out);
    }
}

impl Varying {
    pub(crate) fn new(
        first: usize,
        builder: RequestBuilder,
        templates: Vec<Arc<Request>>,
    ) -> Varying {
        Varying {
            first,
            builder,
            free: vec![Vec::new(); templates.len()],
            templates,
            body: Vec::new(),
            paths: 0,
        }
    }

    fn request<'a>(
        &mut self,
        call: &'a mut Call,
        sequences: &mut Sequences,
        tokens: Option<&mut Tokens>,
    ) -> &'a Arc<Request> {
        let (step, typed) = self.builder.generator.next(&mut call.waiting, sequences);
        call.step = self.first + step;
        call.row = self.builder.generator.picked_row();
        self.body.clear();
        let route = self.builder.routes.get(step).copied().flatten();
        if route.is_none_or(|route| route.has_body()) {
            self.builder
                .write(call.step, typed.as_ref(), tokens, &mut self.body);
        }
        let mut request = self.with_body(step);
        if let (Some(route), Some(typed)) = (route.filter(Route::varies), &typed) {
            self.set_path(&mut request, &route, typed);
        }
        let expected = typed.map(|typed| {
            let expected = Expected::of(self.builder.format, &typed);
            Due::Own(expected.expect("the workload was checked"))
        });
        let varied = call.reply.varied.get_or_insert_default();
        **varied = Varied {
            expected,
            ..Varied::default()
        };
        varied.request.insert(request)
    }

    /// A request with the body that was written, in memory of one before
    /// where there is any.
    fn with_body(&mut self, step: usize) -> Arc<Request> {
        let spare = self.free[step].pop();
        let mut request = spare.unwrap_or_else(|| Arc::new(Request::clone(&self.templates[step])));
        let own = Arc::get_mut(&mut request).expect("only requests without holders are kept");
        // An `Arc<[u8]>` cannot change its length, so only a body of the same length is
        // overwritten.
        match Arc::get_mut(&mut own.body) {
            Some(body) if body.len() == self.body.len() => body.copy_from_slice(&self.body),
            _ => own.body = Arc::from(self.body.as_slice()),
        }
        own.id = head_id(self.first + step, own.body.len());
        request
    }

    /// Gives a request that nobody else holds the path of its call, and an id that no other
    /// head has.
    fn set_path(&mut self, request: &mut Arc<Request>, route: &Route, typed: &Typed) {
        let own = Arc::get_mut(request).expect("only requests without holders are kept");
        if let Some(path) = head::path(route, typed) {
            own.path = path;
        }
        self.paths += 1;
        own.id = OWN_PATH | head_id(self.first, 0) | self.paths;
    }

    fn recycle(&mut self, call: &mut Call) {
        let varied = call.reply.varied.as_mut();
        let request = varied.and_then(|varied| varied.request.take());
        // A session may still hold the request of a call that was given up.
        if let Some(request) = request.filter(|request| Arc::strong_count(request) == 1) {
            self.free[call.step - self.first].push(request);
        }
    }

    fn find_next(&mut self, call: &mut Call, sequences: &mut Sequences) -> Next {
        self.recycle(call);
        if !self.builder.generator.is_sequence() {
            return Next::Arrival;
        }
        let ended = Ended {
            is_last: call.step + 1 == self.first + self.templates.len(),
            failed: call.failed,
            done: call.done,
        };
        let next = sequences.find_next(&mut call.waiting, ended);
        // Reached only after a good reply: `carried` is never taken from an error.
        if let Next::Another(_) = next
            && let Some(varied) = call.reply.varied.as_mut()
            && let Some(reply) = varied.read.take()
        {
            let state = sequences.of(&mut call.waiting.sequence);
            let step = call.step - self.first;
            self.builder.generator.take(step, state, &reply);
        }
        next
    }
}
