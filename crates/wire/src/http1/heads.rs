//! Heads of requests, written once and remembered.

use std::sync::Arc;

use super::options::Options;
use super::request::write_head;
use crate::session::Request;

/// Different requests whose heads are remembered.
const HEADS_MAX: usize = 16;

/// The heads of one session's requests by [`Request::id`].
#[derive(Debug, Default)]
pub(super) struct Heads {
    known: Vec<(u32, Arc<[u8]>)>,
}

impl Heads {
    pub(super) fn of(&mut self, request: &Request, options: &Options) -> Arc<[u8]> {
        if let Some((_, head)) = self.known.iter().find(|(id, _)| *id == request.id) {
            return Arc::clone(head);
        }
        let head: Arc<[u8]> = write_head(request, options).into();
        if self.known.len() == HEADS_MAX {
            // Lengths of bodies that carry numbers move on as these grow.
            self.known.remove(0);
        }
        self.known.push((request.id, Arc::clone(&head)));
        head
    }
}
