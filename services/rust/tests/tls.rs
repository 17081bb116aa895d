//! TLS and mutual TLS on every stack, by tokio-rustls' client.

use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::Request;
use futures_util::{SinkExt, StreamExt};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;

use crate::harness::{
    Process, Service, block_on, config, grpc, iiop, raw, rest, rest2, soap, with,
};

/// An authority, and what it has signed.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: PathBuf,
}

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        // Without it rustls refuses the chain (RFC 5280 section 4.2.1.9).
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = std::env::temp_dir().join(format!("wirelab-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Authority { issuer, folder }
    }

    /// A certificate and its key, both in PEM.
    fn sign(&self) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The files of a service's configuration.
    fn files(&self, clients: bool) -> Value {
        let (certificate, key) = self.sign();
        let mut files = json!({
            "certificate": self.file("service.pem", &certificate),
            "key": self.file("service.key", &key),
        });
        if clients {
            files["client_ca"] = self.file("ca.pem", &self.issuer.pem()).into();
        }
        files
    }

    /// A client that trusts it, and shows a certificate signed by `signer`.
    fn client(&self, signer: Option<&Authority>, protocols: &[&str]) -> TlsConnector {
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let mut config = match signer {
            Some(signer) => {
                let (certificate, key) = signer.sign();
                let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
                let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
                builder
                    .with_client_auth_cert(vec![certificate], key)
                    .unwrap()
            }
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = protocols
            .iter()
            .map(|name| name.as_bytes().to_vec())
            .collect();
        TlsConnector::from(Arc::new(config))
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        // What is left in the folder for temporary files does no harm.
        let _left = std::fs::remove_dir_all(&self.folder);
    }
}

async fn connect(
    service: &Service,
    client: &TlsConnector,
) -> std::io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(service.address()).await?;
    client
        .connect(ServerName::try_from("localhost").unwrap(), stream)
        .await
}

/// The body of the reply to a request.
async fn call(
    stream: TlsStream<TcpStream>,
    two: bool,
    request: axum::http::request::Builder,
    body: &'static [u8],
) -> Result<Bytes, hyper::Error> {
    let request = request.body(Full::new(Bytes::from_static(body))).unwrap();
    let stream = TokioIo::new(stream);
    let response = if two {
        let (mut sender, connection) = http2::handshake(TokioExecutor::new(), stream).await?;
        tokio::spawn(connection);
        sender.send_request(request).await?
    } else {
        let (mut sender, connection) = http1::handshake(stream).await?;
        tokio::spawn(connection);
        sender.send_request(request).await?
    };
    Ok(response.into_body().collect().await?.to_bytes())
}

fn start_secured(stack: Value, authority: &Authority, security: &str) -> Service {
    let files = authority.files(security == "mtls");
    let stack = with(stack, "security", security);
    Service::start(&stack, json!({"tls": files, "socket": {"writes": "split"}}))
}

#[test]
fn http_goes_over_tls_by_the_protocol_of_the_stack() {
    let authority = Authority::new("alpn");
    for (stack, name, two) in [
        (rest("text"), "http/1.1", false),
        (rest2("text"), "h2", true),
        (grpc(), "h2", true),
    ] {
        let service = start_secured(stack, &authority, "tls");
        assert_eq!(service.ready["set"]["security"], "tls");
        assert_eq!(service.libraries("tls"), ["rustls"]);
        block_on(async {
            let client = authority.client(None, &[name, "other"]);
            let stream = connect(&service, &client).await.expect("a handshake");
            assert_eq!(stream.get_ref().1.alpn_protocol(), Some(name.as_bytes()));
            let hello = "https://localhost/transfer/hello";
            let method = "https://localhost/wirelab.transfer.v1.Transfer/Hello";
            let (request, body) = if service.libraries("server").contains(&"tonic") {
                let request = Request::post(method).header("content-type", "application/grpc");
                (request, &[0; 5][..])
            } else {
                (Request::get(hello).header("host", "localhost"), &[][..])
            };
            let reply = call(stream, two, request, body).await.expect("a reply");
            assert!(reply.ends_with(b"Hello, wirelab"), "{name}: {reply:?}");
            let other = authority.client(None, &["spdy/3"]);
            assert!(
                connect(&service, &other).await.is_err(),
                "another protocol was agreed on"
            );
        });
    }
}

#[test]
fn a_large_text_arrives_whole() {
    let authority = Authority::new("large");
    let files = json!({"tls": authority.files(false), "store": {"hello_bytes": 3_000_000}});
    let service = Service::start(&with(rest("text"), "security", "tls"), files);
    let reply = block_on(async {
        let stream = connect(&service, &authority.client(None, &[]))
            .await
            .unwrap();
        let request = Request::get("/transfer/hello").header("host", "localhost");
        call(stream, false, request, b"").await.unwrap()
    });
    assert!(reply == wirelab_contract::texts::text(3_000_000));
}

/// Sends bytes and reads what comes, until there are as many.
async fn say(mut stream: TlsStream<TcpStream>, bytes: &[u8], count: usize) -> Vec<u8> {
    stream.write_all(bytes).await.expect("it reads");
    let mut reply = vec![0; count];
    stream.read_exact(&mut reply).await.expect("a reply");
    reply
}

