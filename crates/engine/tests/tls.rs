//! TLS against servers of our own making: certificates that are not right,
//! and connections that end where they must not.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use rustls::pki_types::pem::PemObject;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

use crate::support;
use crate::support::certificates::{Certificates, chain, server_config};
use crate::support::{drive, group, plan, server};

type Secured = StreamOwned<ServerConnection, TcpStream>;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A server under TLS that lets `answer` write to each request.
fn serve_tls(
    config: Arc<ServerConfig>,
    answer: impl Fn(&mut Secured, usize) -> bool + Send + Sync + 'static,
) -> (String, Arc<support::engine::Seen>) {
    server(move |stream, seen| {
        let connection = ServerConnection::new(Arc::clone(&config)).expect("a configuration");
        let mut stream = StreamOwned::new(connection, stream);
        let (mut input, mut buffer) = (Vec::new(), [0u8; 4096]);
        let mut number = 0;
        loop {
            match stream.read(&mut buffer) {
                Ok(0) | Err(_) => return,
                Ok(length) => input.extend_from_slice(&buffer[..length]),
            }
            while let Some(end) = input.windows(4).position(|w| w == b"\r\n\r\n") {
                input.drain(..end + 4);
                number += 1;
                seen.requests.fetch_add(1, SeqCst);
                if !answer(&mut stream, number) {
                    return;
                }
            }
        }
    })
}

fn good(stream: &mut Secured, _number: usize) -> bool {
    stream.write_all(OK).is_ok()
}

fn tls_plan(address: &str, tls: Value) -> Value {
    let mut plan = plan(address);
    plan["groups"][0]["stack"]["security"] = json!("tls");
    plan["groups"][0]["tls"] = tls;
    plan["groups"][0]["window"] = json!({"calls": {"calls": 20, "max_s": 20.0}});
    plan["groups"][0]["timeout_s"] = json!(10.0);
    plan
}

fn example(group: &Value) -> &str {
    group["error_examples"][0].as_str().expect("an example")
}

#[test]
fn calls_go_through_records_and_the_handshake_is_part_of_connecting() {
    let certificates = Certificates::make();
    let config = server_config(certificates.good(), &["http/1.1"]);
    let (address, seen) = serve_tls(config, good);
    let mut plan = tls_plan(&address, certificates.client());
    plan["groups"][0]["stack"]["connection"] = json!("close");
    let group = group(&plan);
    assert_eq!(
        (group["ok"].as_u64(), group["errors"].as_u64()),
        (Some(20), Some(0)),
        "{group}"
    );
    assert_eq!(group["times"]["connect"]["count"], 20, "{group}");
    assert_eq!(seen.connections.load(SeqCst), 20);
    // A handshake of TLS costs more bytes than the call within.
    assert!(
        group["bytes_received"].as_u64().unwrap() > 20 * 500,
        "{group}"
    );
}

#[test]
fn a_large_body_comes_in_many_records_and_none_is_lost() {
    let certificates = Certificates::make();
    let (address, _) = serve_tls(server_config(certificates.good(), &[]), |stream, _| {
        let body = vec![b'x'; 1 << 20];
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).is_ok() && stream.write_all(&body).is_ok()
    });
    let mut plan = tls_plan(&address, certificates.client());
    plan["groups"][0]["workload"]["expect"] = json!({"bytes": {"min": 1 << 20, "max": 1 << 20}});
    plan["groups"][0]["window"] = json!({"calls": {"calls": 5, "max_s": 20.0}});
    let group = group(&plan);
    assert_eq!(group["ok"], 5, "{group}");
}

#[test]
fn a_large_request_goes_out_in_many_records() {
    let certificates = Certificates::make();
    let config = server_config(certificates.good(), &[]);
    let (address, _) = server(move |stream, _| {
        let connection = ServerConnection::new(Arc::clone(&config)).expect("a configuration");
        let mut stream = StreamOwned::new(connection, stream);
        let mut request = Vec::new();
        let mut buffer = [0u8; 65536];
        while let Ok(length @ 1..) = stream.read(&mut buffer) {
            request.extend_from_slice(&buffer[..length]);
            let head = request.windows(4).position(|w| w == b"\r\n\r\n");
            if head.is_some_and(|head| request.len() == head + 4 + (1 << 20)) {
                request.clear();
                stream.write_all(OK).expect("a client that waits");
            }
        }
    });
    let mut plan = tls_plan(&address, certificates.client());
    // Base64 of a MiB: ABC again and again, and one A.
    let body = "QUJD".repeat((1 << 20) / 3) + "QQ==";
    plan["groups"][0]["workload"] =
        json!({"kind": "http", "method": "POST", "path": "/", "body_base64": body});
    plan["groups"][0]["window"] = json!({"calls": {"calls": 3, "max_s": 20.0}});
    assert_eq!((1 << 20) / 3 * 3 + 1, 1 << 20);
    let group = group(&plan);
    assert_eq!(group["ok"], 3, "{group}");
}

