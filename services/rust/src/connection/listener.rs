//! Where a service listens, and how it accepts.

use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::sockopt::socket_recv_buffer_size;
use tokio::net::{TcpListener, TcpSocket, UnixListener, UnixStream};

use wirelab_contract::print_error;

use crate::connection::control::{Control, Gate};
use crate::connection::fault_io::{FaultIo, IoOptions};
use crate::connection::header_split::Splitter;
use crate::connection::plain_socket::PlainSocket;
use crate::connection::socket::Socket;
use crate::connection::tls::{self, TlsSocket};
use crate::documents::config::Stack;
use crate::documents::config::{ServiceConfig, SocketOptions, Writes};
use crate::metrics::Metrics;
use crate::refusal::Refusal;
use wirelab_stack::{EndOfMessage, Transport};

/// Connections that may wait to be accepted: 10,000 that come at once must
/// not be turned away while the kernel's own limit (somaxconn) allows it.
pub(crate) const BACKLOG: u32 = 4096;

/// Pause after an accept that failed for want of descriptors or memory. The
/// connection stays in the queue, so without a pause the loop would spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// A listening socket with the options of what it accepts.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: ListeningSocket,
    options: SocketOptions,
    stack: Stack,
    tls: Option<Arc<rustls::ServerConfig>>,
    gate: Option<Arc<Gate>>,
    metrics: Arc<Metrics>,
    /// The connection by which the service calls itself.
    own: Mutex<Option<UnixStream>>,
}

#[derive(Debug)]
enum ListeningSocket {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

/// Where calls may come from: loopback or a link, else a refusal of `listen`.
///
/// Links use 198.18.0.0/15, which nothing routes (RFC 2544, RFC 6890).
pub(crate) fn local(text: &str) -> Result<SocketAddr, Refusal> {
    match text.parse() {
        Ok(SocketAddr::V4(four)) if matches!(four.ip().octets(), [198, 18 | 19, ..]) => {
            Ok(SocketAddr::V4(four))
        }
        _ => loopback("listen", text),
    }
}

/// An address of the loopback interface, or a refusal of `option`.
pub(crate) fn loopback(option: &str, text: &str) -> Result<SocketAddr, Refusal> {
    let address: SocketAddr = text.parse().map_err(|_| {
        let message = format!("{text:?} is not an address");
        Refusal::new(
            option,
            message,
            "use 127.0.0.1:0, [::1]:0 or, to listen, unix:/path",
        )
    })?;
    if address.ip().is_loopback() {
        return Ok(address);
    }
    let message = format!("{address} is not an address of the loopback interface");
    Err(Refusal::new(
        option,
        message,
        "use 127.0.0.1, [::1] or, to listen, an address of a link (198.18.0.0/15): this service has no protection",
    ))
}

/// A TCP socket that listens on `address`.
pub(crate) fn listen_tcp(
    option: &str,
    address: SocketAddr,
    window: Option<u32>,
) -> Result<TcpListener, Refusal> {
    let refusal = |error: io::Error| unusable(option, &address.to_string(), &error);
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }
    .map_err(refusal)?;
    // A port in TIME_WAIT would otherwise be refused for a minute (socket(7)).
    socket.set_reuseaddr(true).map_err(refusal)?;
    if let Some(bytes) = window {
        // Before listen: the window scale is fixed in the SYN-ACK (tcp(7), RFC 7323).
        set_window(&socket, bytes)?;
    }
    socket.bind(address).map_err(refusal)?;
    socket.listen(BACKLOG).map_err(refusal)
}

/// The receive buffer that accepted sockets inherit, bytes. The kernel keeps twice what
/// is asked for, and keeps that within bounds of its own (socket(7)): another size than
/// was asked for is refused.
fn set_window(socket: &TcpSocket, bytes: u32) -> Result<(), Refusal> {
    let set = socket.set_recv_buffer_size(bytes);
    let kernel = set.and_then(|()| socket.recv_buffer_size());
    let message = match kernel {
        Ok(kernel) if u64::from(kernel) == 2 * u64::from(bytes) => return Ok(()),
        Ok(kernel) => format!("the kernel made {} bytes of {bytes}", kernel / 2),
        Err(error) => format!("the kernel refuses {bytes} bytes: {error}"),
    };
    let remedy =
        "choose a size between its smallest and net.core.rmem_max, or null for the kernel's";
    Err(Refusal::new("socket.tcp_window", message, remedy))
}

fn unusable(option: &str, address: &str, error: &io::Error) -> Refusal {
    let remedy = match error.kind() {
        io::ErrorKind::AddrInUse => "choose another port, or port 0 for a free one",
        io::ErrorKind::PermissionDenied => "choose a port from 1024 on, or a folder of your own",
        _ => "choose an address of this machine",
    };
    Refusal::new(
        option,
        format!("cannot listen on {address}: {error}"),
        remedy,
    )
}

/// A Unix socket at `path`; one that a dead process left there is replaced.
fn listen_unix(path: &Path) -> Result<UnixListener, Refusal> {
    let name = format!("unix:{}", path.display());
    // A path that is not a socket, or one that somebody serves, is never removed.
    let left_over = path
        .symlink_metadata()
        .is_ok_and(|found| found.file_type().is_socket())
        && std::os::unix::net::UnixStream::connect(path)
            .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
    if left_over {
        std::fs::remove_file(path).map_err(|error| unusable("listen", &name, &error))?;
    }
    UnixListener::bind(path).map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => {
            let message = format!("{name} exists and is in use");
            Refusal::new("listen", message, "choose another path")
        }
        _ => unusable("listen", &name, &error),
    })
}

