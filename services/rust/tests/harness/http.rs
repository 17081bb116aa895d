//! The client of hyper.

use axum::body::Bytes;
use axum::http::{HeaderMap, Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;

use super::Service;

impl Service {
    /// A connection of hyper's client.
    pub async fn http(&self) -> Http {
        let stream = tokio::net::TcpStream::connect(self.address())
            .await
            .expect("it listens");
        let stream = TokioIo::new(stream);
        if self.http2 {
            let handshake = http2::handshake(TokioExecutor::new(), stream).await;
            let (sender, connection) = handshake.expect("it speaks HTTP/2");
            tokio::spawn(connection);
            Http::Two(sender)
        } else {
            let (sender, connection) = http1::handshake(stream).await.expect("it accepts");
            tokio::spawn(connection);
            Http::One(sender)
        }
    }
}

/// A connection of hyper's client.
pub enum Http {
    One(http1::SendRequest<Full<Bytes>>),
    Two(http2::SendRequest<Full<Bytes>>),
}

/// A complete reply.
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub trailers: Option<HeaderMap>,
}

impl Reply {
    pub fn text(&self) -> String {
        String::from_utf8(self.body.to_vec()).expect("text")
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .get(name)
            .map(|value| value.to_str().expect("ASCII"))
    }

    /// Hello's text in either codec.
    pub fn greeting(&self) -> String {
        if self.header("content-type") == Some("application/json") {
            self.json()["text"].as_str().expect("a text").to_owned()
        } else {
            self.text()
        }
    }
}

impl Http {
    pub async fn get(&mut self, path: &str) -> Result<Reply, hyper::Error> {
        self.send(Request::get(path), Bytes::new()).await
    }

    pub async fn post(
        &mut self,
        path: &str,
        body: impl Into<Bytes>,
    ) -> Result<Reply, hyper::Error> {
        let request = Request::post(path).header(header::CONTENT_TYPE, "application/json");
        self.send(request, body.into()).await
    }

    /// Sends a request and reads the whole reply.
    pub async fn send(
        &mut self,
        request: axum::http::request::Builder,
        body: Bytes,
    ) -> Result<Reply, hyper::Error> {
        let request = request.body(Full::new(body)).expect("a legal request");
        let (mut parts, body) = request.into_parts();
        let path = parts.uri.path().to_owned();
        let response = match self {
            Http::One(sender) => {
                parts
                    .headers
                    .insert(header::HOST, "localhost".parse().expect("a legal host"));
                sender
                    .send_request(Request::from_parts(parts, body))
                    .await?
            }
            Http::Two(sender) => {
                parts.uri = format!("http://localhost{path}")
                    .parse()
                    .expect("a legal URI");
                sender
                    .send_request(Request::from_parts(parts, body))
                    .await?
            }
        };
        let (parts, body) = response.into_parts();
        let whole = body.collect().await?;
        let trailers = whole.trailers().cloned();
        let body = whole.to_bytes();
        Ok(Reply {
            status: parts.status,
            headers: parts.headers,
            body,
            trailers,
        })
    }
}
