//! What is called.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::data::Data;
use super::expect::Expect;
use super::stream::{FeedItems, Stream};

/// What is called.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Workload {
    /// An operation of a contract, replies validated by its canonical model.
    Contract {
        /// `transfer`, `charging`, `calendar`, `records`, `petclinic` or `stream`.
        contract: String,
        /// Its name in the contract: `Hello`, `Reserve`, `Book`, …
        operation: String,
        /// Size of the operation's large part in bytes: the text of Hello and
        /// HelloBytes, the protobuf encoding of Submit's request, the data of
        /// Upload, UploadStream and Download, the document of Deploy,
        /// each text of Feed, Push and Chat. Of no meaning to the others.
        #[serde(default)]
        bytes: u64,
        /// Size of a chunk in streams, in bytes.
        #[serde(default = "chunk_default")]
        chunk_bytes: u32,
        /// Accounts of the charging service: user k calls for account 1 + k mod accounts.
        #[serde(default = "accounts_default")]
        accounts: u32,
        /// Values that differ from call to call.
        #[serde(default)]
        data: Option<Data>,
        /// The items of Feed, Push and Chat, with texts of `bytes` bytes; absent: 100 items, 10 ms
        /// apart.
        #[serde(default)]
        items: Option<FeedItems>,
    },
    /// A function of `charging`: calls in a fixed order, numbers of replies
    /// carried into later requests. Only the first call of a sequence is an
    /// arrival; each later one is intended at the end of the call before it,
    /// and goes before calls that begin a sequence. A failed call ends its
    /// sequence. A sequence belongs to the window, with all its calls, by the
    /// intended time of its first; `window.calls` counts sequences.
    Sequence {
        /// `charging`.
        contract: String,
        /// `CreditControl`, `DirectDebit`, `Credit`, `ReservationRelease` or `ReservationDebit`.
        function: String,
        /// Accounts of the service: user k calls for account 1 + k mod accounts.
        #[serde(default = "accounts_default")]
        accounts: u32,
    },
    /// Anything over HTTP.
    Http {
        /// How results name its calls; absent: by the path.
        #[serde(default)]
        name: Option<String>,
        /// `GET`, `POST`, …
        method: String,
        /// Path and query.
        path: String,
        /// Further header fields.
        #[serde(default)]
        headers: Vec<(String, String)>,
        /// Body, base64.
        #[serde(default)]
        body_base64: String,
        /// The body is proto3 JSON, and is sent as Protobuf of this type.
        #[serde(default)]
        protobuf: Option<Box<ProtobufType>>,
        /// What makes a reply right; absent: any 2xx is.
        #[serde(default)]
        expect: Option<Box<Expect>>,
        /// Count how good replies differ from each other (`replies` of the result). Where
        /// `expect` is given they are not.
        #[serde(default)]
        count_replies: bool,
        /// The reply is a stream of messages. Then `count_replies` is of no effect.
        #[serde(default)]
        stream: Option<Box<Stream>>,
        /// Values that differ from call to call, in the place of `${column}` in path, header
        /// values and body. A body that is JSON stays JSON: there a string that is nothing but
        /// a placeholder becomes the value with its type.
        #[serde(default)]
        data: Option<Data>,
    },
    /// A gRPC method with a message given as JSON or as prepared bytes. Each call has a deadline
    /// (`grpc-timeout`), the group's `timeout_s`, unless `metadata` has one.
    Grpc {
        /// How results name its calls; absent: by the method.
        #[serde(default)]
        name: Option<String>,
        /// `/package.Service/Method`.
        method: String,
        /// Path of the .proto file that defines it; needed for `message`, also of `expect`.
        #[serde(default)]
        proto: Option<String>,
        /// Instead of `proto`, a `FileDescriptorSet` as protobuf bytes, base64.
        #[serde(default)]
        descriptors_base64: Option<String>,
        /// Instead of `proto`, the server itself describes it (gRPC server reflection), once before
        /// the load and without TLS.
        #[serde(default)]
        reflect: bool,
        /// Import folders for `proto`.
        #[serde(default)]
        include: Vec<String>,
        /// The request as proto3 JSON.
        #[serde(default)]
        message: Option<serde_json::Value>,
        /// The request as protobuf bytes, base64, instead of `message`.
        #[serde(default)]
        body_base64: Option<String>,
        /// gRPC metadata to add.
        #[serde(default)]
        metadata: Vec<(String, String)>,
        /// What makes a reply right; absent: status 0 does.
        #[serde(default)]
        expect: Option<Box<Expect>>,
        /// As of kind `http`.
        #[serde(default)]
        count_replies: bool,
        /// The reply is a stream of messages, of format `grpc`; without it, where the method's
        /// description has one.
        #[serde(default)]
        stream: Option<Box<Stream>>,
        /// As of kind `http`, in `message` and in values of `metadata`.
        #[serde(default)]
        data: Option<Data>,
    },
    /// Calls of one contract in a fixed order, values of replies carried into later requests.
    /// Arrivals, failures and the window are as with kind `sequence`.
    Steps {
        /// The contract.
        contract: String,
        /// The calls in their order, at most 100.
        steps: Vec<SequenceStep>,
        /// Values that differ from sequence to sequence.
        #[serde(default)]
        data: Option<Data>,
    },
    /// Requests to a service that is not of the lab in a fixed order, values of replies carried
    /// into later requests. Arrivals, failures and the window are as with kind `sequence`.
    Requests {
        /// The requests in their order, at most 100.
        steps: Vec<RequestStep>,
        /// Values that differ from sequence to sequence, as of kind `http`.
        #[serde(default)]
        data: Option<Data>,
    },
    /// Several workloads in one group. Each arrival is one of the parts, chosen at random
    /// by weight; a sequence is one arrival with all its calls. The n-th arrival of a user
    /// draws the n-th number of that user's own stream, so that the same seed gives the
    /// same choices whatever the number of threads; in an open load each arrival is a user
    /// of its own. Calls are recorded by operation: parts of one operation together.
    Mix {
        /// The parts, at most 1,000; not a mix again.
        parts: Vec<MixPart>,
        /// Seed of the choices.
        #[serde(default)]
        seed: u64,
    },
}