#[test]
fn a_certificate_that_is_not_right_is_refused_with_the_reason() {
    let certificates = Certificates::make();
    let others = Certificates::make();
    let cases = [
        // The same name, but another key.
        (others.good(), "invalid peer certificate"),
        (certificates.issue_expired("127.0.0.1"), "xpired"),
        (
            certificates.sign("elsewhere.example", |_| {}),
            "not valid for name",
        ),
    ];
    for (shown, text) in cases {
        let (address, seen) = serve_tls(server_config(shown, &[]), good);
        let group = group(&tls_plan(&address, certificates.client()));
        assert_eq!(group["ok"], 0, "{group}");
        assert_eq!(group["errors_by_kind"], json!({"refused": 20}), "{group}");
        assert!(example(&group).contains(text), "{text}: {group}");
        // No request was sent to a server that was not verified.
        assert_eq!(seen.requests.load(SeqCst), 0);
    }
}

#[test]
fn the_name_may_be_another_than_the_address() {
    let certificates = Certificates::make();
    let shown = certificates.sign("shop.example", |_| {});
    let (address, _) = serve_tls(server_config(shown, &[]), good);
    let mut tls = certificates.client();
    tls["server_name"] = json!("shop.example");
    assert_eq!(group(&tls_plan(&address, tls))["ok"], 20);
}

#[test]
fn a_server_may_demand_a_certificate_of_ours() {
    let certificates = Certificates::make();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(chain(&certificates.file("ca.pem")));
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .build()
        .expect("an authority");
    let (shown, key) = certificates.good();
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has them")
        .with_client_cert_verifier(verifier)
        .with_single_cert(shown, key)
        .expect("a certificate with its key");
    let (address, _) = serve_tls(Arc::new(config), good);

    let without = group(&tls_plan(&address, certificates.client()));
    assert_eq!(without["ok"], 0, "{without}");
    assert!(
        // In TLS 1.3 the client's handshake has ended before the server validates its
        // certificate: the alert comes later (RFC 8446 section 4.4.2.4).
        example(&without).contains("CertificateRequired"),
        "{without}"
    );

    let mut plan = tls_plan(&address, certificates.mutual());
    plan["groups"][0]["stack"]["security"] = json!("mtls");
    assert_eq!(group(&plan)["ok"], 20);
}

/// Ends the TCP connection without close_notify.
fn cut(stream: &mut Secured) -> bool {
    let _ = stream.sock.shutdown(std::net::Shutdown::Both);
    false
}

#[test]
fn a_connection_cut_within_a_record_completes_nothing() {
    let certificates = Certificates::make();
    let (address, _) = serve_tls(server_config(certificates.good(), &[]), |stream, _| {
        let mut record = Vec::new();
        stream.conn.writer().write_all(OK).expect("room");
        stream.conn.write_tls(&mut record).expect("memory");
        // Half a record cannot be authenticated, so that nothing of it may be used.
        let _ = stream.sock.write_all(&record[..record.len() / 2]);
        cut(stream)
    });
    let group = group(&tls_plan(&address, certificates.client()));
    assert_eq!(group["ok"], 0, "{group}");
    assert_eq!(group["errors_by_kind"], json!({"closed": 20}), "{group}");
}

#[test]
fn a_reply_that_ends_with_its_connection_needs_close_notify() {
    let certificates = Certificates::make();
    for (close_notify, ok) in [(true, 20), (false, 0)] {
        let config = server_config(certificates.good(), &[]);
        let (address, _) = serve_tls(config, move |stream, _| {
            let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nall of it");
            if close_notify {
                stream.conn.send_close_notify();
                let _ = stream.flush();
            }
            cut(stream)
        });
        let mut plan = tls_plan(&address, certificates.client());
        plan["groups"][0]["stack"]["transport"] = json!("http/1.0");
        plan["groups"][0]["stack"]["connection"] = json!("close");
        let group = group(&plan);
        assert_eq!(group["ok"], ok, "{group}");
        if !close_notify {
            assert!(example(&group).contains("close_notify"), "{group}");
        }
    }
}

