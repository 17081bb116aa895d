//! The body of a reply on its way out, with the faults that are committed on it.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::time::{Sleep, sleep};

use crate::connection::control::{Command, Control};
use crate::service::state::Arrival;

/// What an endless reply adds, and how often.
const DRIP: Bytes = Bytes::from_static(&[b'.'; 1024]);
// 100 KiB/s: enough to keep a reader busy, little for any link of an experiment.
const DRIP_EVERY: Duration = Duration::from_millis(10);

/// A reply's body. The call counts as in flight until it has ended.
pub(crate) struct ReplyBody<B> {
    act: Act<B>,
    /// No length is passed to the library.
    without_length: bool,
    // Held for its Drop alone, which ends the call.
    _arrival: Option<Arrival>,
}

enum Act<B> {
    /// As the handler made it.
    Pass(B),
    /// No body at all.
    Empty,
    /// Without trailers.
    NoTrailers(B),
    /// These bytes, then the connection closes.
    Half {
        first: Option<Bytes>,
        size: SizeHint,
        control: Control,
    },
    /// As the handler made it, but without an end.
    Endless(B),
    /// After the end of an endless reply: more bytes, for ever.
    Drip(Pin<Box<Sleep>>),
    /// Nothing more, for ever.
    Stall,
}

impl<B> ReplyBody<B> {
    fn new(act: Act<B>) -> Self {
        ReplyBody {
            act,
            without_length: false,
            _arrival: None,
        }
    }

    /// The body as it is.
    pub(crate) fn pass(body: B) -> Self {
        ReplyBody::new(Act::Pass(body))
    }

    /// No body.
    pub(crate) fn empty() -> Self {
        ReplyBody::new(Act::Empty)
    }

    /// The body without its trailers.
    pub(crate) fn without_trailers(body: B) -> Self {
        ReplyBody::new(Act::NoTrailers(body))
    }

    /// Announces `size`, gives `first` and has the connection closed.
    pub(crate) fn half(first: Bytes, size: SizeHint, control: Control) -> Self {
        ReplyBody::new(Act::Half {
            first: Some(first),
            size,
            control,
        })
    }

    /// The body, and no end to it.
    pub(crate) fn endless(body: B) -> Self {
        ReplyBody::new(Act::Endless(body))
    }

    /// The call lasts until this body has ended.
    pub(crate) fn until_its_end(mut self, arrival: Arrival) -> Self {
        self._arrival = Some(arrival);
        self
    }

    /// The same body, whose length is not passed to the library.
    pub(crate) fn without_length(mut self) -> Self {
        self.without_length = true;
        self
    }
}

type Polled<E> = Poll<Option<Result<Frame<Bytes>, E>>>;

impl<B: HttpBody<Data = Bytes> + Unpin> HttpBody for ReplyBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled<B::Error> {
        let this = &mut *self;
        match &mut this.act {
            Act::Pass(body) => Pin::new(body).poll_frame(context),
            Act::Empty => Poll::Ready(None),
            Act::NoTrailers(body) => match ready!(Pin::new(body).poll_frame(context)) {
                // Dropped, and the body ends: the stream is complete, only grpc-status is
                // missing.
                Some(Ok(frame)) if frame.is_trailers() => Poll::Ready(None),
                other => Poll::Ready(other),
            },
            Act::Half { first, control, .. } => match first.take() {
                Some(bytes) if !bytes.is_empty() => Poll::Ready(Some(Ok(Frame::data(bytes)))),
                _ => {
                    // The connection closes on its next flush; until then no end of the body may be reported,
                    // or hyper would complete the message.
                    control.send(Command::Close);
                    this.act = Act::Stall;
                    Poll::Pending
                }
            },
            Act::Endless(body) => match ready!(Pin::new(body).poll_frame(context)) {
                Some(Ok(frame)) if frame.is_trailers() => this.stall(),
                // gRPC ends a message by its length and HTTP by the end of the body: the former stalls
                // before its trailers, the latter gets more bytes.
                None => this.drip(context),
                other => Poll::Ready(other),
            },
            Act::Drip(_) => this.drip(context),
            Act::Stall => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.act {
            // An early "true" would let hyper send a length of 0.
            _ if self.without_length => false,
            Act::Pass(body) | Act::NoTrailers(body) => body.is_end_stream(),
            Act::Empty => true,
            _ => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.act {
            _ if self.without_length => SizeHint::default(),
            Act::Pass(body) | Act::NoTrailers(body) => body.size_hint(),
            Act::Empty => SizeHint::with_exact(0),
            // The size of the whole reply: the caller must see that half of it is missing.
            Act::Half { size, .. } => *size,
            _ => SizeHint::default(),
        }
    }
}

impl<B: HttpBody<Data = Bytes> + Unpin> ReplyBody<B> {
    /// A gRPC message is complete before its trailers: they just never come.
    fn stall(&mut self) -> Polled<B::Error> {
        self.act = Act::Stall;
        Poll::Pending
    }

    fn drip(&mut self, context: &mut Context<'_>) -> Polled<B::Error> {
        let Act::Drip(timer) = &mut self.act else {
            self.act = Act::Drip(Box::pin(sleep(DRIP_EVERY)));
            return Poll::Ready(Some(Ok(Frame::data(DRIP))));
        };
        ready!(timer.as_mut().poll(context));
        // The same allocation again: a reply that drips for hours must not allocate for
        // hours.
        timer.set(sleep(DRIP_EVERY));
        Poll::Ready(Some(Ok(Frame::data(DRIP))))
    }
}
