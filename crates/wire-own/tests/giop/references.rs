//! Object references, from this hand and from others'.

use proptest::prelude::*;
use wirelab_wire_own::giop::{
    CODE_SET_UTF8, CODE_SET_UTF16, CorbalocError, Ior, IorError, Profile,
};

#[test]
fn a_reference_is_written_as_in_the_standard() {
    let ior = Ior::new("IDL:a:1.0", "h", 258, b"k");
    let expected = concat!(
        "IOR:00000000",                 // big-endian, 3 bytes up to 4
        "0000000a49444c3a613a312e3000", // type id with its NUL
        "0000",                         // up to 20
        "00000001",                     // one profile
        "00000000",
        "00000034",     // IIOP, its length
        "00010200",     // big-endian, 1.2, one byte up to 4
        "000000026800", // 4: host; the port at 10
        "0102",
        "000000016b", // 12: key
        "000000",     // up to 20
        "00000001",   // one component
        "00000001",
        "00000014", // code sets
        "00000000",
        "0501000100000000", // UTF-8, no conversions
        "0001010900000000", // UTF-16
    );
    assert_eq!(ior.to_text().unwrap(), expected);
    let read = Ior::parse(expected).unwrap();
    assert_eq!(read, ior);
    let code_sets = read.iiop().unwrap().native_code_sets();
    assert_eq!(code_sets, Ok(Some((CODE_SET_UTF8, CODE_SET_UTF16))));
    assert_eq!(Ior::parse(&expected.replace("IOR", "ior")), Ok(ior));
}

#[test]
fn addresses_are_read() {
    let profile = |text: &str| {
        let ior = Ior::parse(text).unwrap();
        let iiop = ior.iiop().unwrap().clone();
        (iiop.version, iiop.host, iiop.port, iiop.object_key)
    };
    let key = |key: &[u8]| key.to_vec();
    assert_eq!(
        profile("corbaloc:iiop:1.2@localhost:4711/wirelab"),
        ((1, 2), "localhost".into(), 4711, key(b"wirelab"))
    );
    assert_eq!(
        profile("corbaloc::h/a%2Fb%00"),
        ((1, 0), "h".into(), 2809, key(b"a/b\0"))
    );
    assert_eq!(
        profile("corbaloc:iiop:1.1@[::1]:5/k/l"),
        ((1, 1), "::1".into(), 5, key(b"k/l"))
    );
    let both = Ior::parse("corbaloc::a:1,iiop:1.2@b:2/k").unwrap();
    assert_eq!(both.profiles.len(), 2);
}

#[test]
fn a_text_that_is_not_a_reference_is_refused() {
    for text in ["", "IOR", "http://x", "é"] {
        assert_eq!(Ior::parse(text), Err(IorError::Scheme), "{text:?}");
    }
    for text in ["IOR:0", "IOR:0g", "IOR:+0", "IOR:é"] {
        assert_eq!(Ior::parse(text), Err(IorError::Digits), "{text:?}");
    }
    for text in [
        "corbaloc:iiop:1.2@h:1",
        "corbaloc::/k",
        "corbaloc::h:1/",
        "corbaloc::h:99999/k",
        "corbaloc:ssl:h/k",
        "corbaloc::h/%4",
        "corbaloc::h/%zz",
        "corbaloc:rir:/NameService",
        "corbaloc:iiop:1@h/k",
    ] {
        assert!(
            matches!(Ior::parse(text), Err(IorError::Corbaloc(_))),
            "{text:?}"
        );
    }
    let nil = Ior::default().to_text().unwrap();
    assert_eq!(Ior::parse(&nil).unwrap().iiop(), Err(IorError::NoIiop));
}

#[test]
fn a_key_that_every_address_takes_is_bounded() {
    let read = |addresses: usize, key: usize| {
        let text = format!(
            "corbaloc:{}/{}",
            vec![":h"; addresses].join(","),
            "k".repeat(key)
        );
        Ior::parse(&text)
    };
    for (addresses, key) in [(64, 900), (1, 60_000)] {
        let ior = read(addresses, key).unwrap();
        assert_eq!(ior.profiles.len(), addresses);
        assert_eq!(Ior::parse(&ior.to_text().unwrap()), Ok(ior));
    }
    for (addresses, key) in [(64, 1_000), (1, 65_000)] {
        let long = Err(IorError::Corbaloc(CorbalocError::Long));
        assert_eq!(read(addresses, key), long, "{addresses} times {key}");
    }
    let many = Err(IorError::Corbaloc(CorbalocError::Addresses));
    assert_eq!(read(65, 1), many);
}

#[test]
fn every_truncation_is_refused() {
    let whole = Ior::new("IDL:a:1.0", "host", 1, b"key").to_text().unwrap();
    for cut in (4..whole.len()).step_by(2) {
        assert!(
            matches!(Ior::parse(&whole[..cut]), Err(IorError::Cdr(_))),
            "cut at {cut}"
        );
    }
}

#[test]
fn profiles_of_other_kinds_are_kept() {
    let mut ior = Ior::new("", "h", 1, b"k");
    ior.profiles.insert(
        0,
        Profile::Other {
            tag: 1,
            data: vec![1, 2, 3],
        },
    );
    let read = Ior::parse(&ior.to_text().unwrap()).unwrap();
    assert_eq!(read, ior);
    assert_eq!(read.iiop().unwrap().host, "h");
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(id in "[^\0]{0,9}", host in "[^\0]{0,9}", port: u16, key: Vec<u8>) {
        let ior = Ior::new(&id, &host, port, &key);
        prop_assert_eq!(Ior::parse(&ior.to_text().unwrap()), Ok(ior));
    }

    #[test]
    fn no_text_makes_it_panic(text in ".{0,60}", digits in "[0-9a-f]{0,120}") {
        let _ = Ior::parse(&text);
        let _ = Ior::parse(&format!("corbaloc:{text}"));
        let _ = Ior::parse(&format!("IOR:{digits}"));
    }
}
