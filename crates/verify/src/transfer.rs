//! Calls of `transfer`.

use wirelab_contract::lists::ITEMS_MAX;
use wirelab_contract::transfer::{DownloadRequest, Record, SubmitRequest, UploadRequest};
use wirelab_contract::{Call, Store, texts, workload};

use crate::finding::only_deep;
use crate::walk::Walk;

/// Texts that codecs get wrong: markup, white space, quotes, scripts, planes.
pub(crate) const TEXTS: [&str; 14] = [
    "plain",
    "<a href=\"x\">&amp;</a>",
    // The end mark of CDATA must not appear in character data (XML 1.0 section 2.4).
    "]]> <![CDATA[ ]]>",
    " leading and trailing ",
    "\t\n tab, line feed ",
    // XML readers make a line feed of these unless the writer escapes them (XML 1.0 section
    // 2.11).
    "a\r\nb\rc",
    "   ",
    "'single' \"double\" \\ back / slash",
    "Grüße, ça va, čep, ñ",
    "гайка ナット 在庫なし ΔT",
    // Beyond the basic plane: surrogate pairs in UTF-16, a joined sequence, four bytes in
    // UTF-8.
    "🔩 👩‍🚀 𝄞",
    // Nothing may be normalised, and a byte order mark within a text is a character.
    "e\u{301} ﬁ \u{202e}rtl\u{202c} \u{feff}",
    // Line ends of XML 1.1 and the code points next to the surrogates. NUL is missing
    // because XML 1.0 has no form for it.
    "\u{7f}\u{85}\u{2028}\u{d7ff}\u{e000}\u{fffd}",
    // Texts that a format without types could read as something else.
    "0 -1 1.5 true null NaN",
];

/// The largest upload of one message that is tried, bytes; its limit is tried too.
const LARGE_UPLOAD: usize = 25_000_000;

/// The contract's limit of an upload, bytes.
const UPLOAD_MAX: usize = 64 << 20;

pub(crate) fn operations(walk: &mut Walk, store: &Store, seed: u64) {
    let hello_bytes = store.hello_bytes;
    let _ = walk.step("the text", &Call::Hello { hello_bytes });
    let _ = walk.step("the text as bytes", &Call::HelloBytes { hello_bytes });
    // The same size twice, with another seed: kinds of records are drawn.
    for (k, bytes) in [200, 200, 1_000, 5_000, 20_000].into_iter().enumerate() {
        let request = workload::submit_request(bytes, seed + k as u64).expect("a legal size");
        let _ = walk.step("a batch of every kind of record", &Call::Submit(request));
    }
    for (name, request) in batches() {
        let _ = walk.step(name, &Call::Submit(request));
    }
    for text in TEXTS {
        let request = batch(
            text,
            vec![record(1, 1, text, text), record(2, 0, text, text)],
        );
        let _ = walk.step("texts that codecs get wrong", &Call::Submit(request));
    }
    for data in [
        vec![],
        vec![0],
        (0..=255).collect(),
        texts::pattern(100_000),
    ] {
        let _ = walk.step(
            "an upload",
            &Call::Upload(UploadRequest { data: data.clone() }),
        );
        let stream = Call::UploadStream {
            data,
            chunk_bytes: 30_000,
        };
        let _ = walk.step("an upload in chunks", &stream);
    }
    for (length, chunk_bytes) in [
        (0, 1),
        (1, 1),
        (100, 7),
        (100_000, 30_000),
        (65_536, 65_536),
    ] {
        let _ = walk.step("a download", &download(length, chunk_bytes));
    }
}

pub(crate) fn errors(walk: &mut Walk) {
    let _ = walk.step(
        "no batch",
        &Call::Submit(batch("", vec![record(1, 1, "a", "")])),
    );
    let _ = walk.step("nothing at all", &Call::Submit(SubmitRequest::default()));
    for (name, length, chunk_bytes) in [
        ("a negative length", -1, 1),
        ("the least length", i64::MIN, 1),
        ("too long", UPLOAD_MAX as i64 + 1, 1 << 20),
        ("chunks of nothing", 1, 0),
        ("chunks of less", 1, -1),
        ("chunks too large", 1, (1 << 20) + 1),
        ("length before chunk", -1, 0),
    ] {
        let _ = walk.step(name, &download(length, chunk_bytes));
    }
    let _ = walk.step(
        "a good call after errors",
        &Call::Submit(batch("b", vec![record(1, 1, "a", "")])),
    );
}

