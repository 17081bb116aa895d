//! The comments of a `.proto`, which become the documentation of every schema.

use std::collections::HashMap;

use prost_reflect::FileDescriptor;

/// The field number of `syntax` in `FileDescriptorProto` (descriptor.proto): the
/// comment before it is the file's.
const SYNTAX: i32 = 12;

/// Comments by the path of the element after them.
pub(crate) struct Comments(HashMap<Vec<i32>, String>);

impl Comments {
    pub(crate) fn of(file: &FileDescriptor) -> Self {
        let info = file.file_descriptor_proto().source_code_info.as_ref();
        let locations = info
            .map(|info| info.location.as_slice())
            .unwrap_or_default();
        let reported = locations.iter().filter_map(|location| {
            let text = location.leading_comments.as_deref()?;
            Some((location.path.clone(), plain(text)))
        });
        Comments(reported.collect())
    }

    pub(crate) fn of_file(&self) -> String {
        self.find(&[SYNTAX])
    }

    /// The comment before the definition at this path; empty when there is none.
    pub(crate) fn find(&self, path: &[i32]) -> String {
        self.0.get(path).cloned().unwrap_or_default()
    }
}

/// Lines without the blank after `//`.
fn plain(comment: &str) -> String {
    let lines: Vec<&str> = comment.lines().map(str::trim).collect();
    lines.join("\n").trim().to_owned()
}
