//! The reader of usual documents beside the one that reads every other.

use proptest::prelude::*;
use wirelab_contract::{Message, Operation, State, Store, Unary, UnaryVisitor, workload};

use super::usual::layout;
use super::writing::{write_reply, write_request};
use super::{Envelope, Form, Style, Version};
use crate::xml;

/// What carries a message.
#[derive(Debug, Clone, Copy)]
enum Carrier {
    /// XML by itself.
    Bare,
    Envelope(Form),
}

fn carriers() -> Vec<Carrier> {
    let styles = [Style::Literal, Style::Rpc, Style::Encoded];
    let forms = Version::ALL
        .into_iter()
        .flat_map(|version| styles.map(|style| Form::new(version, style)));
    let envelopes = forms.flatten().map(Carrier::Envelope);
    envelopes.chain([Carrier::Bare]).collect()
}

#[derive(Debug, Clone, Copy)]
enum Way {
    Request,
    Reply,
}

/// A message on its way, with what carries it.
struct Carried {
    carrier: Carrier,
    operation: Operation,
    way: Way,
}

impl Carried {
    fn written<M: Message>(&self, message: &M) -> Vec<u8> {
        let (mut out, operation) = (Vec::new(), self.operation);
        match (self.carrier, self.way) {
            (Carrier::Bare, _) => xml::write(message, &mut out),
            (Carrier::Envelope(form), Way::Request) => {
                write_request(form, operation, message, None, &mut out);
            }
            (Carrier::Envelope(form), Way::Reply) => {
                write_reply(form, operation, message, &mut out)
            }
        }
        out
    }

    fn child(&self, form: Form, name: &'static str) -> [&'static str; 2] {
        match self.way {
            Way::Request => form.request_child(self.operation, name),
            Way::Reply => form.reply_child(self.operation, name),
        }
    }

    fn usual<M: Message>(&self, document: &[u8]) -> Option<M> {
        match self.carrier {
            Carrier::Bare => xml::usual::document(document, M::CONTRACT.namespace(), M::NAME),
            Carrier::Envelope(form) => {
                layout(form, self.operation, self.child(form, M::NAME)).read(document)
            }
        }
    }

    fn any<M: Message>(&self, document: &[u8]) -> Option<M> {
        match self.carrier {
            Carrier::Bare => xml::of_any_layout(document, M::CONTRACT.namespace(), M::NAME).ok(),
            Carrier::Envelope(form) => {
                let child = self.child(form, M::NAME);
                let envelope = Envelope::parse(document).ok()?;
                envelope.message(form, self.operation, child).ok()
            }
        }
    }

    /// What is written is usual; and what is usual after a change is read as the
    /// other reader reads it.
    fn prove<M: Message>(&self, message: &M, changes: &[Change]) {
        let mut document = self.written(message);
        let what = format!("{:?} {:?} {:?}", self.carrier, self.operation, self.way);
        assert_eq!(self.usual(&document).as_ref(), Some(message), "{what}");
        assert_eq!(self.any(&document).as_ref(), Some(message), "{what}");
        for change in changes {
            change.make(&mut document);
        }
        if let Some(found) = self.usual::<M>(&document) {
            let text = String::from_utf8_lossy(&document);
            assert_eq!(self.any(&document), Some(found), "{what}: {text}");
        }
    }
}

/// What a document is made unusual with.
const PIECES: &[&str] = &[
    " ",
    "\n",
    "\r",
    "\t",
    "<!---->",
    "<?x?>",
    "&lt;",
    "&#65;",
    "&#13;",
    "&",
    "<",
    ">",
    "]]>",
    "/>",
    "</",
    "<x/>",
    " xsi:nil=\"true\"",
    " id=\"a\"",
    " href=\"#a\"",
    " xsi:type=\"xsd:int\"",
    " xmlns=\"\"",
    " xmlns:ns=\"urn:x\"",
    "\"",
    "0",
    "-",
    "1",
    "9223372036854775808",
    "é",
    "\u{1}",
    "\u{FFFE}",
    "true",
    "1e5",
    "item",
    "<item>",
    "</item>",
    "<![CDATA[x]]>",
];

/// A change of a document.
#[derive(Debug, Clone)]
enum Change {
    Remove { at: usize, bytes: usize },
    Insert { at: usize, piece: usize },
    Repeat { at: usize, bytes: usize, to: usize },
}

impl Change {
    fn make(&self, document: &mut Vec<u8>) {
        let length = document.len();
        let span = |at: usize, bytes: usize| {
            let at = at % length;
            at..(at + bytes).min(length)
        };
        match *self {
            Change::Remove { at, bytes } => drop(document.drain(span(at, bytes))),
            Change::Insert { at, piece } => {
                let (at, piece) = (at % length, PIECES[piece]);
                document.splice(at..at, piece.bytes());
            }
            Change::Repeat { at, bytes, to } => {
                let (piece, to) = (document[span(at, bytes)].to_vec(), to % length);
                document.splice(to..to, piece);
            }
        }
        if document.is_empty() {
            document.push(b' ');
        }
    }
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let at = 0..4000_usize;
    let change = prop_oneof![
        (at.clone(), 1..40_usize).prop_map(|(at, bytes)| Change::Remove { at, bytes }),
        (at.clone(), 0..PIECES.len()).prop_map(|(at, piece)| Change::Insert { at, piece }),
        (at.clone(), 1..60_usize, at).prop_map(|(at, bytes, to)| Change::Repeat { at, bytes, to }),
    ];
    prop::collection::vec(change, 1..4)
}

/// Both messages of an operation, with values and without.
struct Both<'a> {
    carrier: Carrier,
    changes: &'a [Change],
}

impl UnaryVisitor for Both<'_> {
    type Output = ();

    fn visit<O: Unary>(self) {
        let carried = |way| Carried {
            carrier: self.carrier,
            operation: O::OPERATION,
            way,
        };
        let requests = carried(Way::Request);
        requests.prove(&O::Request::default(), self.changes);
        carried(Way::Reply).prove(&O::Reply::default(), self.changes);
        let bytes = match O::OPERATION {
            Operation::Submit => 900,
            Operation::Upload => 100,
            _ => 0,
        };
        if let Ok(call) = workload::call(O::OPERATION, bytes, 1, 3) {
            let written = crate::codec::Codec::Cdr.encode(&call).expect("CDR has all");
            let request = crate::codec::Codec::Cdr.read::<O::Request>(&written[0]);
            let request = request.expect("what was written is read");
            requests.prove(&request, self.changes);
            if let Ok(reply) = O::answer(&State::new(&Store::default()), request) {
                carried(Way::Reply).prove(&reply, self.changes);
            }
        }
    }
}

proptest! {
    #[test]
    fn what_is_usual_is_read_as_the_other_reader_does(
        carrier in 0..carriers().len(),
        changes in changes(),
    ) {
        for operation in Operation::ALL {
            operation.visit_unary(Both { carrier: carriers()[carrier], changes: &changes });
        }
    }
}