pub(crate) fn limits(walk: &mut Walk, deep: bool) -> Vec<String> {
    let large = workload::submit_request(1_000_000, 7).expect("a legal size");
    let _ = walk.step("a batch of 1 MB", &Call::Submit(large));
    for (name, count) in [
        ("as many records as may be", 100_000),
        ("one record more", 100_001),
    ] {
        let records = (0..count).map(|id| record(id, 1, "i", "")).collect();
        let _ = walk.step(name, &Call::Submit(batch("many", records)));
    }
    let too_many = (0..100_001).map(|id| record(id, 1, "i", "")).collect();
    let _ = walk.step(
        "no batch before too many records",
        &Call::Submit(batch("", too_many)),
    );
    // Valid, but twice as long as any operation takes: the reader must stop before the
    // operation sees it (contracts/README.md, Sizes).
    let endless = vec![Record::default(); ITEMS_MAX + 1];
    walk.unread(
        "a longer list than may be read",
        &Call::Submit(batch("b", endless)),
    );
    upload(walk, "an upload of 25 MB", LARGE_UPLOAD);
    upload(
        walk,
        "one byte more than the largest upload",
        UPLOAD_MAX + 1,
    );
    if deep {
        upload(walk, "the largest upload", UPLOAD_MAX);
        let _ = walk.step(
            "the largest download",
            &download(UPLOAD_MAX as i64, 1 << 20),
        );
    }
    // Buffers that grew, or a stream that was cut off, must not disturb the next call.
    let after = batch("b", vec![record(1, 1, "a", "")]);
    let _ = walk.step("a good call after large ones", &Call::Submit(after));
    match deep {
        true => Vec::new(),
        false => only_deep("the largest upload and download"),
    }
}

/// In one message, and in chunks.
fn upload(walk: &mut Walk, name: &str, bytes: usize) {
    let data = texts::pattern(bytes);
    let whole = UploadRequest { data: data.clone() };
    let _ = walk.step(name, &Call::Upload(whole));
    let stream = Call::UploadStream {
        data,
        chunk_bytes: 1 << 20,
    };
    let _ = walk.step(&format!("{name}, in chunks"), &stream);
}

/// Batches at the edges of their numbers.
fn batches() -> Vec<(&'static str, SubmitRequest)> {
    // 2^53 + 1 is the first integer that a double cannot hold. Readers of JSON that use
    // doubles lose it.
    let extremes = [i64::MIN, -1, 0, (1 << 53) + 1, i64::MAX];
    let ids = extremes.map(|id| record(id, 1, "item", "remark"));
    let quantities = [i32::MIN, -1, 0, 1, i32::MAX].map(|quantity| record(3, quantity, "item", ""));
    let both = [0, 1].map(|quantity| record(4, quantity, "", "no item"));
    vec![
        ("no records", batch("b", vec![])),
        ("extreme ids", batch("ids", ids.to_vec())),
        (
            "extreme quantities",
            batch("quantities", quantities.to_vec()),
        ),
        (
            "a total beyond 32 bits",
            batch("total", vec![record(1, i32::MAX, "i", ""); 9]),
        ),
        // One record breaks both rules, one only the second.
        ("quantity before item", batch("both", both.to_vec())),
        (
            "all refused",
            batch("refused", vec![record(9, 0, "", ""); 5]),
        ),
        (
            "the same id twice",
            batch("twice", vec![record(5, 1, "a", ""), record(5, 0, "b", "")]),
        ),
        (
            "extreme refused ids",
            batch(
                "refused ids",
                extremes.map(|id| record(id, 0, "i", "")).to_vec(),
            ),
        ),
    ]
}

fn batch(name: &str, records: Vec<Record>) -> SubmitRequest {
    SubmitRequest {
        batch: name.to_owned(),
        records,
    }
}

fn record(id: i64, quantity: i32, item: &str, remark: &str) -> Record {
    Record {
        id,
        quantity,
        item: item.to_owned(),
        remark: remark.to_owned(),
    }
}

fn download(length: i64, chunk_bytes: i32) -> Call {
    Call::Download(DownloadRequest {
        length,
        chunk_bytes,
    })
}