#[test]
fn garbage_instead_of_a_handshake_is_refused() {
    let certificates = Certificates::make();
    let (address, _) = server(|mut stream, _| {
        // 0x16 is the type of a handshake record; 0x77 is not a version.
        let _ = stream.write_all(b"\x16\x77garbage in what may be a record");
        let _ = stream.read(&mut [0u8; 4096]);
    });
    let group = group(&tls_plan(&address, certificates.client()));
    assert_eq!(group["ok"], 0, "{group}");
    assert_eq!(group["errors_by_kind"], json!({"refused": 20}), "{group}");
    assert!(example(&group).contains("corrupt"), "{group}");
}

#[test]
fn http2_needs_a_server_that_chose_it() {
    let certificates = Certificates::make();
    let (address, seen) = serve_tls(server_config(certificates.good(), &[]), good);
    let mut plan = tls_plan(&address, certificates.client());
    plan["groups"][0]["stack"]["transport"] = json!("http/2");
    let group = group(&plan);
    assert_eq!(group["ok"], 0, "{group}");
    assert!(example(&group).contains("ALPN"), "{group}");
    assert_eq!(seen.requests.load(SeqCst), 0);
}

#[test]
fn a_server_that_never_shakes_hands_costs_a_timeout() {
    let certificates = Certificates::make();
    let (address, _) = server(|mut stream, _| {
        let mut buffer = [0u8; 4096];
        while let Ok(1..) = stream.read(&mut buffer) {}
    });
    let mut plan = tls_plan(&address, certificates.client());
    plan["groups"][0]["timeout_s"] = json!(0.1);
    plan["groups"][0]["window"] = json!({"calls": {"calls": 2, "max_s": 20.0}});
    let group = group(&plan);
    // One for each call: a handshake that is given up takes the call on it along.
    assert_eq!(group["errors_by_kind"], json!({"timeout": 2}), "{group}");
}

#[test]
fn files_that_are_none_are_refused_by_option() {
    let certificates = Certificates::make();
    let mut plan = tls_plan("127.0.0.1:9", json!({"ca": "/nowhere/ca.pem"}));
    let (code, event, _) = drive(&plan);
    assert_eq!(code, 2, "{event}");
    assert!(
        event["message"].as_str().unwrap().contains("tls.ca"),
        "{event}"
    );
    plan["groups"][0]["tls"]["ca"] = json!(certificates.file("server.key"));
    let (code, event, _) = drive(&plan);
    assert_eq!(code, 2, "{event}");
    assert!(
        event["message"]
            .as_str()
            .unwrap()
            .contains("no certificate"),
        "{event}"
    );
}

#[test]
fn certificates_are_made_once_and_never_overwritten() {
    let certificates = Certificates::make();
    let before = std::fs::read(certificates.file("server.key")).expect("a key");
    let again = Command::new(crate::ENGINE)
        .arg("certificates")
        .arg(&certificates.folder)
        .output()
        .expect("the engine starts");
    assert_eq!(again.status.code(), Some(2));
    let text = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(
        text.contains("exists") && text.contains("another folder"),
        "{text}"
    );
    assert_eq!(
        std::fs::read(certificates.file("server.key")).expect("a key"),
        before
    );
}

