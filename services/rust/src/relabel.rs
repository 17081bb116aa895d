//! Makes the HTTP/1.0 of a connection's first reply an HTTP/1.1.
//!
//! hyper ends a reply by the end of the connection only when the reply is
//! HTTP/1.0; RFC 9112 section 6.3 allows it in HTTP/1.1 as well, and that is
//! what end_of_message=until-close asks for.

/// What may stand before the reply.
const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// How a reply begins that is to be relabelled.
const LABEL: &[u8] = b"HTTP/1.0 ";

/// Place of the minor version in [`LABEL`].
const MINOR: usize = 7;

/// A copy of `bytes`, the first of a connection, with the reply's label
/// changed; none where the reply does not begin in them.
pub(crate) fn changed(bytes: &[u8]) -> Option<Vec<u8>> {
    let at = if bytes.starts_with(CONTINUE) {
        CONTINUE.len()
    } else {
        0
    };
    if !bytes[at..].starts_with(LABEL) {
        return None;
    }
    let mut copy = bytes.to_vec();
    copy[at + MINOR] = b'1';
    Some(copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reply_is_relabelled_and_no_other_byte_is_touched() {
        assert_eq!(changed(CONTINUE), None);
        let reply = b"HTTP/1.0 200 OK\r\ndate: today\r\n\r\nHTTP/1.0 ";
        let relabelled = changed(reply).expect("a label");
        assert_eq!(
            relabelled,
            b"HTTP/1.1 200 OK\r\ndate: today\r\n\r\nHTTP/1.0 "
        );
        let both = changed(&[CONTINUE, &reply[..]].concat());
        assert_eq!(both, Some([CONTINUE, &relabelled[..]].concat()));
    }
}
