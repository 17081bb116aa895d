//! HTTP/2 by hand (RFC 9113), for what a library would hide.

/// The client's preface (section 3.4) with empty SETTINGS.
pub fn preface() -> Vec<u8> {
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend(frame(4, 0, 0, &[]));
    bytes
}

/// One frame (section 4.1).
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len())
        .expect("a small frame")
        .to_be_bytes();
    let mut bytes = length[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// A gRPC call of Hello: HEADERS without Huffman coding or indexing (RFC 7541
/// section 6.2.2), and DATA with an empty message.
pub fn grpc_hello(stream: u32) -> Vec<u8> {
    let path = b"/wirelab.transfer.v1.Transfer/Hello";
    // :method POST and :scheme http from the static table.
    let mut block = vec![0x83, 0x86];
    // The names :path (4), :authority (1), content-type (31) from the table.
    block.extend([0x04, path.len() as u8]);
    block.extend(path);
    block.extend([0x01, 1, b'x']);
    block.extend([0x0f, 31 - 15, 16]);
    block.extend(b"application/grpc");
    block.extend([0x00, 2, b't', b'e', 8]);
    block.extend(b"trailers");
    let mut bytes = frame(1, 0x4, stream, &block);
    bytes.extend(frame(0, 0x1, stream, &[0; 5]));
    bytes
}

/// A frame that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

/// The complete frames in `bytes`.
pub fn frames(mut bytes: &[u8]) -> Vec<Frame> {
    let mut frames = Vec::new();
    while let Some((head, rest)) = bytes.split_at_checked(9) {
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let Some((payload, rest)) = rest.split_at_checked(length) else {
            break;
        };
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        frames.push(Frame {
            kind: head[3],
            flags: head[4],
            stream,
            payload: payload.to_vec(),
        });
        bytes = rest;
    }
    frames
}
