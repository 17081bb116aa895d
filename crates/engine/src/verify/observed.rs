//! What the examination observes of a raw response.

use wirelab_contract::{ApplicationError, Contract, Operation, Reply};
use wirelab_load::RawResponse;
use wirelab_stack::{Binding, Codec};
use wirelab_verify::Response;
use wirelab_wire::codec::MessageFormat;
use wirelab_wire::grpc::{Deframer, Piece};
use wirelab_wire::websocket::SWITCHING_PROTOCOLS;
use wirelab_wire::{ContentType, Encoding, Head, connect, gzip, soap, zstd};

use super::{complete, items};

/// Bytes that a reply may have, uncompressed: the largest of the contracts in
/// the most verbose codec is well below.
const REPLY_BYTES_MAX: usize = 256 << 20;

/// gRPC status INVALID_ARGUMENT (contracts/README.md, application errors).
const INVALID_ARGUMENT: u32 = 3;

/// Reads a reply by the rules of its binding. Anything that is not exactly as
/// the contract says is invalid, with the reason.
pub(crate) fn of(
    binding: Binding,
    format: MessageFormat,
    operation: Operation,
    response: &RawResponse,
) -> Response {
    let observed = match binding {
        Binding::Grpc => grpc(format, operation, response),
        Binding::Connect => connect(format, operation, response),
        _ => whole(binding, format, operation, response),
    };
    observed.unwrap_or_else(Response::Invalid)
}

/// How petclinic refuses over REST (contracts/README.md, petclinic).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    /// Whether it has the field `errors`.
    pub(crate) errors: bool,
    pub(crate) text: String,
}

/// Reads a refusal, whose body must be an error's.
pub(crate) fn refusal(
    format: MessageFormat,
    operation: Operation,
    response: &RawResponse,
) -> Result<Refusal, String> {
    let head = head(response)?;
    let text = format.read_error(operation, &plain(head, &response.body)?);
    Ok(Refusal {
        status: head.status,
        errors: head.errors,
        text: text.map_err(|mismatch| format!("status {}: {mismatch}", head.status))?,
    })
}

fn head(response: &RawResponse) -> Result<&Head, String> {
    if let Some(failure) = &response.failure {
        return Err(failure.to_string());
    }
    response
        .head
        .as_ref()
        .ok_or_else(|| "a reply without a head".into())
}

fn whole(
    binding: Binding,
    format: MessageFormat,
    operation: Operation,
    response: &RawResponse,
) -> Result<Response, String> {
    let head = head(response)?;
    let body = plain(head, &response.body)?;
    // GIOP: the sender chooses the byte order, message by message.
    let format = format.in_order(head.byte_order.unwrap_or(format.order));
    let of_errors = format.of_errors(binding);
    let error = |status: &str| match of_errors.read_error(operation, &body) {
        Ok(text) => Ok(Response::Error(text)),
        Err(mismatch) => Err(format!("{status}: {mismatch}")),
    };
    match (binding, head.status) {
        // Raw has no status: bytes that are not a reply may be a fault.
        (Binding::Raw, _) => match read(format, operation, &body) {
            Ok(reply) => Ok(Response::Reply(reply)),
            Err(reason) => error(&reason),
        },
        (Binding::Rest, status) if operation.contract() == Contract::Petclinic => {
            let route = operation.route().ok_or("an operation without a route")?;
            match status {
                404 if body.is_empty() => {
                    Ok(Response::Error(ApplicationError::NotFound.to_string()))
                }
                // contracts/README.md: 404 without a body for `not found`.
                404 => Err("status 404 with a body".to_owned()),
                400 => {
                    let text = format.read_error(operation, &body);
                    let text = text.map_err(|mismatch| format!("status 400: {mismatch}"))?;
                    // contracts/README.md: the field says that the body is at fault.
                    match head.errors || text != ApplicationError::Invalid.to_string() {
                        true => Ok(Response::Error(text)),
                        false => Err("status 400 without the field errors".to_owned()),
                    }
                }
                _ if status == route.status => read(format, operation, &body).map(Response::Reply),
                _ => Err(format!("status {status}, the route says {}", route.status)),
            }
        }
        (Binding::Rest, 200) if operation == Operation::Feed => {
            items::of_lines(format, &body).map(Response::Items)
        }
        (Binding::Websocket, SWITCHING_PROTOCOLS) if operation != Operation::Push => {
            items::of_messages(format, &response.body, &response.pieces).map(Response::Items)
        }
        (Binding::Websocket, SWITCHING_PROTOCOLS) => {
            read(format, operation, &body).map(Response::Reply)
        }
        (Binding::Sse, 200) => items::of_events(format, &body).map(Response::Items),
        (_, 200) => read(format, operation, &body).map(Response::Reply),
        (_, status) if status == status_of_errors(binding, format) => error("status of an error"),
        (_, status) => Err(format!(
            "status {status}: {}",
            // Enough of a framework's error page to recognize it.
            String::from_utf8_lossy(&body[..body.len().min(200)])
        )),
    }
}

