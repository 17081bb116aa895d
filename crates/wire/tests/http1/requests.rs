//! What the HTTP/1.x client sends, and in which pieces.

use std::sync::Arc;

use super::support::{Wire, end, fail, get, post};
use wirelab_wire::http1::{Http1, Options, OptionsError, RequestError, Version, check_request};
use wirelab_wire::{Failure, Request, Session};

const USER_AGENT: &str = concat!("User-Agent: wirelab/", env!("CARGO_PKG_VERSION"), "\r\n");

fn send(options: Options, request: Request) -> String {
    String::from_utf8(Wire::new(options).send(0, request)).unwrap()
}

#[test]
fn a_get_has_neither_body_nor_length() {
    assert_eq!(
        send(Options::default(), get(5)),
        format!(
            "GET /item/5 HTTP/1.1\r\nHost: localhost:80\r\n{USER_AGENT}accept: text/plain\r\n\r\n"
        )
    );
}

#[test]
fn a_body_is_announced_and_so_is_a_missing_one_where_it_is_expected() {
    assert!(
        send(Options::default(), post(1, b"hello")).ends_with("Content-Length: 5\r\n\r\nhello")
    );
    for (method, announced) in [
        ("POST", true),
        ("PUT", true),
        ("GET", false),
        ("DELETE", false),
    ] {
        let request = Request {
            method: method.into(),
            ..get(1)
        };
        assert_eq!(
            send(Options::default(), request).contains("Content-Length: 0\r\n"),
            announced
        );
    }
}

#[test]
fn connection_and_version_follow_the_policy() {
    for (version, close, field, name) in [
        (Version::Http11, false, None, "HTTP/1.1"),
        (
            Version::Http11,
            true,
            Some("Connection: close\r\n"),
            "HTTP/1.1",
        ),
        (
            Version::Http10,
            false,
            Some("Connection: keep-alive\r\n"),
            "HTTP/1.0",
        ),
        (Version::Http10, true, None, "HTTP/1.0"),
    ] {
        let request = send(
            Options {
                version,
                close,
                ..Options::default()
            },
            get(1),
        );
        assert!(
            request.starts_with(&format!("GET /item/1 {name}\r\n")),
            "{request}"
        );
        match field {
            Some(field) => assert!(request.contains(field), "{request}"),
            None => assert!(!request.contains("Connection"), "{request}"),
        }
    }
}

#[test]
fn a_user_agent_of_the_request_replaces_ours() {
    let mut request = get(1);
    request.fields.push(("user-agent".into(), "other/1".into()));
    let head = send(Options::default(), request);
    assert!(head.contains("user-agent: other/1\r\n") && !head.contains("wirelab/"));
}

#[test]
fn more_requests_than_are_remembered_are_still_written_right() {
    let mut wire = Wire::new(Options {
        pipeline: 1_000,
        ..Options::default()
    });
    for round in 0..3 {
        // More than the session caches, so that heads are evicted and written again.
        for id in 0..40 {
            let head = wire.send(round * 40 + id, get(id));
            assert!(head.starts_with(format!("GET /item/{id} HTTP/1.1\r\n").as_bytes()));
        }
    }
}

#[test]
fn joined_writes_put_head_and_body_into_one_send() {
    let mut session = Http1::new(Options {
        pipeline: 2,
        ..Options::default()
    })
    .unwrap();
    session.send(0, &Arc::new(post(0, b"first")));
    session.send(1, &Arc::new(post(1, b"second")));
    let mut out = b"already there".to_vec();
    assert!(!session.flushed(0));
    assert!(!session.pump(&mut out));
    assert!(session.flushed(0) && session.flushed(1));
    let out = String::from_utf8(out).unwrap();
    assert!(out.starts_with("already therePOST /item/0"));
    assert!(out.contains("firstPOST /item/1") && out.ends_with("second"));
    assert!(!session.pump(&mut Vec::new()));
}

#[test]
fn split_writes_put_head_and_body_into_two_sends() {
    let options = Options {
        split_writes: true,
        pipeline: 3,
        ..Options::default()
    };
    let mut session = Http1::new(options).unwrap();
    session.send(0, &Arc::new(post(0, b"first")));
    session.send(1, &Arc::new(get(1)));
    session.send(2, &Arc::new(post(2, b"third")));
    let mut sends = Vec::new();
    let (mut begun, mut flushed) = (Vec::new(), Vec::new());
    loop {
        let mut out = Vec::new();
        let more = session.pump(&mut out);
        sends.push(String::from_utf8(out).unwrap());
        flushed.push([0, 1, 2].map(|call| session.flushed(call)));
        begun.push([0, 1, 2].map(|call| session.started(call)));
        if !more {
            break;
        }
    }
    assert_eq!(sends.len(), 5);
    assert!(sends[0].starts_with("POST /item/0") && sends[0].ends_with("\r\n\r\n"));
    assert_eq!(sends[1], "first");
    assert!(sends[2].starts_with("GET /item/1"));
    assert!(sends[3].starts_with("POST /item/2") && sends[3].ends_with("\r\n\r\n"));
    assert_eq!(sends[4], "third");
    assert_eq!(flushed[0], [false, false, false]);
    assert_eq!(flushed[1], [true, false, false]);
    assert_eq!(flushed[2], [true, true, false]);
    assert_eq!(flushed[4], [true, true, true]);
    assert_eq!(begun[0], [true, false, false]);
    assert_eq!(begun[1], [true, false, false]);
    assert_eq!(begun[2], [true, true, false]);
    assert_eq!(begun[3], [true, true, true]);
}