#[test]
fn other_bindings_go_over_tls_too() {
    let authority = Authority::new("others");
    let envelope = "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body>\
                    <HelloRequest xmlns='urn:wirelab:transfer:v1'/></e:Body></e:Envelope>";
    let posted = format!(
        "POST /transfer/soap HTTP/1.1\r\nhost: x\r\ncontent-type: text/xml\r\nsoapaction: \
         \"urn:wirelab:transfer:v1#Hello\"\r\ncontent-length: {}\r\n\r\n{envelope}",
        envelope.len()
    );
    let framed = format!("{}\n{envelope}", envelope.len());
    let garbage = "GIOP???? and so on, by no means a message".to_owned();
    for (stack, request, begin) in [
        (soap("soap-literal"), posted, &b"HTTP/1.1 200 OK\r\n"[..]),
        (raw("soap-literal"), framed, b"2"),
        (iiop(), garbage, b"GIOP\x01\x02\x00\x06"),
    ] {
        let service = start_secured(stack, &authority, "tls");
        let reply = block_on(async {
            let stream = connect(&service, &authority.client(None, &[]))
                .await
                .unwrap();
            say(stream, request.as_bytes(), begin.len()).await
        });
        assert_eq!(reply, begin, "{request}");
    }
}

#[test]
fn a_feed_goes_over_websocket_and_tls_to_an_orderly_end() {
    let authority = Authority::new("websocket");
    let mut stack = json!({"binding": "websocket", "codec": "json", "transport": "http/1.1"});
    stack["security"] = "tls".into();
    let files = json!({"contract": "stream", "tls": authority.files(false)});
    let service = Service::start(&stack, files);
    block_on(async {
        let client = authority.client(None, &["http/1.1"]);
        let stream = connect(&service, &client).await.expect("a handshake");
        let (mut socket, _) = client_async("wss://localhost/stream/feed", stream)
            .await
            .unwrap();
        let request = json!({"count": 100, "bytes": 1000, "gap_us": 1000, "pattern": "bursts"});
        socket
            .send(Message::text(request.to_string()))
            .await
            .unwrap();
        let mut items = 0;
        while socket.next().await.expect("an end").unwrap() != Message::text("") {
            items += 1;
        }
        assert_eq!(items, 100);
        socket.close(None).await.unwrap();
        // Without close_notify (RFC 8446 section 6.1) this would be an error.
        while let Some(message) = socket.next().await {
            message.unwrap();
        }
    });
}

#[test]
fn with_mtls_clients_must_show_a_certificate_of_the_authority() {
    let (authority, foreign) = (Authority::new("mtls"), Authority::new("foreign"));
    for stack in [rest("text"), rest2("text")] {
        let two = stack["transport"] == "http/2";
        let service = start_secured(stack, &authority, "mtls");
        let ask = async |client: TlsConnector| {
            let stream = connect(&service, &client)
                .await
                .map_err(|error| error.to_string())?;
            let request = Request::get("https://localhost/transfer/hello").header("host", "x");
            let reply = call(stream, two, request, b"").await;
            reply.map_err(|error| error.to_string())
        };
        block_on(async {
            let reply = ask(authority.client(Some(&authority), &[])).await;
            assert_eq!(reply.as_deref(), Ok(&b"Hello, wirelab"[..]));
            assert!(
                ask(authority.client(None, &[])).await.is_err(),
                "no certificate was needed"
            );
            let client = authority.client(Some(&foreign), &[]);
            assert!(
                ask(client).await.is_err(),
                "a certificate of a foreign authority was accepted"
            );
        });
        assert_eq!(
            service.metric("wirelab_calls_total{operation=\"Hello\"}"),
            1.0
        );
    }
}

#[test]
fn bytes_that_are_not_a_handshake_end_their_connection_and_nothing_else() {
    let authority = Authority::new("garbage");
    let service = start_secured(rest("text"), &authority, "tls");
    for bytes in [
        &b"GET /transfer/hello HTTP/1.1\r\nhost: x\r\n\r\n"[..],
        &[0x16; 600],
    ] {
        let reply = service.exchange(bytes);
        assert!(!reply.starts_with(b"HTTP/"), "{reply:?}");
    }
    // One that never speaks does not keep others from being served.
    let _silent = service.connect();
    block_on(async {
        let stream = connect(&service, &authority.client(None, &[]))
            .await
            .unwrap();
        let request = Request::get("/transfer/hello").header("host", "localhost");
        let reply = call(stream, false, request, b"").await.unwrap();
        assert_eq!(reply, "Hello, wirelab");
    });
}

#[test]
fn files_that_cannot_be_used_are_refused_by_name() {
    let authority = Authority::new("files");
    let good = authority.files(true);
    let (_, other_key) = authority.sign();
    let empty = authority.file("empty.pem", "");
    let text = authority.file("text.pem", "-----BEGIN CERTIFICATE-----\n???\n");
    let other = authority.file("other.key", &other_key);
    for (option, file) in [
        ("certificate", Value::Null),
        ("certificate", empty.clone().into()),
        ("certificate", text.into()),
        ("certificate", "/nowhere/at/all".into()),
        ("key", Value::Null),
        ("key", empty.clone().into()),
        ("key", other.into()),
        ("client_ca", Value::Null),
        ("client_ca", empty.into()),
    ] {
        let mut files = good.clone();
        files[option] = file;
        let stack = with(rest("text"), "security", "mtls");
        let mut process = Process::start(&config(&stack, json!({"tls": files})));
        let line = process.line();
        let answer: Value = serde_json::from_str(&line).expect(&line);
        assert_eq!(
            answer["refused"]["option"],
            format!("tls.{option}"),
            "{line}"
        );
    }
}
