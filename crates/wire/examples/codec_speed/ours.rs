//! Our codecs.

use std::hint::black_box;

use wirelab_contract::{Call, Message, MessageVisitor, Operation, Unary, UnaryVisitor};
use wirelab_wire::codec::{Codec, MessageFormat};
use wirelab_wire::token_xml::{Decoder, Encoder, TokenCache};

use crate::rounds::RoundTrip;

/// Every message by itself. For token-xml that is the first of a connection:
/// both caches begin with the standard names only.
pub fn single(codec: Codec, call: &Call) -> RoundTrip {
    let made = call.operation().visit_unary(Single { codec, call });
    made.expect("no call here is a stream")
}

struct Single<'a> {
    codec: Codec,
    call: &'a Call,
}

impl UnaryVisitor for Single<'_> {
    type Output = RoundTrip;

    fn visit<O: Unary>(self) -> RoundTrip {
        let (form, call) = (MessageFormat::from(self.codec), self.call.clone());
        let mut out = Vec::new();
        Box::new(move || {
            // The buffer is kept, as a connection keeps it: its growth is not part of the
            // cost.
            out.clear();
            let appended = form.append_request(black_box(&call), None, &mut out);
            appended.expect("the codec has a form for the operation");
            let read = form.read_request::<O>(black_box(&out));
            black_box(read.expect("what was written is read"));
            out.len()
        })
    }
}

/// Token-xml on a connection that is kept: its caches hold what went before.
pub fn on_a_connection(call: &Call) -> RoundTrip {
    let kept = call.visit(Kept(call.operation()));
    kept.expect("no call here is a stream")
}

struct Kept(Operation);

impl MessageVisitor for Kept {
    type Output = RoundTrip;

    fn visit<M: Message>(self, message: &M) -> RoundTrip {
        let Kept(operation) = self;
        let message = message.clone();
        let (mut encoder, mut decoder) = (
            Encoder::new(TokenCache::NamesAndTexts),
            Decoder::new(TokenCache::NamesAndTexts),
        );
        let mut out = Vec::new();
        Box::new(move || {
            out.clear();
            encoder.encode_request(operation, black_box(&message), &mut out);
            let read = decoder.read_request::<M>(black_box(&out), operation);
            black_box(read.expect("what was written is read"));
            out.len()
        })
    }
}