#[test]
fn large_bodies_come_out_in_pieces() {
    for split_writes in [false, true] {
        let body: Vec<u8> = (0..1_000_003_u32).map(|k| k as u8).collect();
        let options = Options {
            split_writes,
            ..Options::default()
        };
        let mut session = Http1::new(options).unwrap();
        session.send(7, &Arc::new(post(0, &body)));
        let mut whole = Vec::new();
        let mut pumps = 0;
        loop {
            let mut out = Vec::new();
            let more = session.pump(&mut out);
            assert!(!out.is_empty() && out.len() <= (256 << 10) + 1_000);
            assert_eq!(session.flushed(7), !more);
            whole.extend_from_slice(&out);
            pumps += 1;
            if !more {
                break;
            }
        }
        assert_eq!(pumps, 4 + usize::from(split_writes));
        assert!(whole.ends_with(&body));
    }
}

#[test]
fn a_session_with_one_call_per_connection_takes_one() {
    for version in [Version::Http10, Version::Http11] {
        let mut wire = Wire::new(Options {
            close: true,
            version,
            ..Options::default()
        });
        assert_eq!(wire.capacity(), 1);
        assert!(!wire.session_is_finished(), "not before its call");
        wire.send(0, get(0));
        assert_eq!(wire.capacity(), 0);
        assert!(wire.session_is_finished());
        wire.receive(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(wire.events.last(), Some(&end(0)));
        assert_eq!(wire.capacity(), 0);
    }
}

#[test]
fn a_reply_that_overtakes_its_request_ends_the_connection() {
    let options = Options {
        pipeline: 2,
        ..Options::default()
    };
    let mut wire = Wire::new(options);
    wire.session.send(0, &Arc::new(post(0, &vec![0; 1 << 20])));
    wire.session.send(1, &Arc::new(get(1)));
    assert!(wire.session.pump(&mut Vec::new()));
    wire.receive(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(wire.events[2..], [end(0), fail(1, Failure::Closed)]);
    assert!(wire.session_is_finished());
    let mut out = Vec::new();
    assert!(!wire.session.pump(&mut out) && out.is_empty());
}

#[test]
fn a_cancelled_call_ends_the_connection_and_is_not_spoken_of_again() {
    let head = &b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"[..];
    for (received, cancelled, left) in [
        (head, 0, 1),
        (&b"HTT"[..], 0, 1),
        (&b""[..], 0, 1),
        (&b""[..], 1, 0),
    ] {
        let mut wire = Wire::with_calls(
            Options {
                pipeline: 2,
                ..Options::default()
            },
            2,
        );
        wire.receive(received);
        wire.events.clear();
        assert!(!wire.session.cancel(cancelled));
        assert!(wire.session_is_finished());
        assert_eq!(wire.capacity(), 0);
        wire.receive(b"llo");
        wire.close();
        assert_eq!(wire.events, [fail(left, Failure::Closed)]);
    }
    assert!(
        Wire::new(Options::default()).session.cancel(9),
        "a call that is not under way"
    );
}

#[test]
fn contradictory_options_are_refused() {
    let refused = |options| Http1::new(options).map(|_| ()).unwrap_err();
    let options = Options::default();
    assert_eq!(
        refused(Options {
            pipeline: 0,
            ..options
        }),
        OptionsError::NoCalls
    );
    assert_eq!(
        refused(Options {
            pipeline: 4,
            close: true,
            ..options
        }),
        OptionsError::PipelineWithClose(4)
    );
    assert_eq!(
        refused(Options {
            pipeline: 4,
            version: Version::Http10,
            ..options
        }),
        OptionsError::PipelineInHttp10(4)
    );
}

#[test]
fn requests_that_would_break_the_head_are_refused_by_name() {
    let field = |name: &str, value: &str| {
        let mut request = get(1);
        request.fields.push((name.into(), value.into()));
        check_request(&request).unwrap_err()
    };
    assert_eq!(check_request(&post(1, b"x")), Ok(()));
    assert_eq!(field("x", "a\r\nb"), RequestError::FieldValue("x".into()));
    assert_eq!(field("x y", "a"), RequestError::FieldName("x y".into()));
    assert_eq!(
        field("Content-Length", "1"),
        RequestError::ReservedField("Content-Length".into())
    );
    let path = |path: &str| {
        check_request(&Request {
            path: path.into(),
            ..get(1)
        })
    };
    assert_eq!(path("/a b"), Err(RequestError::Path("/a b".into())));
    assert_eq!(
        path("http://a/"),
        Err(RequestError::Path("http://a/".into()))
    );
    let method = |method: &str| {
        check_request(&Request {
            method: method.into(),
            ..get(1)
        })
    };
    assert_eq!(method("GE T"), Err(RequestError::Method("GE T".into())));
    assert_eq!(
        method("CONNECT"),
        Err(RequestError::Method("CONNECT".into()))
    );
    let authority = check_request(&Request {
        authority: "a\r\n".into(),
        ..get(1)
    });
    assert_eq!(authority, Err(RequestError::Authority("a\r\n".into())));
}
