//! Compressed bodies: gzip and zstd keep the same promises.

use proptest::prelude::*;
use wirelab_wire::gzip::{self, GzipError};
use wirelab_wire::zstd::{self, ZstdError};

const LIMIT: usize = 1 << 20;

/// Why a body was refused, whatever its coding.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Refusal {
    TooLarge(usize),
    Truncated,
    Trailing(usize),
    Corrupt,
}

/// A coding, and where it differs from the other.
struct Coding {
    name: &'static str,
    compress: fn(&[u8]) -> Vec<u8>,
    decompress: fn(&[u8], usize) -> Result<Vec<u8>, Refusal>,
    /// Bytes of the checksum's begin before the end.
    checksum: usize,
    /// What nine bytes of something else behind the last part are.
    trailed: Refusal,
}

const CODINGS: [Coding; 2] = [
    Coding {
        name: "gzip",
        compress: gzip::compress,
        decompress: |bytes, limit| {
            gzip::decompress(bytes, limit).map_err(|error| match error {
                GzipError::TooLarge(limit) => Refusal::TooLarge(limit),
                GzipError::Truncated => Refusal::Truncated,
                GzipError::Trailing(bytes) => Refusal::Trailing(bytes),
                GzipError::Corrupt(_) => Refusal::Corrupt,
            })
        },
        checksum: 8,
        // gzip members have a magic number, so other bytes are recognised as trailing.
        trailed: Refusal::Trailing(9),
    },
    Coding {
        name: "zstd",
        compress: zstd::compress,
        decompress: |bytes, limit| {
            zstd::decompress(bytes, limit).map_err(|error| match error {
                ZstdError::TooLarge(limit) => Refusal::TooLarge(limit),
                ZstdError::Truncated => Refusal::Truncated,
                ZstdError::Corrupt(_) => Refusal::Corrupt,
            })
        },
        checksum: 1,
        trailed: Refusal::Corrupt,
    },
];

/// Lets `check` see each coding, by its two functions.
fn each(check: impl Fn(&Coding, &dyn Fn(&[u8]) -> Vec<u8>, &Decompress)) {
    for coding in CODINGS {
        check(&coding, &coding.compress, &coding.decompress);
    }
}

type Decompress = dyn Fn(&[u8], usize) -> Result<Vec<u8>, Refusal>;

#[test]
fn a_bomb_is_refused_at_the_limit() {
    each(|Coding { name, .. }, compress, decompress| {
        let bomb = compress(&vec![0; 10 << 20]);
        assert!(bomb.len() < 20_000, "{name}");
        assert_eq!(decompress(&bomb, LIMIT), Err(Refusal::TooLarge(LIMIT)));
        let exact = compress(&vec![7; LIMIT]);
        assert_eq!(decompress(&exact, LIMIT).map(|c| c.len()), Ok(LIMIT));
        let less = LIMIT - 1;
        assert_eq!(decompress(&exact, less), Err(Refusal::TooLarge(less)));
        assert_eq!(decompress(&compress(b""), 0), Ok(Vec::new()), "{name}");
    });
}

#[test]
fn every_truncation_is_reported() {
    each(|Coding { name, .. }, compress, decompress| {
        let whole = compress(b"some content, some more content");
        for cut in 0..whole.len() {
            let refused = decompress(&whole[..cut], LIMIT);
            assert_eq!(refused, Err(Refusal::Truncated), "{name} cut at {cut}");
        }
    });
}

/// Members of gzip (RFC 1952 section 2.2), frames of zstd (RFC 8878 section 3.1).
#[test]
fn parts_are_joined_and_anything_else_behind_them_is_refused() {
    each(|coding, compress, decompress| {
        let two = [compress(b"one"), compress(b"two")].concat();
        assert_eq!(decompress(&two, 6), Ok(b"onetwo".to_vec()));
        assert_eq!(decompress(&two, 5), Err(Refusal::TooLarge(5)));
        let trailed = [compress(b"one"), b"xyzxyzxyz".to_vec()].concat();
        let refused = decompress(&trailed, LIMIT);
        assert_eq!(refused, Err(coding.trailed), "{}", coding.name);
    });
}

#[test]
fn a_wrong_checksum_is_found() {
    each(|Coding { name, checksum, .. }, compress, decompress| {
        let mut part = compress(b"content");
        let at = part.len() - checksum;
        part[at] ^= 1;
        assert_eq!(decompress(&part, LIMIT), Err(Refusal::Corrupt), "{name}");
        let plain = b"plain text, neither gzip nor zstd";
        assert_eq!(decompress(plain, LIMIT), Err(Refusal::Corrupt), "{name}");
    });
}

#[test]
fn a_zstd_window_beyond_8_mib_is_refused() {
    // Magic, a descriptor without a content size, a window of 2^41 bytes.
    let greedy = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0xF8, 0x01, 0x00, 0x00];
    let refused = zstd::decompress(&greedy, LIMIT);
    assert!(matches!(refused, Err(ZstdError::Corrupt(_))), "{refused:?}");
}

proptest! {
    #[test]
    fn what_is_compressed_comes_back(bytes in proptest::collection::vec(any::<u8>(), 0..5_000)) {
        each(|Coding { name, .. }, compress, decompress| {
            let back = decompress(&compress(&bytes), LIMIT);
            assert_eq!(back.as_ref(), Ok(&bytes), "{name}");
        });
    }

    #[test]
    fn garbage_is_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        each(|Coding { name, .. }, _, decompress| {
            assert!(decompress(&bytes, LIMIT).is_err(), "{name}");
        });
    }
}
