//! `corbaloc:iiop:1.2@host:port/key` (CORBA 3.3 part 2, section 7.6.10.1).

const SCHEME: &str = "corbaloc:";

/// The port where none is given.
// Registered with IANA as `corbaloc`; an IOR, in contrast, always names its port.
const PORT_DEFAULT: u16 = 2809;

/// Addresses that one text may name.
const ADDRESSES_MAX: usize = 64;

/// Bytes that one text may become: every address takes the key with it, and what was
/// read can be written as `IOR:` and read again.
const BYTES_MAX: usize = 63 << 10;

/// What a profile has in addition to host and key, at most: lengths, tags, padding.
const PROFILE_BYTES: usize = 64;

/// A `corbaloc:` that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CorbalocError {
    /// No `/key`.
    #[error("corbaloc without a key; write corbaloc:iiop:1.2@host:port/key")]
    NoKey,
    /// Not `iiop:` with an optional version and a host.
    #[error("corbaloc address {0:?}; write iiop:1.2@host:port")]
    Address(String),
    /// A percent sign without two hexadecimal digits.
    #[error("key {0:?}: a percent sign is followed by two hexadecimal digits")]
    Escape(String),
    /// More than anybody needs.
    #[error("more than {ADDRESSES_MAX} addresses")]
    Addresses,
    /// Its addresses with a key each.
    #[error("corbaloc of more than {BYTES_MAX} bytes with the key of each address")]
    Long,
}

/// What a `corbaloc:` names: one object at some addresses.
pub(super) struct Corbaloc {
    pub(super) addresses: Vec<Address>,
    pub(super) object_key: Vec<u8>,
}

pub(super) struct Address {
    /// Highest version that the server supports, major and minor.
    pub(super) version: (u8, u8),
    pub(super) host: String,
    pub(super) port: u16,
}

pub(super) fn has_scheme(text: &str) -> bool {
    // URI schemes are compared without regard to case (RFC 3986 section 3.1).
    text.get(..SCHEME.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(SCHEME))
}

/// Reads what [`has_scheme`].
pub(super) fn parse(text: &str) -> Result<Corbaloc, CorbalocError> {
    let rest = &text[SCHEME.len()..];
    let (names, key) = rest.split_once('/').ok_or(CorbalocError::NoKey)?;
    let object_key = unescape(key).ok_or_else(|| CorbalocError::Escape(key.to_owned()))?;
    if object_key.is_empty() {
        return Err(CorbalocError::NoKey);
    }
    // Checked before the key is copied for each address.
    let keys = names.split(',').count() * (object_key.len() + PROFILE_BYTES);
    if names.len() + keys > BYTES_MAX {
        return Err(CorbalocError::Long);
    }
    let mut addresses = Vec::new();
    for name in names.split(',') {
        if addresses.len() == ADDRESSES_MAX {
            return Err(CorbalocError::Addresses);
        }
        let address = address(name).ok_or_else(|| CorbalocError::Address(name.to_owned()))?;
        addresses.push(address);
    }
    Ok(Corbaloc {
        addresses,
        object_key,
    })
}

fn address(text: &str) -> Option<Address> {
    // Section 7.6.10.3: `:` alone abbreviates `iiop:`.
    let rest = text.strip_prefix("iiop:").or(text.strip_prefix(':'))?;
    let (version, rest) = match rest.split_once('@') {
        Some((version, rest)) => (numbers(version)?, rest),
        // The version defaults to 1.0 (section 7.6.10.3).
        None => ((1, 0), rest),
    };
    let (host, port) = host_and_port(rest)?;
    Some(Address {
        version,
        host: host.to_owned(),
        port,
    })
}

fn numbers(version: &str) -> Option<(u8, u8)> {
    let (major, minor) = version.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// An IPv6 address is in brackets.
fn host_and_port(text: &str) -> Option<(&str, u16)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    let port = match port.strip_prefix(':') {
        Some(port) => port.parse().ok()?,
        None if port.is_empty() => PORT_DEFAULT,
        None => return None,
    };
    (!host.is_empty() && !host.contains('\0')).then_some((host, port))
}

fn unescape(key: &str) -> Option<Vec<u8>> {
    let mut bytes = key.bytes();
    let mut unescaped = Vec::with_capacity(key.len());
    while let Some(byte) = bytes.next() {
        unescaped.push(if byte == b'%' {
            // RFC 2396 section 2.4.1, to which section 7.6.10.1 refers. A key is
            // octets, not text: escapes need not form UTF-8.
            let mut digit = || char::from(bytes.next()?).to_digit(16);
            (digit()? << 4 | digit()?) as u8
        } else {
            byte
        });
    }
    Some(unescaped)
}