impl Listener {
    /// Listens where `config` says. Connections stop at `gate`, if there is one.
    ///
    /// # Errors
    /// When the address cannot be had, or a file for TLS cannot be used.
    pub(crate) fn open(
        config: &ServiceConfig,
        gate: Option<Arc<Gate>>,
        metrics: Arc<Metrics>,
    ) -> Result<Self, Refusal> {
        let tls = tls::tls_config(config)?;
        let socket = match config.listen.strip_prefix("unix:") {
            Some(path) => ListeningSocket::Unix(listen_unix(Path::new(path))?, PathBuf::from(path)),
            None => {
                let address = local(&config.listen)?;
                ListeningSocket::Tcp(listen_tcp("listen", address, config.socket.tcp_window)?)
            }
        };
        Ok(Listener {
            socket,
            options: config.socket.clone(),
            stack: config.stack.clone(),
            tls,
            gate,
            metrics,
            own: Mutex::default(),
        })
    }

    /// A connection that is accepted next, without any security: with mtls
    /// the service has no certificate to show to itself.
    ///
    /// # Errors
    /// When the kernel has no pair of sockets.
    pub(crate) fn self_connection(&self) -> io::Result<UnixStream> {
        let (here, there) = UnixStream::pair()?;
        *self.own.lock().unwrap_or_else(PoisonError::into_inner) = Some(there);
        Ok(here)
    }

    /// Where it listens, with the port that it got.
    pub(crate) fn address(&self) -> io::Result<String> {
        match &self.socket {
            ListeningSocket::Tcp(listener) => Ok(listener.local_addr()?.to_string()),
            ListeningSocket::Unix(_, path) => Ok(format!("unix:{}", path.display())),
        }
    }

    /// The path of a Unix socket, to be removed at the end.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.socket {
            ListeningSocket::Tcp(_) => None,
            ListeningSocket::Unix(_, path) => Some(path),
        }
    }

    /// Nagle's algorithm on accepted sockets; none on a Unix socket.
    pub(crate) fn nagle(&self) -> Option<bool> {
        match &self.socket {
            ListeningSocket::Tcp(_) => Some(self.options.nagle),
            ListeningSocket::Unix(..) => None,
        }
    }

    /// `SO_RCVBUF` of accepted sockets in bytes, as the kernel has it: twice
    /// what was asked for (socket(7)). None when it was not asked for.
    pub(crate) fn receive_buffer(&self) -> io::Result<Option<u32>> {
        match (&self.socket, self.options.tcp_window) {
            (ListeningSocket::Tcp(listener), Some(_)) => {
                let bytes = socket_recv_buffer_size(listener)?;
                Ok(Some(u32::try_from(bytes).unwrap_or(u32::MAX)))
            }
            _ => Ok(None),
        }
    }

    /// The next connection. Errors are counted and outlived.
    pub(crate) async fn accept(&self) -> FaultIo {
        let mut logged = false;
        loop {
            match self.try_accept().await {
                Ok(connection) => return connection,
                Err(error) => {
                    self.metrics.accept_error();
                    if is_exhausted(&error) {
                        if !std::mem::replace(&mut logged, true) {
                            print_error!("wirelab: cannot accept for now: {error}");
                        }
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                }
            }
        }
    }

    async fn try_accept(&self) -> io::Result<FaultIo> {
        // The service's call to itself bypasses TLS and is not counted as a connection.
        let own = self
            .own
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(stream) = own {
            let socket = Socket::Plain(PlainSocket::Unix(stream));
            return Ok(FaultIo::new(socket, self.io_options()));
        }
        let socket = match &self.socket {
            ListeningSocket::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(!self.options.nagle)?;
                PlainSocket::Tcp(stream)
            }
            ListeningSocket::Unix(listener, _) => PlainSocket::Unix(listener.accept().await?.0),
        };
        let socket = match &self.tls {
            Some(config) => Socket::Tls(TlsSocket::new(config, socket)),
            // Without TLS no wrapper: its cost must not be in the measurement of plain
            // sockets.
            None => Socket::Plain(socket),
        };
        if let Some(on) = self.options.quickack {
            socket.set_quickack(on)?;
        }
        // Last, so that a connection counts once, when everything asked for is set.
        self.metrics.connection();
        Ok(FaultIo::new(socket, self.io_options()))
    }

    fn io_options(&self) -> IoOptions {
        let until_close = self.stack.end_of_message == EndOfMessage::UntilClose;
        let splits = self.options.writes == Writes::Split;
        let delay = self.stack.close_delay_ms;
        IoOptions {
            quickack: self.options.quickack,
            splitter: splits.then(|| Splitter::of(self.stack.transport)).flatten(),
            relabel: until_close && self.stack.transport == Transport::Http11,
            close_delay: (delay > 0).then_some(Duration::from_millis(delay)),
            control: self.gate.as_ref().map(Control::new).unwrap_or_default(),
        }
    }
}

/// True when accepting again at once would fail again (accept(2)).
fn is_exhausted(error: &io::Error) -> bool {
    // Limits of the process, of the system and of kernel memory; others concern one connection.
    let exhausted = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    Errno::from_io_error(error).is_some_and(|code| exhausted.contains(&code))
}