#[test]
fn a_server_without_tls_is_called_that_and_not_refused() {
    let (address, _) = server(|mut stream, _| {
        let _ = stream.read(&mut [0u8; 512]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    });
    let group = group(&tls_plan(&address, Certificates::make().client()));
    assert_eq!(group["errors_by_kind"]["protocol"], 20, "{group}");
    let examples = group["error_examples"].as_array().expect("examples");
    assert_eq!(examples.len(), 1, "{group}");
    let text = "protocol: TLS handshake failed: the server answered with no TLS record, but with \
                 \"HTTP/1.1 4\"";
    assert!(example(&group).starts_with(text), "{group}");
}

#[test]
fn a_server_that_wants_tls_is_called_that() {
    let certificates = Certificates::make();
    let (address, _) = serve_tls(server_config(certificates.good(), &[]), good);
    let mut plan = plan(&address);
    plan["groups"][0]["window"] = json!({"calls": {"calls": 20, "max_s": 20.0}});
    let group = group(&plan);
    assert_eq!(group["errors_by_kind"]["protocol"], 20, "{group}");
    assert!(
        example(&group).contains("answered with a TLS record: it wants TLS"),
        "{group}"
    );
}

/// What `openssl req -x509` makes: signed by itself, and marked as an authority.
fn self_signed(folder: &std::path::Path, name: &str) -> Shown {
    let (certificate, key) = (folder.join("self.pem"), folder.join("self.key"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt"])
        .args([
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=test",
        ])
        .args(["-addext", &format!("subjectAltName=IP:{name}"), "-keyout"])
        .args([&key, &std::path::PathBuf::from("-out"), &certificate])
        .output()
        .expect("openssl is installed");
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let secret = rustls::pki_types::PrivateKeyDer::from_pem_file(&key).expect("a key");
    (chain(&certificate), secret)
}

type Shown = (
    Vec<rustls::pki_types::CertificateDer<'static>>,
    rustls::pki_types::PrivateKeyDer<'static>,
);

#[test]
fn a_certificate_that_signed_itself_is_accepted_where_it_is_given_itself() {
    let (certificates, others) = (Certificates::make(), Certificates::make());
    let shown = self_signed(&certificates.folder, "127.0.0.1");
    let (address, _) = serve_tls(server_config(shown, &[]), good);
    let own = json!({"ca": certificates.file("self.pem")});
    let accepted = group(&tls_plan(&address, own.clone()));
    assert_eq!(accepted["ok"], 20, "{accepted}");
    // For the same name and of the same command, but another one.
    let imposter = self_signed(&others.folder, "127.0.0.1");
    let (address, seen) = serve_tls(server_config(imposter, &[]), good);
    let refused = group(&tls_plan(&address, own));
    assert_eq!(
        refused["errors_by_kind"],
        json!({"refused": 20}),
        "{refused}"
    );
    assert_eq!(seen.requests.load(SeqCst), 0);
}

#[test]
fn a_certificate_that_signed_itself_is_for_its_own_name_alone() {
    let certificates = Certificates::make();
    let shown = self_signed(&certificates.folder, "192.0.2.1");
    let (address, _) = serve_tls(server_config(shown, &[]), good);
    let tls = json!({"ca": certificates.file("self.pem")});
    let refused = group(&tls_plan(&address, tls.clone()));
    assert_eq!(refused["ok"], 0, "{refused}");
    assert!(
        example(&refused).contains("not valid for name"),
        "{refused}"
    );
    let mut named = tls;
    named["server_name"] = json!("192.0.2.1");
    assert_eq!(group(&tls_plan(&address, named))["ok"], 20);
}

#[test]
fn a_certificate_that_signed_itself_is_refused_once_it_has_expired() {
    let certificates = Certificates::make();
    let shown = certificates.issue_expired_authority("127.0.0.1", "self.pem");
    let (address, seen) = serve_tls(server_config(shown, &[]), good);
    let own = json!({"ca": certificates.file("self.pem")});
    let refused = group(&tls_plan(&address, own));
    assert_eq!(
        refused["errors_by_kind"],
        json!({"refused": 20}),
        "{refused}"
    );
    assert!(example(&refused).contains("xpired"), "{refused}");
    assert_eq!(seen.requests.load(SeqCst), 0);
}

#[test]
fn insecure_accepts_any_certificate_for_any_name() {
    let certificates = Certificates::make();
    for shown in [
        certificates.issue_expired("127.0.0.1"),
        certificates.sign("elsewhere.example", |_| {}),
        self_signed(&certificates.folder, "192.0.2.1"),
    ] {
        let (address, _) = serve_tls(server_config(shown, &[]), good);
        let group = group(&tls_plan(&address, json!({"insecure": true})));
        assert_eq!(group["ok"], 20, "{group}");
    }
}

#[test]
fn authorities_and_insecure_exclude_each_other() {
    for (tls, text) in [
        (json!({}), "nothing says which certificates are right"),
        (json!({"ca": "ca.pem", "insecure": true}), "tls.insecure"),
    ] {
        let (code, event, _) = drive(&tls_plan("127.0.0.1:9", tls));
        let message = event["message"].as_str().expect("a message");
        assert!(code == 2 && message.contains(text), "{event}");
    }
}
