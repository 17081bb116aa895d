//! A charging service in JSON over HTTP/1.1, by the canonical model, that
//! notes its requests.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use wirelab_contract::{Contract, Operation, State, Store};

use crate::support;

/// Everything that was called: the operation and its request.
pub type Requests = Arc<Mutex<Vec<(String, Value)>>>;

/// The first whole request in `input`: its path, its body, its bytes.
fn request(input: &[u8]) -> Option<(String, Vec<u8>, usize)> {
    let head_end = input.windows(4).position(|w| w == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&input[..head_end]).into_owned();
    let path = head.split(' ').nth(1)?.to_owned();
    let length = head
        .lines()
        // Exactly as the engine writes it: this is not a parser of HTTP.
        .find_map(|line| line.strip_prefix("Content-Length: "));
    let length: usize = length.map_or(0, |length| length.parse().expect("a number"));
    let body = input.get(head_end..head_end + length)?.to_vec();
    Some((path, body, head_end + length))
}

/// Starts the service; `corrupt` may change a reply's status and body, given
/// the operation and how often it has been called, from 1.
pub fn serve(
    corrupt: impl Fn(&str, usize, &mut u16, &mut Vec<u8>) + Send + Sync + 'static,
) -> (String, Requests) {
    let requests = Requests::default();
    let notes = Arc::clone(&requests);
    let state = State::new(&Store::default());
    let (address, _) =
        support::server(move |stream, _| answer_requests(stream, &state, &notes, &corrupt));
    (address, requests)
}

fn answer_requests(
    mut stream: TcpStream,
    state: &State,
    requests: &Requests,
    corrupt: &(impl Fn(&str, usize, &mut u16, &mut Vec<u8>) + Send + Sync),
) {
    let (mut input, mut buffer) = (Vec::new(), [0u8; 4096]);
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        input.extend_from_slice(&buffer[..length]);
        while let Some((path, body, bytes)) = request(&input) {
            input.drain(..bytes);
            let mut own = Operation::all_of(Contract::Charging);
            let operation = own.find(|o| o.rest().is_some_and(|(_, own)| own == path));
            let operation = operation.expect("a path of charging");
            let number = note(requests, operation.name(), &body);
            let body = serde_json::from_slice(&body).expect("JSON");
            let answer = operation.answer_object(state, body);
            let answer = answer.expect("charging has no streams");
            let (mut status, mut reply) = match answer.expect("a request") {
                Ok(reply) => (
                    200,
                    reply
                        .to_object()
                        .expect("one message")
                        .to_string()
                        .into_bytes(),
                ),
                Err(error) => (400, format!("{{\"error\":\"{error}\"}}").into_bytes()),
            };
            corrupt(operation.name(), number, &mut status, &mut reply);
            let head = format!(
                "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                reply.len()
            );
            reply.splice(..0, head.into_bytes());
            if stream.write_all(&reply).is_err() {
                return;
            }
        }
    }
}

fn note(requests: &Requests, name: &str, body: &[u8]) -> usize {
    let body = serde_json::from_slice(body).expect("JSON");
    let mut requests = requests.lock().expect("no test thread panicked");
    requests.push((name.to_owned(), body));
    requests.iter().filter(|(other, _)| other == name).count()
}
