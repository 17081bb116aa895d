//! Captured frames, as files hold them.

use super::error::Damage;
use crate::packet::link_layer::LinkType;

/// One captured frame.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// Its number in the capture, from 1.
    pub number: u64,
    /// When it was captured, nanoseconds since the Unix epoch.
    pub at_ns: u64,
    /// Its length on the wire, bytes, as far as the link type has it.
    pub wire_bytes: u32,
    /// How it begins.
    pub link_type: LinkType,
    /// What was captured of it: a prefix.
    pub data: &'a [u8],
}

pub(super) struct Frame<'a> {
    pub(super) at_ns: u64,
    pub(super) wire_bytes: u32,
    pub(super) link_type: LinkType,
    pub(super) data: &'a [u8],
}

pub(super) enum Step<'a> {
    Frame(Frame<'a>),
    End,
    Damaged(Damage),
}

/// Larger records are taken as damage, whatever the snap length of the file is, bytes.
pub(super) const CAPTURED_MAX: u32 = 16 << 20;
