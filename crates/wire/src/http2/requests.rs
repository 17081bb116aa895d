//! Requests as field blocks, remembered once they are all indices.

use super::hpack::{Encoder, Huffman, Indexing, TABLE_SIZE_DEFAULT};
use crate::Request;

/// Blocks kept: more than the operations of any contract, which a mix calls in turn.
const CACHED_BLOCKS_MAX: usize = 64;

/// A block that changed nothing when it was made: valid until the version changes.
#[derive(Debug)]
struct CachedBlock {
    request: u64,
    version: u64,
    block: Vec<u8>,
}

/// The encoder of a connection's requests.
#[derive(Debug)]
pub(super) struct RequestEncoder {
    scheme: &'static str,
    encoder: Encoder,
    cached_blocks: Vec<CachedBlock>,
    /// The block used last, which is the likeliest.
    last_used: usize,
    /// The block to replace when there are [`CACHED_BLOCKS_MAX`].
    evict_next: usize,
    scratch: Vec<u8>,
}

impl RequestEncoder {
    pub(super) fn new(https: bool) -> RequestEncoder {
        RequestEncoder {
            scheme: if https { "https" } else { "http" },
            // Never larger than the default: a table that a peer enlarges would cost memory
            // per connection.
            encoder: Encoder::new(TABLE_SIZE_DEFAULT, Huffman::WhenNotLonger),
            cached_blocks: Vec::new(),
            last_used: 0,
            evict_next: 0,
            scratch: Vec::new(),
        }
    }

    /// Takes the peer's `SETTINGS_HEADER_TABLE_SIZE`.
    pub(super) fn limit(&mut self, peer_max: u32) {
        self.encoder.limit(peer_max);
    }

    /// The field block of `request`, to be sent next: blocks must be sent in the
    /// order in which they are asked for.
    #[inline]
    pub(super) fn block(&mut self, request: &Request) -> &[u8] {
        // Most loads repeat one request, so that the last block is tried before all others.
        if !self.is_fresh(self.last_used, request.id) {
            match (0..self.cached_blocks.len()).find(|&at| self.is_fresh(at, request.id)) {
                Some(at) => self.last_used = at,
                None => return self.encode(request),
            }
        }
        &self.cached_blocks[self.last_used].block
    }

    #[inline]
    fn is_fresh(&self, at: usize, request: u64) -> bool {
        let version = self.encoder.table().version();
        self.cached_blocks
            .get(at)
            .is_some_and(|cached| cached.request == request && cached.version == version)
    }

    fn encode(&mut self, request: &Request) -> &[u8] {
        // A block with a size update must be sent once only.
        let one_off = self.encoder.has_pending_resize();
        let version = self.encoder.table().version();
        self.scratch.clear();
        self.encoder.begin_block(&mut self.scratch);
        write_fields(&mut self.encoder, self.scheme, request, &mut self.scratch);
        // Only a block that inserted nothing decodes to the same fields again.
        if !one_off && self.encoder.table().version() == version {
            self.remember(request.id, version);
        }
        &self.scratch
    }

    fn remember(&mut self, request: u64, version: u64) {
        let cached = CachedBlock {
            request,
            version,
            block: self.scratch.clone(),
        };
        // At most one block per request, or an old one could be found first.
        let stale = |old: &CachedBlock| old.request == request || old.version != version;
        self.last_used = match self.cached_blocks.iter().position(stale) {
            Some(at) => at,
            None if self.cached_blocks.len() < CACHED_BLOCKS_MAX => {
                self.cached_blocks.push(cached);
                self.last_used = self.cached_blocks.len() - 1;
                return;
            }
            None => {
                self.evict_next = (self.evict_next + 1) % CACHED_BLOCKS_MAX;
                self.evict_next
            }
        };
        self.cached_blocks[self.last_used] = cached;
    }
}

/// Pseudo-header fields first (RFC 9113 section 8.3), then the request's own.
fn write_fields(encoder: &mut Encoder, scheme: &str, request: &Request, out: &mut Vec<u8>) {
    for (name, value) in [
        // Incremental indexing also for the path: a run sends few different ones, which
        // then take one byte each.
        (":method", request.method.as_str()),
        (":scheme", scheme),
        (":path", &request.path),
        (":authority", &request.authority),
    ] {
        encoder.field(
            name.as_bytes(),
            value.as_bytes(),
            Indexing::Incremental,
            out,
        );
    }
    for (name, value) in &request.fields {
        encoder.field(name.as_bytes(), value.as_bytes(), indexing(name), out);
    }
    if sends_content_length(request) {
        let length = request.body.len().to_string();
        encoder.field(
            b"content-length",
            length.as_bytes(),
            Indexing::Incremental,
            out,
        );
    }
}

/// Secrets stay out of tables (RFC 7541 section 7.1.3).
fn indexing(name: &str) -> Indexing {
    match name {
        "authorization" | "proxy-authorization" | "cookie" => Indexing::Never,
        _ => Indexing::Incremental,
    }
}

/// `content-length` is sent wherever a server may expect content (RFC 9110
/// section 8.6), but not in gRPC, whose clients send none.
fn sends_content_length(request: &Request) -> bool {
    let grpc = request
        .fields
        .iter()
        .any(|(name, value)| name == "content-type" && value.starts_with("application/grpc"));
    // Methods whose semantics anticipate content get the length even when it is 0.
    let expected = matches!(request.method.as_str(), "POST" | "PUT" | "PATCH");
    !grpc && (expected || !request.body.is_empty())
}