/// One call of a sequence.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SequenceStep {
    /// Its name in the contract. The request is that of workload `contract`.
    pub operation: String,
    /// Size of the operation's large part in bytes.
    #[serde(default)]
    pub bytes: u64,
    /// Values of earlier replies that go into this request.
    #[serde(default)]
    pub carry: Vec<Carry>,
}

/// One request of a sequence to a service that is not of the lab.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RequestStep {
    /// Of kind `http` or `grpc`, without `data`.
    pub request: Workload,
    /// Values of earlier replies for this request: `from` is a JSONPath (RFC 9535) into the
    /// reply, of gRPC its first message as proto3 JSON, and `to` the name of the placeholder
    /// that the first value found replaces.
    #[serde(default)]
    pub carry: Vec<Carry>,
}

/// A message type of a .proto.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProtobufType {
    /// Path of the .proto file or descriptor set that defines it.
    pub proto: String,
    /// Import folders for `proto`.
    #[serde(default)]
    pub include: Vec<String>,
    /// Its full name: `package.Message`.
    pub name: String,
}

/// A value that goes from a reply into a later request of the same sequence.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Carry {
    /// The step whose reply has the value, counted from 0; absent: the step before.
    #[serde(default)]
    pub step: Option<u32>,
    /// Field of the reply.
    pub from: String,
    /// Field of the request, of the same type.
    pub to: String,
}

/// One part of a mix.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MixPart {
    /// Above 0. Its share of the arrivals is its weight divided by the sum of all weights.
    pub weight: f64,
    /// What is called.
    pub workload: Workload,
}

fn chunk_default() -> u32 {
    65_536
}

/// What a charging service holds by default.
fn accounts_default() -> u32 {
    1_000
}
