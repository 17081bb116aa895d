//! What the kernel lets into the ring: classic BPF (filter.rst of the Linux
//! documentation).

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::packet::link_layer::LinkType;
use crate::protocol::dns;

/// Where a test leads; resolved when the program is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum To {
    Next,
    Ipv6,
    Accept,
    Drop,
}

struct Step {
    code: u32,
    value: u32,
    yes: To,
    no: To,
}

const LOAD_HALF: u32 = libc::BPF_LD | libc::BPF_H | libc::BPF_ABS;
const LOAD_BYTE: u32 = libc::BPF_LD | libc::BPF_B | libc::BPF_ABS;
/// Behind the IPv4 header, whose length is in X.
const LOAD_HALF_BEHIND: u32 = libc::BPF_LD | libc::BPF_H | libc::BPF_IND;
const LOAD_HEADER_LENGTH: u32 = libc::BPF_LDX | libc::BPF_B | libc::BPF_MSH;
const AND: u32 = libc::BPF_ALU | libc::BPF_AND | libc::BPF_K;
const IS: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const HAS: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
const RETURN: u32 = libc::BPF_RET | libc::BPF_K;

const TCP: u32 = 6;
const UDP: u32 = 17;
/// Extension headers of IPv6: what is behind them is not looked at.
const EXTENSIONS: [u32; 5] = [0, 43, 44, 51, 60];

fn load(code: u32, value: u32) -> Step {
    Step {
        code,
        value,
        yes: To::Next,
        no: To::Next,
    }
}

fn test(code: u32, value: u32, yes: To, no: To) -> Step {
    Step {
        code,
        value,
        yes,
        no,
    }
}

/// TCP over IPv4 and IPv6, cut to `snap_bytes`: of a port if given, otherwise all of it, and the
/// lookups of names that connections wait for.
pub(super) fn accept_tcp(
    link_type: LinkType,
    port: Option<u16>,
    snap_bytes: u32,
) -> Vec<libc::sock_filter> {
    let (mut steps, ip_at) = versions(link_type);
    steps.extend(ipv4(ip_at, port));
    let ipv6_at = steps.len();
    steps.extend(ipv6(ip_at, port));
    assemble(&steps, ipv6_at, snap_bytes)
}

/// Lets no packet pass.
pub(super) fn reject_all() -> Vec<libc::sock_filter> {
    vec![instruction(RETURN, 0, 0, 0)]
}

/// Distinguishes IPv4, which comes next, from IPv6; and where their headers are.
fn versions(link_type: LinkType) -> (Vec<Step>, u32) {
    if link_type == LinkType::ETHERNET {
        let steps = vec![
            // The EtherType, behind two addresses of 6 bytes. The kernel removes VLAN tags
            // before the filter runs.
            load(LOAD_HALF, 12),
            test(IS, 0x86DD, To::Ipv6, To::Next),
            test(IS, 0x0800, To::Next, To::Drop),
        ];
        (steps, 14)
    } else {
        let steps = vec![
            // A raw IP packet: its version is in the upper four bits of the first byte.
            load(LOAD_BYTE, 0),
            load(AND, 0xF0),
            test(IS, 0x60, To::Ipv6, To::Next),
            test(IS, 0x40, To::Next, To::Drop),
        ];
        (steps, 0)
    }
}

fn ipv4(at: u32, port: Option<u16>) -> Vec<Step> {
    const PROTOCOL: u32 = 9;
    const FRAGMENT: u32 = 6;
    let mut steps = vec![load(LOAD_BYTE, at + PROTOCOL)];
    let port = protocols(port, &mut steps);
    steps.extend([
        // Only the first fragment has ports.
        load(LOAD_HALF, at + FRAGMENT),
        test(HAS, 0x1FFF, To::Drop, To::Next),
        // BPF_MSH loads 4 * (byte & 0x0F) into X: the IPv4 header length.
        load(LOAD_HEADER_LENGTH, at),
        load(LOAD_HALF_BEHIND, at),
        test(IS, port, To::Accept, To::Next),
        load(LOAD_HALF_BEHIND, at + 2),
        test(IS, port, To::Accept, To::Drop),
    ]);
    steps
}

fn ipv6(at: u32, port: Option<u16>) -> Vec<Step> {
    const NEXT_HEADER: u32 = 6;
    const HEADER: u32 = 40;
    let mut steps = vec![load(LOAD_BYTE, at + NEXT_HEADER)];
    // Classic BPF cannot jump backwards, so the chain of headers cannot be followed.
    // Such packets are kept whatever their port: rather too many than too few.
    steps.extend(EXTENSIONS.map(|number| test(IS, number, To::Accept, To::Next)));
    let port = protocols(port, &mut steps);
    steps.extend([
        load(LOAD_HALF, at + HEADER),
        test(IS, port, To::Accept, To::Next),
        load(LOAD_HALF, at + HEADER + 2),
        test(IS, port, To::Accept, To::Drop),
    ]);
    steps
}

/// Tests the number of the protocol, which is loaded; returns the port that decides next.
fn protocols(port: Option<u16>, steps: &mut Vec<Step>) -> u32 {
    if let Some(port) = port {
        steps.push(test(IS, TCP, To::Next, To::Drop));
        return u32::from(port);
    }
    steps.push(test(IS, TCP, To::Accept, To::Next));
    steps.push(test(IS, UDP, To::Next, To::Drop));
    u32::from(dns::PORT)
}

/// Adds both ends, and counts how far each test jumps.
fn assemble(steps: &[Step], ipv6_at: usize, snap_bytes: u32) -> Vec<libc::sock_filter> {
    let (accept_at, drop_at) = (steps.len(), steps.len() + 1);
    // Jumps count from the next instruction (filter.rst). 8 bits are enough: no program
    // here has more than 40 instructions.
    let jump = |from: usize, to: To| match to {
        To::Next => 0,
        To::Ipv6 => (ipv6_at - from - 1) as u8,
        To::Accept => (accept_at - from - 1) as u8,
        To::Drop => (drop_at - from - 1) as u8,
    };
    let numbered = steps.iter().enumerate();
    let mut program: Vec<_> = numbered
        .map(|(at, step)| instruction(step.code, jump(at, step.yes), jump(at, step.no), step.value))
        .collect();
    // A filter returns the number of bytes to keep, which sets the snap length; 0 drops
    // the packet.
    program.push(instruction(RETURN, 0, 0, snap_bytes));
    program.push(instruction(RETURN, 0, 0, 0));
    program
}

fn instruction(code: u32, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    }
}

/// Gives a socket its filter, in place of the one it had.
pub(super) fn attach(socket: BorrowedFd<'_>, program: &[libc::sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: program.len() as u16,
        filter: program.as_ptr().cast_mut(),
    };
    // SAFETY: the kernel copies `len` instructions from a slice of as many, and
    // does not write to it.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ATTACH_FILTER,
            (&raw const program).cast(),
            size_of_val(&program) as libc::socklen_t,
        )
    };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
