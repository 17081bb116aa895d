//! HPACK against RFC 7541: the examples of its appendix C, tables that change
//! their size, and input that is wrong or hostile.

use proptest::prelude::*;
use wirelab_wire::http2::hpack::{DecodeError, Decoder, Encoder, Huffman, Indexing};

type Field = (&'static str, &'static str);
type Fields = Vec<(String, String)>;

/// One field section of an example: its bytes, its fields, and the size of the
/// dynamic table after it.
struct Section {
    hex: &'static str,
    fields: &'static [Field],
    table_size: usize,
}

/// Sections that follow each other on one connection.
struct Example {
    name: &'static str,
    table_max: u32,
    huffman: Huffman,
    indexing: Indexing,
    sections: &'static [Section],
}

const FIRST_REQUEST: &[Field] = &[
    (":method", "GET"),
    (":scheme", "http"),
    (":path", "/"),
    (":authority", "www.example.com"),
];
const SECOND_REQUEST: &[Field] = &[
    (":method", "GET"),
    (":scheme", "http"),
    (":path", "/"),
    (":authority", "www.example.com"),
    ("cache-control", "no-cache"),
];
const THIRD_REQUEST: &[Field] = &[
    (":method", "GET"),
    (":scheme", "https"),
    (":path", "/index.html"),
    (":authority", "www.example.com"),
    ("custom-key", "custom-value"),
];
const FIRST_RESPONSE: &[Field] = &[
    (":status", "302"),
    ("cache-control", "private"),
    ("date", "Mon, 21 Oct 2013 20:13:21 GMT"),
    ("location", "https://www.example.com"),
];
const SECOND_RESPONSE: &[Field] = &[
    (":status", "307"),
    ("cache-control", "private"),
    ("date", "Mon, 21 Oct 2013 20:13:21 GMT"),
    ("location", "https://www.example.com"),
];
const THIRD_RESPONSE: &[Field] = &[
    (":status", "200"),
    ("cache-control", "private"),
    ("date", "Mon, 21 Oct 2013 20:13:22 GMT"),
    ("location", "https://www.example.com"),
    ("content-encoding", "gzip"),
    (
        "set-cookie",
        "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
    ),
];

/// RFC 7541 appendix C, sections C.2 to C.6 (C.1 is tested next to the integers).
const EXAMPLES: &[Example] = &[
    Example {
        name: "C.2.1 literal field with indexing",
        table_max: 4_096,
        huffman: Huffman::Never,
        indexing: Indexing::Incremental,
        sections: &[Section {
            hex: "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572",
            fields: &[("custom-key", "custom-header")],
            table_size: 55,
        }],
    },
    Example {
        name: "C.2.2 literal field without indexing",
        table_max: 4_096,
        huffman: Huffman::Never,
        indexing: Indexing::Without,
        sections: &[Section {
            hex: "040c 2f73 616d 706c 652f 7061 7468",
            fields: &[(":path", "/sample/path")],
            table_size: 0,
        }],
    },
    Example {
        name: "C.2.3 literal field never indexed",
        table_max: 4_096,
        huffman: Huffman::Never,
        indexing: Indexing::Never,
        sections: &[Section {
            hex: "1008 7061 7373 776f 7264 0673 6563 7265 74",
            fields: &[("password", "secret")],
            table_size: 0,
        }],
    },
    Example {
        name: "C.2.4 indexed field",
        table_max: 4_096,
        huffman: Huffman::Never,
        indexing: Indexing::Incremental,
        sections: &[Section {
            hex: "82",
            fields: &[(":method", "GET")],
            table_size: 0,
        }],
    },
    Example {
        name: "C.3 requests without Huffman coding",
        table_max: 4_096,
        huffman: Huffman::Never,
        indexing: Indexing::Incremental,
        sections: &[
            Section {
                hex: "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
                fields: FIRST_REQUEST,
                table_size: 57,
            },
            Section {
                hex: "8286 84be 5808 6e6f 2d63 6163 6865",
                fields: SECOND_REQUEST,
                table_size: 110,
            },
            Section {
                hex: "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
                fields: THIRD_REQUEST,
                table_size: 164,
            },
        ],
    },
    Example {
        name: "C.4 requests with Huffman coding",
        table_max: 4_096,
        huffman: Huffman::WhenNotLonger,
        indexing: Indexing::Incremental,
        sections: &[
            Section {
                hex: "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
                fields: FIRST_REQUEST,
                table_size: 57,
            },
            Section {
                hex: "8286 84be 5886 a8eb 1064 9cbf",
                fields: SECOND_REQUEST,
                table_size: 110,
            },
            Section {
                hex: "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
                fields: THIRD_REQUEST,
                table_size: 164,
            },
        ],
    },
    Example {
        name: "C.5 responses without Huffman coding, with eviction",
        table_max: 256,
        huffman: Huffman::Never,
        indexing: Indexing::Incremental,
        sections: &[
            Section {
                hex: "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 \
                      3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 \
                      7861 6d70 6c65 2e63 6f6d",
                fields: FIRST_RESPONSE,
                table_size: 222,
            },
            Section {
                hex: "4803 3330 37c1 c0bf",
                fields: SECOND_RESPONSE,
                table_size: 222,
            },
            Section {
                hex: "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 \
                      474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 \
                      454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 \
                      6572 7369 6f6e 3d31",
                fields: THIRD_RESPONSE,
                table_size: 215,
            },
        ],
    },
    Example {
        name: "C.6 responses with Huffman coding, with eviction",
        table_max: 256,
        huffman: Huffman::WhenNotLonger,
        indexing: Indexing::Incremental,
        sections: &[
            Section {
                hex: "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 \
                      82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
                fields: FIRST_RESPONSE,
                table_size: 222,
            },
            Section {
                hex: "4883 640e ffc1 c0bf",
                fields: SECOND_RESPONSE,
                table_size: 222,
            },
            Section {
                hex: "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b \
                      d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 \
                      0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
                fields: THIRD_RESPONSE,
                table_size: 215,
            },
        ],
    },
];

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits
        .chunks(2)
        .map(|pair| (pair[0] << 4 | pair[1]) as u8)
        .collect()
}

