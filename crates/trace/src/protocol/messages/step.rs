//! What the next bytes of a stream are.

/// What bytes are to the message under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Of none: control frames, comments.
    Between,
    /// What frames it.
    Head,
    /// Its content. The key by which it is masked, and the place in it.
    Body(Option<([u8; 4], usize)>),
}

/// The next bytes of a stream: at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) used: usize,
    pub(super) role: Role,
    pub(super) end: Option<End>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The message is complete.
    Message,
    /// What was under way was not one.
    Nothing,
}

impl Step {
    pub(super) fn between(used: usize) -> Step {
        Step {
            used,
            role: Role::Between,
            end: None,
        }
    }
}
