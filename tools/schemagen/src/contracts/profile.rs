//! A contract in the lab profile: what every derived schema can say.

/// One `.proto` of `contracts/`, read and found to be within the profile.
#[derive(Debug)]
pub(crate) struct Contract {
    /// `transfer`: the package is `wirelab.transfer.v1`.
    pub(crate) name: String,
    /// `v1`.
    pub(crate) version: String,
    pub(crate) doc: String,
    pub(crate) service: String,
    pub(crate) service_doc: String,
    /// Streams are left out: they exist in gRPC alone.
    pub(crate) operations: Vec<Operation>,
    /// The messages that the operations reach, in the order of the file.
    pub(crate) messages: Vec<Message>,
    /// The enums that the messages reach, in the order of the file.
    pub(crate) enums: Vec<Enumeration>,
}

/// A call with one request and one reply.
#[derive(Debug)]
pub(crate) struct Operation {
    /// As in the `.proto`: `DirectDebit`.
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) request: String,
    pub(crate) reply: String,
}

#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) name: String,
    pub(crate) doc: String,
    /// In the order of their numbers.
    pub(crate) fields: Vec<Field>,
}

#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) kind: Kind,
    pub(crate) label: Label,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Int32,
    Int64,
    Double,
    Text,
    Bytes,
    Enum(String),
    Message(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Label {
    Plain,
    Optional,
    Repeated,
}

#[derive(Debug)]
pub(crate) struct Enumeration {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) values: Vec<String>,
}

impl Contract {
    /// `urn:wirelab:transfer:v1`, of XML and SOAP.
    pub(crate) fn namespace(&self) -> String {
        format!("urn:wirelab:{}:{}", self.name, self.version)
    }

    /// The message of that name, which reading has proven to be there.
    pub(crate) fn message(&self, name: &str) -> &Message {
        let found = self.messages.iter().find(|message| message.name == name);
        found.expect("reading keeps every message that an operation or a field names")
    }

    /// The same contract as engine and services know it; None for any other .proto.
    pub(crate) fn known(&self) -> Option<wirelab_contract::Contract> {
        self.name.parse().ok()
    }

    /// The words of the generated files' first lines.
    pub(crate) fn provenance(&self) -> String {
        format!(
            "Made from {}.proto by `make generate`; do not edit.",
            self.name
        )
    }

    /// Messages, each after those that its fields hold.
    pub(crate) fn innermost_first(&self) -> Vec<&Message> {
        let mut ordered = Vec::new();
        for message in &self.messages {
            self.append(message, &mut ordered);
        }
        ordered
    }

    fn append<'a>(&'a self, message: &'a Message, ordered: &mut Vec<&'a Message>) {
        if ordered.iter().any(|known| known.name == message.name) {
            return;
        }
        for inner in message.fields.iter().filter_map(Field::message) {
            self.append(self.message(inner), ordered);
        }
        ordered.push(message);
    }
}

impl Operation {
    /// `directDebit`: its name where formats want a lower-case first letter.
    pub(crate) fn lower(&self) -> String {
        let (first, rest) = self.name.split_at(1);
        format!("{}{rest}", first.to_lowercase())
    }

    /// `direct-debit`: its name in paths.
    pub(crate) fn hyphened(&self) -> String {
        let mut path = String::new();
        for (at, letter) in self.name.char_indices() {
            if letter.is_ascii_uppercase() && at > 0 {
                path.push('-');
            }
            path.push(letter.to_ascii_lowercase());
        }
        path
    }
}

impl Field {
    /// The message that the field holds, if any.
    pub(crate) fn message(&self) -> Option<&str> {
        match &self.kind {
            Kind::Message(name) => Some(name),
            _ => None,
        }
    }
}

impl Kind {
    /// The name of the type where a name is made from it: `RecordList`.
    pub(crate) fn word(&self) -> &str {
        match self {
            Kind::Bool => "Boolean",
            Kind::Int32 => "Int",
            Kind::Int64 => "Long",
            Kind::Double => "Double",
            Kind::Text => "String",
            Kind::Bytes => "Base64Binary",
            Kind::Enum(name) | Kind::Message(name) => name,
        }
    }
}