fn decode(decoder: &mut Decoder, block: &[u8]) -> Result<Fields, DecodeError> {
    let mut fields = Vec::new();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    decoder.decode(block, |name, value| fields.push((text(name), text(value))))?;
    Ok(fields)
}

fn encode(encoder: &mut Encoder, fields: &[(String, String)], indexing: Indexing) -> Vec<u8> {
    let mut block = Vec::new();
    encoder.begin_block(&mut block);
    for (name, value) in fields {
        encoder.field(name.as_bytes(), value.as_bytes(), indexing, &mut block);
    }
    block
}

fn own(fields: &[Field]) -> Fields {
    fields
        .iter()
        .map(|&(name, value)| (name.into(), value.into()))
        .collect()
}

#[test]
fn the_examples_of_appendix_c_decode() {
    for example in EXAMPLES {
        let mut decoder = Decoder::new(example.table_max, 65_536);
        for section in example.sections {
            let fields = decode(&mut decoder, &bytes(section.hex)).unwrap();
            assert_eq!(fields, own(section.fields), "{}", example.name);
            assert_eq!(
                decoder.table().size(),
                section.table_size,
                "{}",
                example.name
            );
        }
    }
}

#[test]
fn the_examples_of_appendix_c_encode() {
    for example in EXAMPLES {
        let mut encoder = Encoder::new(example.table_max, example.huffman);
        for section in example.sections {
            let block = encode(&mut encoder, &own(section.fields), example.indexing);
            assert_eq!(block, bytes(section.hex), "{}", example.name);
            assert_eq!(
                encoder.table().size(),
                section.table_size,
                "{}",
                example.name
            );
        }
    }
}

/// The result of the decoder for a block, as text.
fn verdict(table_max: u32, section_max: u32, block: &[u8]) -> String {
    match decode(&mut Decoder::new(table_max, section_max), block) {
        Ok(fields) => format!("{} fields", fields.len()),
        Err(error) => error.to_string(),
    }
}

