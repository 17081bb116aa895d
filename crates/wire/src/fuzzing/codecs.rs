//! Messages, references and compressed bodies.

use wirelab_contract::Message;
use wirelab_contract::calendar::EntriesReply;
use wirelab_contract::charging::ReserveReply;
use wirelab_contract::transfer::{HelloBytesReply, SubmitReply, SubmitRequest, UploadRequest};

use crate::cdr::ByteOrder;
use crate::codec::{Codec, Mapping, MessageFormat};
use crate::giop::{Ior, SystemException, UserException};
use crate::grpc::{Deframer, Piece};
use crate::http2::hpack::Decoder;
use crate::{connect, gzip, zstd};

/// Content that a compressed body may have here, in bytes.
const CONTENT_BYTES_MAX: usize = 1 << 20;

/// A message that was read stays the same when written and read again.
fn check_round_trip<M: Message>(format: MessageFormat, data: &[u8]) {
    // Unreadable input must only not panic.
    if let Ok(message) = format.read::<M>(data) {
        let written = format.write(&message);
        let again = format
            .read::<M>(&written)
            .map_err(|error| error.to_string());
        assert_eq!(again, Ok(message));
    }
}

fn messages(format: MessageFormat, data: &[u8]) {
    check_round_trip::<SubmitRequest>(format, data);
    check_round_trip::<SubmitReply>(format, data);
    check_round_trip::<UploadRequest>(format, data);
    check_round_trip::<HelloBytesReply>(format, data);
    check_round_trip::<ReserveReply>(format, data);
    // Doubles are not compared: NaN differs from itself.
    drop(format.read::<EntriesReply>(data));
}

/// Protocol Buffers.
pub fn fuzz_protobuf(data: &[u8]) {
    messages(Codec::Protobuf.into(), data);
}

/// JSON.
pub fn fuzz_json(data: &[u8]) {
    messages(Codec::Json.into(), data);
    // Must only not panic: it takes more than the writer writes.
    let by_protobuf = MessageFormat::from(Codec::Json).in_mapping(Mapping::Connect);
    let _ = by_protobuf.read::<SubmitReply>(data);
    let _ = by_protobuf.read::<EntriesReply>(data);
}

/// Avro.
pub fn fuzz_avro(data: &[u8]) {
    messages(Codec::Avro.into(), data);
}

/// CDR in both byte orders, and the exceptions of GIOP.
pub fn fuzz_cdr(data: &[u8]) {
    for order in [ByteOrder::Big, ByteOrder::Little] {
        messages(MessageFormat::from(Codec::Cdr).in_order(order), data);
        if let Ok(exception) = UserException::parse(order, data) {
            let mut out = Vec::new();
            exception
                .write(order, &mut out)
                .expect("texts that were read");
            assert_eq!(UserException::parse(order, &out), Ok(exception));
        }
        if let Ok(exception) = SystemException::parse(order, data) {
            let mut out = Vec::new();
            exception
                .write(order, &mut out)
                .expect("texts that were read");
            assert_eq!(SystemException::parse(order, &out), Ok(exception));
        }
    }
}

/// Object references: one that was read is the same when written again.
pub fn fuzz_ior(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(ior) = Ior::parse(text) {
        let _ = ior.iiop().map(|iiop| iiop.native_code_sets());
        let written = ior.to_text().expect("texts that were read");
        assert_eq!(Ior::parse(&written), Ok(ior));
    }
}

/// HPACK: two sections on one connection.
pub fn fuzz_hpack(data: &[u8]) {
    let mut decoder = Decoder::new(4096, 16 << 10);
    // The second block meets the table that the first has filled.
    let (first, second) = data.split_at(data.len() / 2);
    for block in [first, second] {
        let mut bytes = 0;
        let decoded = decoder.decode(block, |name, value| bytes += name.len() + value.len());
        assert!(bytes <= 16 << 10);
        // RFC 7541 section 4.4: insertions evict, so the table never exceeds its size.
        assert!(decoder.table().size() <= 4096);
        if decoded.is_err() {
            return;
        }
    }
}

/// Messages in a gRPC body, found alike in one piece and in small ones.
pub fn fuzz_grpc(data: &[u8]) {
    let whole = grpc_messages(data, data.len().max(1));
    // Three bytes cut every prefix of five.
    assert_eq!(grpc_messages(data, 3), whole);
}

/// A stream of Connect, found alike in one piece and in small ones; what ends one is read.
pub fn fuzz_connect(data: &[u8]) {
    let messages = |step| lengths_of(Deframer::of_connect(1 << 20), data, step);
    assert_eq!(messages(3), messages(data.len().max(1)));
    if let Ok(error) = connect::read_error(data) {
        let written = serde_json::json!({"code": error.code.name(), "message": error.message});
        assert_eq!(
            connect::read_error(written.to_string().as_bytes()),
            Ok(error)
        );
    }
    if let Ok(Some(error)) = connect::read_end(data) {
        let written = serde_json::json!({"error": {"code": error.code.name(),
                                                   "message": error.message}});
        assert_eq!(
            connect::read_end(written.to_string().as_bytes()),
            Ok(Some(error))
        );
    }
}

/// The lengths of the messages of gRPC that end before the first fault.
fn grpc_messages(data: &[u8], step: usize) -> Vec<usize> {
    lengths_of(Deframer::new(1 << 20), data, step)
}

fn lengths_of(mut deframer: Deframer, data: &[u8], step: usize) -> Vec<usize> {
    let (mut ended, mut length) = (Vec::new(), 0);
    for mut piece in data.chunks(step) {
        loop {
            match deframer.next(&mut piece) {
                Err(_) => return ended,
                Ok(None) => break,
                Ok(Some(Piece::Start { .. })) => length = 0,
                Ok(Some(Piece::Data(bytes))) => length += bytes.len(),
                Ok(Some(Piece::End)) => ended.push(length),
            }
        }
    }
    ended
}

/// gzip: no more than the limit comes out.
pub fn fuzz_gzip(data: &[u8]) {
    if let Ok(content) = gzip::decompress(data, CONTENT_BYTES_MAX) {
        assert!(content.len() <= CONTENT_BYTES_MAX);
    }
}

/// zstd: no more than the limit comes out.
pub fn fuzz_zstd(data: &[u8]) {
    if let Ok(content) = zstd::decompress(data, CONTENT_BYTES_MAX) {
        assert!(content.len() <= CONTENT_BYTES_MAX);
    }
}
