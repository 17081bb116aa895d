//! What was expected and what was found, as texts.

/// Characters of a value that a finding shows.
pub(crate) const EXCERPT: usize = 160;

/// What was expected, and what was found.
pub(crate) type Difference = (String, String);

/// Two texts are the same, or both are shown.
pub(crate) fn same(expected: &str, found: &str) -> Result<(), Difference> {
    match expected == found {
        true => Ok(()),
        false => Err((excerpt(expected), excerpt(found))),
    }
}

/// The beginning of a long text.
pub(crate) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