/// The status that application errors have (contracts/README.md).
fn status_of_errors(binding: Binding, format: MessageFormat) -> u16 {
    match (binding, format.envelope()) {
        (Binding::Soap, Some(envelope)) => soap::Fault::client("").status(envelope.version()),
        (Binding::Iiop, _) => 500,
        _ => 400,
    }
}

fn grpc(
    format: MessageFormat,
    operation: Operation,
    response: &RawResponse,
) -> Result<Response, String> {
    let head = head(response)?;
    let end = response.end.as_ref().ok_or("a reply without trailers")?;
    match (head.status, end.grpc_status) {
        (200, Some(0)) => {}
        (200, Some(status)) if is_application_error(status, operation) => {
            let text = end.grpc_message.as_deref().unwrap_or_default();
            return match text.parse::<ApplicationError>() {
                // Text and status are both in the contract, and must agree.
                Ok(error) if error.grpc_status() != status => {
                    Err(format!("grpc-status {status} for {text:?}"))
                }
                _ => Ok(Response::Error(text.to_owned())),
            };
        }
        (status, grpc_status) => {
            let text = end.grpc_message.as_deref().unwrap_or_default();
            return Err(format!(
                "status {status}, grpc-status {grpc_status:?}: {text}"
            ));
        }
    }
    let deframer = Deframer::new(REPLY_BYTES_MAX as u32);
    let messages = messages(deframer, head, &response.body)?;
    if matches!(operation, Operation::Feed | Operation::Chat) {
        let items = messages.iter().map(|message| items::read(format, message));
        return items.collect::<Result<_, _>>().map(Response::Items);
    }
    if operation == Operation::Download {
        let chunks = messages.iter().map(|message| chunk(format, message));
        return chunks.collect::<Result<_, _>>().map(Response::Chunks);
    }
    match messages.as_slice() {
        [message] => read(format, operation, message).map(Response::Reply),
        several => Err(format!("{} messages", several.len())),
    }
}

/// A reply over Connect, whose errors have a code, a status and a text that must agree.
fn connect(
    format: MessageFormat,
    operation: Operation,
    response: &RawResponse,
) -> Result<Response, String> {
    let head = head(response)?;
    let expected = match (format.codec, operation.streaming()) {
        (Codec::Json, false) => ContentType::Body(Codec::Json),
        (Codec::Json, true) => ContentType::ConnectJson,
        (_, false) => ContentType::Proto,
        (_, true) => ContentType::ConnectProto,
    };
    match head.status {
        200 if head.content_type != expected => Err(format!("content-type {}", head.content_type)),
        200 if operation.streaming() => connect_stream(format, operation, response),
        200 => read(format, operation, &plain(head, &response.body)?).map(Response::Reply),
        status if head.content_type != ContentType::Body(Codec::Json) => Err(format!(
            "status {status}, content-type {}",
            head.content_type
        )),
        status => {
            let error = connect::read_error(&plain(head, &response.body)?);
            let error = error.map_err(|error| format!("status {status}: {error}"))?;
            match error.code.status() == status {
                true => connect_error(operation, error),
                false => Err(format!("status {status} for {error}")),
            }
        }
    }
}

/// The messages of a stream, and its end.
fn connect_stream(
    format: MessageFormat,
    operation: Operation,
    response: &RawResponse,
) -> Result<Response, String> {
    let head = head(response)?;
    let deframer = Deframer::of_connect(REPLY_BYTES_MAX as u32);
    let mut messages = messages(deframer, head, &response.body)?;
    let end = messages.pop().ok_or("a stream without an end")?;
    if let Some(error) = connect::read_end(&end).map_err(|error| error.to_string())? {
        return connect_error(operation, error);
    }
    match (operation, messages.as_slice()) {
        (Operation::Push, [message]) => read(format, operation, message).map(Response::Reply),
        (Operation::Push, several) => Err(format!("{} messages", several.len())),
        _ => {
            let items = messages.iter().map(|message| items::read(format, message));
            items.collect::<Result<_, _>>().map(Response::Items)
        }
    }
}

