//! Messages by SOAP 1.1 section 5. No library knows the encoding: the lab's own mapping
//! of values to typed elements drives quick-xml's writer.

use quick_xml::Writer;
use quick_xml::escape::partial_escape;
use quick_xml::events::{BytesEnd, BytesStart, BytesText, Event};
use wirelab_contract::Message;
use wirelab_wire_own::infoset::{Shape, Sink, writer};

/// What the envelope declares next to its own namespace.
pub(super) const DECLARATIONS: &str = concat!(
    " SOAP-ENV:encodingStyle=\"http://schemas.xmlsoap.org/soap/encoding/\"",
    " xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\"",
    " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"",
    " xmlns:SOAP-ENC=\"http://schemas.xmlsoap.org/soap/encoding/\"",
);

/// Appends the element `name` with the fields of a message, each with its type.
pub(super) fn write<M: Message>(name: &str, message: &M, out: &mut String) {
    let mut elements = Elements {
        out: Writer::new(Vec::new()),
        begun: None,
    };
    elements.open(name);
    writer::fields(
        message,
        Shape::Encoded,
        M::CONTRACT.namespace(),
        &mut elements,
    );
    elements.close(name);
    let bytes = elements.out.into_inner();
    out.push_str(std::str::from_utf8(&bytes).expect("quick-xml writes what it is given: text"));
}

/// quick-xml's writer as a sink of elements.
struct Elements {
    out: Writer<Vec<u8>>,
    /// A start tag that attributes may still be added to.
    begun: Option<BytesStart<'static>>,
}

impl Elements {
    fn event(&mut self, event: Event<'_>) {
        // A start tag is held back until its first content: xsi:type is added after the name.
        if let Some(tag) = self.begun.take() {
            self.write(Event::Start(tag));
        }
        self.write(event);
    }

    fn write(&mut self, event: Event<'_>) {
        self.out.write_event(event).expect("memory grows");
    }
}

impl Sink for Elements {
    fn open(&mut self, name: &str) {
        // The outer tag is complete as soon as an inner one begins.
        if let Some(tag) = self.begun.replace(BytesStart::new(name.to_owned())) {
            self.write(Event::Start(tag));
        }
    }

    fn attribute(&mut self, name: &str, value: &str) {
        if let Some(tag) = &mut self.begun {
            tag.push_attribute((name, value));
        }
    }

    fn text(&mut self, text: &str) {
        self.event(Event::Text(BytesText::from_escaped(partial_escape(text))));
    }

    fn plain(&mut self, text: &str) {
        self.event(Event::Text(BytesText::from_escaped(text)));
    }

    fn integer(&mut self, value: i64) {
        self.plain(&value.to_string());
    }

    fn boolean(&mut self, value: bool) {
        self.plain(if value { "true" } else { "false" });
    }

    // Rust prints the shortest digits that read back as the same double.
    fn double(&mut self, value: f64) {
        self.plain(&value.to_string());
    }

    fn close(&mut self, name: &str) {
        self.event(Event::End(BytesEnd::new(name)));
    }
}
