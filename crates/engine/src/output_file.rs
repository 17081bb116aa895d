//! Files that a process records into.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use wirelab_contract::refusal::Refusal;

/// What was measured is never overwritten, which is refused; a pipe or a device may be
/// there.
pub(crate) fn create(path: &Path) -> Result<io::Result<File>, Refusal> {
    // Not `exists`: /dev/null and pipes are legal targets.
    if path.is_file() {
        let message = format!("{} is there already", path.display());
        return Err(Refusal::new(
            "file",
            message,
            "use another name, or remove it",
        ));
    }
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        // A file was refused above; a device or a pipe has nothing to truncate.
        .truncate(false)
        // A pipe without a reader is refused, not waited for (open(2)).
        .custom_flags(libc::O_NONBLOCK)
        .open(path);
    Ok(file.and_then(make_blocking))
}

/// Lets writes wait for whoever reads a pipe.
fn make_blocking(file: File) -> io::Result<File> {
    rustix::io::ioctl_fionbio(&file, false)?;
    Ok(file)
}

/// The refusal of a file that cannot be written.
pub(crate) fn unwritable(path: &str, error: &io::Error) -> Refusal {
    let remedy = match error.kind() {
        ErrorKind::NotFound => "make its folder first",
        // ENXIO of open(2): O_NONBLOCK and O_WRONLY on a pipe without a reader.
        _ if error.raw_os_error() == Some(libc::ENXIO) => "begin to read the pipe first",
        _ => "use a file that can be written",
    };
    Refusal::new("file", format!("{path}: {error}"), remedy)
}

/// The disk is full, or the file as large as it may be.
pub(crate) fn is_out_of_room(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
    )
}