/// An error of the contract, whose code and text are both in it.
fn connect_error(operation: Operation, error: connect::Error) -> Result<Response, String> {
    let status = error.code.grpc_status();
    let known = error.message.parse::<ApplicationError>();
    match known.is_ok_and(|known| known.grpc_status() != status)
        || !is_application_error(status, operation)
    {
        true => Err(format!("error {error}")),
        false => Ok(Response::Error(error.message)),
    }
}

/// Whether a status of gRPC is one of application errors (contracts/README.md).
fn is_application_error(status: u32, operation: Operation) -> bool {
    let not_found = ApplicationError::NotFound.grpc_status();
    status == INVALID_ARGUMENT
        || (status == not_found && operation.contract() == Contract::Petclinic)
}

fn chunk(format: MessageFormat, message: &[u8]) -> Result<Vec<u8>, String> {
    let chunk = format.read::<wirelab_contract::transfer::DownloadChunk>(message);
    chunk
        .map(|chunk| chunk.data)
        .map_err(|error| error.to_string())
}

/// The messages of a body of gRPC (gRPC over HTTP/2, Length-Prefixed-Message), or of a stream of
/// Connect.
fn messages(mut deframer: Deframer, head: &Head, body: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let (mut rest, mut found) = (body, Vec::new());
    let (mut message, mut compressed) = (Vec::new(), false);
    while let Some(piece) = deframer
        .next(&mut rest)
        .map_err(|error| error.to_string())?
    {
        match piece {
            Piece::Start {
                compressed: flag, ..
            } => compressed = flag,
            Piece::Data(data) => message.extend_from_slice(data),
            Piece::End => {
                let whole = std::mem::take(&mut message);
                found.push(if compressed {
                    plain(head, &whole)?
                } else {
                    whole
                });
            }
        }
    }
    // A body that ends within a message.
    deframer.finish().map_err(|error| error.to_string())?;
    Ok(found)
}

fn plain(head: &Head, body: &[u8]) -> Result<Vec<u8>, String> {
    match head.encoding {
        Encoding::Identity => Ok(body.to_vec()),
        Encoding::Gzip => gzip::decompress(body, REPLY_BYTES_MAX).map_err(|e| e.to_string()),
        Encoding::Zstd => zstd::decompress(body, REPLY_BYTES_MAX).map_err(|e| e.to_string()),
        Encoding::Other => Err("an encoding that was not requested".into()),
    }
}

/// The one message of a reply. UploadStream is answered as Upload is.
fn read(format: MessageFormat, operation: Operation, body: &[u8]) -> Result<Reply, String> {
    let operation = match operation {
        Operation::UploadStream => Operation::Upload,
        other => other,
    };
    let reply = format
        .read_any_reply(operation, body)
        .ok_or("a stream has no single message")?;
    let reply = reply.map_err(|error| error.to_string())?;
    // Written again from what was read: what the writer adds was missing.
    let ours = format.write_any_reply(operation, &reply);
    // A reply without a body has no fields to be missing.
    if let Some(ours) = ours.filter(|ours| !ours.is_empty()) {
        complete::check(format, &ours, body)?;
    }
    Ok(reply)
}

#[cfg(test)]
mod tests {
    use wirelab_wire::codec::Codec;

    use super::*;

    #[test]
    fn an_invalid_request_of_petclinic_has_the_field_errors() {
        let observed = |errors: bool, body: &str| {
            let response = RawResponse {
                head: Some(Head {
                    status: 400,
                    errors,
                    ..Head::default()
                }),
                body: body.as_bytes().to_vec(),
                ..RawResponse::default()
            };
            of(
                Binding::Rest,
                MessageFormat::from(Codec::Json),
                Operation::AddVet,
                &response,
            )
        };
        let info = |text: &str| format!(r#"{{"className":"c","exMessage":"{text}"}}"#);
        let invalid = info("invalid request");
        let expected = Response::Error("invalid request".to_owned());
        assert_eq!(observed(true, &invalid), expected);
        for (errors, body) in [(false, &*invalid), (true, r#"{"error":"x"}"#), (true, "")] {
            let found = observed(errors, body);
            assert!(
                matches!(found, Response::Invalid(_)),
                "{errors} {body}: {found:?}"
            );
        }
        // Of a parameter: the examination expects no such text and finds it.
        let parameter = Response::Error("id".to_owned());
        assert_eq!(observed(false, &info("id")), parameter);
    }
}
