//! What the contract says about the reply to one call.

use wirelab_contract::model::Chunks;
use wirelab_contract::transfer::{SubmitReply, UploadReply};
use wirelab_contract::{ApplicationError, Call, Operation, Reply, texts};

use super::views::{ErrorView, HelloView, SubmitView, UploadView};
use super::{Codec, Mismatch, Unsupported, compare, json, protobuf};

/// What the contract says about the reply to one call; made once, then used
/// to judge every reply.
#[derive(Debug, Clone)]
pub struct Expected {
    codec: Codec,
    answer: Answer,
}

#[derive(Debug, Clone)]
enum Answer {
    Hello(String),
    HelloBytes(Vec<u8>),
    Submit(SubmitReply),
    Upload(UploadReply),
    Download { data: Vec<u8>, chunk_bytes: usize },
    Error(ApplicationError),
}

impl Expected {
    /// What the canonical model says to `call`.
    ///
    /// # Errors
    /// When the operation has no form in this codec.
    pub fn of(codec: Codec, call: &Call) -> Result<Self, Unsupported> {
        Expected::answered(codec, call.operation(), call.answer())
    }

    /// A given answer to `operation`.
    ///
    /// # Errors
    /// When the operation has no form in this codec.
    pub fn answered(
        codec: Codec,
        operation: Operation,
        answer: Result<Reply, ApplicationError>,
    ) -> Result<Self, Unsupported> {
        codec.require(operation)?;
        let answer = match answer {
            Ok(Reply::Hello(reply)) => Answer::Hello(reply.text),
            Ok(Reply::HelloBytes(reply)) => Answer::HelloBytes(reply.text),
            Ok(Reply::Submit(reply)) => Answer::Submit(reply),
            Ok(Reply::Upload(reply)) => Answer::Upload(reply),
            Ok(Reply::Download(chunks)) => Answer::of_download(&chunks),
            Err(error) => Answer::Error(error),
        };
        Ok(Expected { codec, answer })
    }

    /// The application error that the contract demands. In gRPC it comes as
    /// status 3 with its text as the message and no message body; in REST as
    /// status 400 with a body that [`Expected::check`] judges.
    #[must_use]
    pub fn application_error(&self) -> Option<ApplicationError> {
        match self.answer {
            Answer::Error(error) => Some(error),
            _ => None,
        }
    }

    /// The body that a right reply has to the letter, where the codec leaves
    /// no choice (text). A body can then be judged as it arrives; that it is
    /// UTF-8 follows from its being equal.
    #[must_use]
    pub fn verbatim(&self) -> Option<&[u8]> {
        match (self.codec, &self.answer) {
            (Codec::Text, Answer::Hello(text)) => Some(text.as_bytes()),
            _ => None,
        }
    }

    /// Messages that a complete reply has.
    #[must_use]
    pub fn messages(&self) -> usize {
        match &self.answer {
            Answer::Download { data, chunk_bytes } => data.len().div_ceil(*chunk_bytes),
            Answer::Error(_) if self.codec == Codec::Protobuf => 0,
            _ => 1,
        }
    }

    /// Decodes the only message of a reply in full and compares it.
    ///
    /// # Errors
    /// When it is no message of this codec, or says something else.
    pub fn check(&self, body: &[u8]) -> Result<(), Mismatch> {
        self.check_message(0, body)
    }

    /// Decodes message `index` of a reply, from 0, in full and compares it.
    /// That the last message was the last is for the caller to see, by
    /// [`Expected::messages`].
    ///
    /// # Errors
    /// When it is no message of this codec, or says something else.
    pub fn check_message(&self, index: usize, body: &[u8]) -> Result<(), Mismatch> {
        let messages = self.messages();
        if index >= messages {
            return Err(Mismatch::Surplus { index, messages });
        }
        match self.codec {
            Codec::Text => self.check_text(body),
            Codec::Json => self.check_json(body),
            Codec::Protobuf => self.check_protobuf(index, body),
        }
    }

    fn check_text(&self, body: &[u8]) -> Result<(), Mismatch> {
        let found = std::str::from_utf8(body)
            .map_err(|error| Mismatch::malformed(Codec::Text, error.valid_up_to(), "not UTF-8"))?;
        match &self.answer {
            Answer::Hello(text) => compare::text("text", text, found),
            Answer::Error(error) => compare::text("error", &error.to_string(), found),
            _ => unreachable!("refused when the expectation was made"),
        }
    }

    fn check_json(&self, body: &[u8]) -> Result<(), Mismatch> {
        match &self.answer {
            Answer::Hello(text) => {
                compare::text("text", text, &json::parse::<HelloView>(body)?.text)
            }
            Answer::HelloBytes(bytes) => {
                compare::base64("text", bytes, &json::parse::<HelloView>(body)?.text)
            }
            Answer::Submit(reply) => compare::submit(reply, &json::parse::<SubmitView>(body)?),
            Answer::Upload(reply) => compare::upload(reply, &json::parse::<UploadView>(body)?),
            Answer::Error(error) => {
                let found = json::parse::<ErrorView>(body)?;
                compare::text("error", &error.to_string(), &found.error)
            }
            Answer::Download { .. } => unreachable!("refused when the expectation was made"),
        }
    }

    fn check_protobuf(&self, index: usize, body: &[u8]) -> Result<(), Mismatch> {
        match &self.answer {
            Answer::Hello(text) => compare::text("text", text, &protobuf::hello(body)?.text),
            Answer::HelloBytes(bytes) => compare::bytes("text", bytes, protobuf::bytes(body)?),
            Answer::Submit(reply) => compare::submit(reply, &protobuf::submit(body)?),
            Answer::Upload(reply) => compare::upload(reply, &protobuf::upload(body)?),
            Answer::Download { data, chunk_bytes } => {
                let rest = &data[index * chunk_bytes..];
                let chunk = &rest[..rest.len().min(*chunk_bytes)];
                compare::bytes("data", chunk, protobuf::bytes(body)?)
            }
            Answer::Error(_) => unreachable!("a gRPC error has no message"),
        }
    }
}

impl Answer {
    fn of_download(chunks: &Chunks) -> Self {
        Answer::Download {
            data: texts::pattern(chunks.length() as usize),
            chunk_bytes: chunks.chunk_bytes() as usize,
        }
    }
}