#[test]
fn broken_blocks_are_refused_by_rule() {
    for (block, section) in [
        (&[0x80][..], "section 2.3.3"),                         // index 0
        (&[0xbe], "section 2.3.3"),                             // beyond an empty dynamic table
        (&[0x7f, 0x00, 0x01, b'x'], "section 2.3.3"),           // literal, name beyond the tables
        (&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff], "section 5.1"), // integer overflow
        (&[0x40, 0x05, b'a'], "section 5"),                     // string cut short
        (&[0x40], "section 5"),                                 // field cut short
        (&[0x40, 0x81, 0x18, 0x00], "section 5.2"),             // padding of 0-bits
        (&[0x40, 0x84, 0xff, 0xff, 0xff, 0xff, 0x00], "section 5.2"), // EOS
        (&[0x82, 0x20], "section 4.2"),                         // size update after a field
        (&[0x3f, 0xe2, 0x1f], "section 6.3"),                   // size update to 4,097
    ] {
        let verdict = verdict(4_096, 65_536, block);
        assert!(
            verdict.contains(&format!("RFC 7541 {section})")),
            "{block:x?}: {verdict}"
        );
    }
}

#[test]
fn a_size_update_within_the_limit_empties_the_table_and_restores_it() {
    let mut decoder = Decoder::new(4_096, 65_536);
    decode(&mut decoder, &bytes(EXAMPLES[0].sections[0].hex)).unwrap();
    assert_eq!(decoder.table().len(), 1);
    assert_eq!(
        // Updates to 0 and to 4,096, then index 2.
        decode(&mut decoder, &[0x20, 0x3f, 0xe1, 0x1f, 0x82])
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        (decoder.table().len(), decoder.table().size_max()),
        (0, 4_096)
    );
}

/// One entry of 4 kB, named 4,000 times by a byte each, would be 16 MB.
#[test]
fn a_bomb_is_refused_at_the_limit() {
    // A literal with indexing (RFC 7541 section 6.2.1), then its index, 62, again and
    // again.
    let mut block = vec![0x40, 1, b'a', 0x7f, 0xc1, 0x1e];
    block.extend(vec![b'x'; 4_032]);
    block.extend(vec![0xbe; 4_000]);
    assert_eq!(
        verdict(4_096, 65_536, &block),
        "more than 65536 bytes of fields"
    );
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("content-type".into()),
        Just("date".into()),
        "[a-z][a-z-]{0,12}"
    ]
}

fn sections() -> impl Strategy<Value = Vec<(Option<u32>, Fields)>> {
    // Few names, so that later sections hit entries of earlier ones.
    let fields = prop::collection::vec((names(), ".{0,60}"), 0..8);
    prop::collection::vec((prop::option::of(0_u32..8_192), fields), 1..20)
}

proptest! {
    /// Encoder and decoder stay in step whatever sizes the peer asks for.
    #[test]
    fn both_sides_agree_while_the_table_is_resized(sections in sections()) {
        let mut encoder = Encoder::new(4_096, Huffman::WhenNotLonger);
        let mut decoder = Decoder::new(4_096, 1 << 20);
        for (limit, fields) in sections {
            if let Some(limit) = limit {
                encoder.limit(limit);
            }
            let block = encode(&mut encoder, &fields, Indexing::Incremental);
            prop_assert_eq!(decode(&mut decoder, &block).unwrap(), fields);
            prop_assert_eq!(decoder.table().size(), encoder.table().size());
            prop_assert_eq!(decoder.table().len(), encoder.table().len());
        }
    }

    #[test]
    fn garbage_never_panics_and_stays_within_the_table(blocks in prop::collection::vec(
        prop::collection::vec(any::<u8>(), 0..100), 1..10,
    )) {
        let mut decoder = Decoder::new(4_096, 65_536);
        for block in blocks {
            let mut size = 0;
            let ended = decoder.decode(&block, |name, value| size += name.len() + value.len());
            prop_assert!(decoder.table().size() <= 4_096);
            if ended.is_ok() {
                prop_assert!(size <= 65_536);
            }
        }
    }

    /// A block that left the version alone means the same when it comes again.
    #[test]
    fn an_unchanged_version_means_an_unchanged_block(blocks in prop::collection::vec(
        prop::collection::vec(any::<u8>(), 0..40), 1..20,
    )) {
        let mut decoder = Decoder::new(4_096, 65_536);
        let mut cached: Option<(u64, Vec<u8>, Fields)> = None;
        for block in blocks {
            let before = decoder.table().version();
            let Ok(fields) = decode(&mut decoder, &block) else { break };
            if let Some((version, block, fields)) = &cached
                && *version == decoder.table().version()
            {
                prop_assert_eq!(&decode(&mut decoder, block).unwrap(), fields);
            }
            if decoder.table().version() == before {
                cached = Some((before, block, fields));
            }
        }
    }
}
