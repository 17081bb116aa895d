//! Traffic over a link: paced echoes, one TCP stream, small packets.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use wirelab_link::Link;

/// Payload of an IP packet of 84 bytes.
// 20 bytes of IPv4 and 8 of UDP come before it.
const PAYLOAD: usize = 56;

fn parse_address(address: &str) -> io::Result<SocketAddr> {
    let address = address.parse().map_err(io::Error::other)?;
    Ok(SocketAddr::new(address, 0))
}

/// A connected pair of UDP sockets, client and server, whose reads end when nothing
/// can be under way.
fn sockets(link: &Link) -> io::Result<(UdpSocket, UdpSocket)> {
    let ready = link.ready();
    let client = link.run_in_client(|| UdpSocket::bind(parse_address(&ready.client.address)?))?;
    let server = link.run_in_server(|| UdpSocket::bind(parse_address(&ready.server.address)?))?;
    client.connect(server.local_addr()?)?;
    server.connect(client.local_addr()?)?;
    let silence = Duration::from_millis(300) + Duration::from_secs_f64(ready.nominal.rtt_ms / 1e3);
    for socket in [&client, &server] {
        socket.set_read_timeout(Some(silence))?;
    }
    Ok((client, server))
}

/// 99th percentile of the round trips of `count` echoes at a rate,
/// milliseconds. An echo that never came counts as an hour.
pub fn echo_p99_ms(link: &Link, rate_per_s: f64, count: usize) -> io::Result<f64> {
    let (client, server) = sockets(link)?;
    let start = Instant::now();
    let mut ms = thread::scope(|scope| {
        scope.spawn(|| echo(&server));
        let back = scope.spawn(|| collect(&client, start, count));
        for number in 0..count {
            let due = Duration::from_secs_f64(number as f64 / rate_per_s);
            // Late sends go out at once: the stamp is the real time of sending.
            thread::sleep(due.saturating_sub(start.elapsed()));
            let mut probe = [0; PAYLOAD];
            probe[..8].copy_from_slice(&(start.elapsed().as_nanos() as u64).to_be_bytes());
            client.send(&probe)?;
        }
        back.join()
            .map_err(|_| io::Error::other("the collector panicked"))
    })?;
    ms.resize(count, 3.6e6);
    ms.sort_by(f64::total_cmp);
    Ok(ms[count * 99 / 100])
}

/// Sends back until silence.
fn echo(socket: &UdpSocket) {
    let mut probe = [0; PAYLOAD];
    while let Ok(length) = socket.recv(&mut probe) {
        if socket.send(&probe[..length]).is_err() {
            return;
        }
    }
}

fn collect(socket: &UdpSocket, start: Instant, count: usize) -> Vec<f64> {
    let mut ms = Vec::with_capacity(count);
    let mut probe = [0; PAYLOAD];
    while ms.len() < count && socket.recv(&mut probe).is_ok() {
        // Both ends are in this process, so that one clock stamps both.
        let sent = probe
            .first_chunk()
            .map_or(0, |bytes| u64::from_be_bytes(*bytes));
        ms.push((start.elapsed().as_nanos() as u64 - sent) as f64 / 1e6);
    }
    ms
}

/// What one TCP connection brings from client to server, Gbit/s of payload.
pub fn tcp_gbit(link: &Link, seconds: f64) -> io::Result<f64> {
    let ready = link.ready();
    let listener =
        link.run_in_server(|| TcpListener::bind(parse_address(&ready.server.address)?))?;
    let address = listener.local_addr()?;
    let mut client = link.run_in_client(|| TcpStream::connect(address))?;
    let (mut server, _) = listener.accept()?;
    thread::scope(|scope| {
        let sink = scope.spawn(move || drain(&mut server));
        let chunk = vec![0; 256 << 10];
        let start = Instant::now();
        while start.elapsed().as_secs_f64() < seconds {
            client.write_all(&chunk)?;
        }
        // Ends the stream, so that the sink's read returns 0.
        drop(client);
        let (bytes, took) = sink
            .join()
            .map_err(|_| io::Error::other("the sink panicked"))??;
        Ok(bytes as f64 * 8.0 / took.as_secs_f64() / 1e9)
    })
}

fn drain(socket: &mut TcpStream) -> io::Result<(usize, Duration)> {
    let mut chunk = vec![0; 256 << 10];
    let (mut bytes, start) = (0, Instant::now());
    loop {
        match socket.read(&mut chunk)? {
            0 => return Ok((bytes, start.elapsed())),
            length => bytes += length,
        }
    }
}

/// Packets of 84 bytes that the emulator carried to the other side, both
/// directions together, per second, while both ends send all they can.
pub fn udp_packets_per_s(link: &Link, seconds: f64) -> io::Result<f64> {
    let (client, server) = sockets(link)?;
    let report = || link.report().map_err(io::Error::other);
    let before = report()?;
    thread::scope(|scope| {
        for socket in [&client, &server] {
            scope.spawn(move || {
                let start = Instant::now();
                while start.elapsed().as_secs_f64() < seconds {
                    // A full queue refuses: that is the point of a flood.
                    let _ = socket.send(&[0; PAYLOAD]);
                }
            });
        }
    });
    let after = report()?;
    let carried = after.packets.forward + after.packets.backward
        - before.packets.forward
        - before.packets.backward;
    Ok(carried as f64 / (after.seconds - before.seconds))
}
