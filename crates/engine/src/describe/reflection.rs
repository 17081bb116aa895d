//! The descriptors of a running server (gRPC Server Reflection Protocol, grpc.io).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use prost_reflect::DescriptorPool;
use prost_reflect::prost::Message as _;
use prost_reflect::prost_types::FileDescriptorProto;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, IntoStreamingRequest, Status};
use tonic_prost::ProstCodec;
// Both versions are the same on the wire, but for the name of the service.
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest as Question;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse as Reply;
use tonic_reflection::pb::v1::{
    FileDescriptorResponse, ServerReflectionRequest, ServerReflectionResponse,
};
use wirelab_load::result::{Fault, FaultKind};

use crate::proto::refused;

/// In the order in which they are tried.
const PATHS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];
const CONNECT_S_MAX: u64 = 5;
/// For one answer.
const REPLY_S_MAX: u64 = 10;
const REPLY_BYTES_MAX: usize = 64 << 20;
const FILES_MAX: usize = 10_000;

const OFF: &str = "start it with reflection, or name what describes it: wirelab import grpc \
                   FILE.proto";

/// Every file that the server's services need.
///
/// # Errors
/// When the server cannot be reached, has no reflection, or answers something else.
pub(crate) fn fetch(address: &str) -> Result<DescriptorPool, Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Fault {
            kind: FaultKind::Internal,
            message: error.to_string(),
            remedy: String::new(),
        })?;
    runtime.block_on(fetch_pool(address))
}

async fn fetch_pool(address: &str) -> Result<DescriptorPool, Fault> {
    let mut server = Server::connect(address).await?;
    let names = server.services().await?;
    let mut files = BTreeMap::new();
    if names.len() > FILES_MAX {
        return Err(too_many(address, "services"));
    }
    for name in names {
        let found = server.files(Question::FileContainingSymbol(name)).await?;
        add(&mut files, found, address)?;
    }
    while let Some(name) = find_missing(&files) {
        let found = server.files(Question::FileByFilename(name.clone())).await?;
        let has_it = found.iter().any(|(file, _)| *file == name);
        add(&mut files, found, address)?;
        if !has_it {
            return Err(refused(
                format!(
                    "{address} does not give {}, which it imports",
                    name.escape_debug()
                ),
                OFF,
            ));
        }
    }
    let mut pool = DescriptorPool::new();
    pool.add_file_descriptor_protos(files.into_values())
        .map_err(|error| refused(format!("{address}: {error}"), OFF))?;
    Ok(pool)
}

/// # Errors
/// When there are too many of them.
fn add(
    files: &mut BTreeMap<String, FileDescriptorProto>,
    found: Vec<(String, FileDescriptorProto)>,
    address: &str,
) -> Result<(), Fault> {
    files.extend(found);
    match files.len() > FILES_MAX {
        true => Err(too_many(address, "files of Protobuf")),
        false => Ok(()),
    }
}

fn too_many(address: &str, what: &str) -> Fault {
    refused(format!("{address} has more than {FILES_MAX} {what}"), OFF)
}

/// The first import that is not among the files.
fn find_missing(files: &BTreeMap<String, FileDescriptorProto>) -> Option<String> {
    let imports: BTreeSet<&String> = files.values().flat_map(|file| &file.dependency).collect();
    imports
        .into_iter()
        .find(|name| !files.contains_key(*name))
        .cloned()
}

struct Server {
    address: String,
    grpc: Grpc<Channel>,
    path: &'static str,
}

impl Server {
    async fn connect(address: &str) -> Result<Self, Fault> {
        let unreachable = |error: tonic::transport::Error| {
            let cause = std::error::Error::source(&error).map_or_else(String::new, |cause| {
                format!(": {}", cause.source().unwrap_or(cause))
            });
            refused(
                format!("{address} cannot be reached{cause}"),
                "is it running? write HOST:PORT of a gRPC server without TLS",
            )
        };
        let endpoint = Endpoint::from_shared(format!("http://{address}"))
            .map_err(unreachable)?
            .connect_timeout(Duration::from_secs(CONNECT_S_MAX));
        let channel = endpoint.connect().await.map_err(unreachable)?;
        Ok(Self {
            address: address.to_owned(),
            grpc: Grpc::new(channel).max_decoding_message_size(REPLY_BYTES_MAX),
            path: PATHS[0],
        })
    }

    /// Full names; settles the version of the protocol.
    async fn services(&mut self) -> Result<Vec<String>, Fault> {
        let mut reply = self.ask(Question::ListServices(String::new())).await;
        if matches!(&reply, Err(status) if status.code() == Code::Unimplemented) {
            self.path = PATHS[1];
            reply = self.ask(Question::ListServices(String::new())).await;
        }
        match reply {
            Ok(Reply::ListServicesResponse(list)) => {
                Ok(list.service.into_iter().map(|one| one.name).collect())
            }
            Err(status) if status.code() == Code::Unimplemented => Err(refused(
                format!(
                    "{} has no reflection, neither grpc.reflection.v1 nor v1alpha",
                    self.address
                ),
                OFF,
            )),
            other => Err(self.unexpected("its services", other)),
        }
    }

    /// Files with their names.
    async fn files(
        &mut self,
        question: Question,
    ) -> Result<Vec<(String, FileDescriptorProto)>, Fault> {
        let shown = format!("{question:?}");
        match self.ask(question).await {
            Ok(Reply::FileDescriptorResponse(FileDescriptorResponse {
                file_descriptor_proto,
            })) => file_descriptor_proto
                .iter()
                .map(|bytes| {
                    let file = FileDescriptorProto::decode(bytes.as_slice())
                        .map_err(|error| refused(format!("{}: {error}", self.address), OFF))?;
                    Ok((file.name().to_owned(), file))
                })
                .collect(),
            other => Err(self.unexpected(&shown, other)),
        }
    }

    fn unexpected(&self, question: &str, reply: Result<Reply, Status>) -> Fault {
        let response = match reply {
            Ok(Reply::ErrorResponse(error)) => error.error_message.escape_debug().to_string(),
            Ok(_) => "another reply".to_owned(),
            Err(status) => {
                format!("{:?} ({})", status.code(), status.message().escape_debug())
            }
        };
        refused(
            format!(
                "{} was asked for {question} by reflection and answered: {response}",
                self.address
            ),
            OFF,
        )
    }

    /// One question, with a limit for its whole answer.
    async fn ask(&mut self, question: Question) -> Result<Reply, Status> {
        // The limit of the endpoint ends with the head of the answer.
        let limit = Duration::from_secs(REPLY_S_MAX);
        tokio::time::timeout(limit, self.exchange(question))
            .await
            .unwrap_or_else(|_| {
                Err(Status::deadline_exceeded(format!(
                    "no answer within {REPLY_S_MAX} s"
                )))
            })
    }

    /// One question on a stream of its own, which every server closes after its answer.
    async fn exchange(&mut self, question: Question) -> Result<Reply, Status> {
        self.grpc
            .ready()
            .await
            .map_err(|error| Status::unavailable(error.to_string()))?;
        let request = ServerReflectionRequest {
            host: String::new(),
            message_request: Some(question),
        };
        let codec: ProstCodec<ServerReflectionRequest, ServerReflectionResponse> =
            ProstCodec::default();
        let stream = tokio_stream::once(request).into_streaming_request();
        let path = PathAndQuery::from_static(self.path);
        let reply = self.grpc.streaming(stream, path, codec).await?;
        let message = reply.into_inner().message().await?;
        message
            .and_then(|message| message.message_response)
            .ok_or_else(|| Status::data_loss("the stream ended without an answer"))
    }
}
