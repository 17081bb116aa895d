//! A few bytes of input for an error message, escaped and never long.

/// Bytes that an excerpt shows at most.
const BYTES_MAX: usize = 32;

/// The first bytes of `bytes` as printable ASCII; `…` where more follow.
pub fn excerpt(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(BYTES_MAX)];
    let more = if shown.len() < bytes.len() { "…" } else { "" };
    format!("\"{}\"{more}", shown.escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_escaped_and_bounded() {
        assert_eq!(excerpt(b"a\r\n\"\xFF"), r#""a\r\n\"\xff""#);
        assert!(excerpt(&[0; 1 << 20]).len() < 150);
    }
}
