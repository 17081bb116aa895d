//! iproute2 through its commands.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::error::LinkError;
use crate::namespace::Namespace;
use crate::refusal::Refusal;

/// Runs `ip WORDS`.
pub(crate) fn ip(words: &[&str]) -> Result<(), LinkError> {
    run("ip", words).map(drop)
}

/// Runs `ip -n NAMESPACE WORDS`.
pub(crate) fn ip_in(namespace: &Namespace, words: &[&str]) -> Result<(), LinkError> {
    ip_in_reads(namespace, words).map(drop)
}

/// Runs `ip -n NAMESPACE WORDS` and gives what it printed.
pub(crate) fn ip_in_reads(namespace: &Namespace, words: &[&str]) -> Result<String, LinkError> {
    run("ip", &[&["-n", namespace.name()], words].concat())
}

/// Runs `tc -n NAMESPACE WORDS` and gives what it printed.
pub(crate) fn tc_in(namespace: &Namespace, words: &[&str]) -> Result<String, LinkError> {
    run("tc", &[&["-n", namespace.name()], words].concat())
}

/// In a process group of its own: a Ctrl-C for us must not end a command that
/// cleans up.
fn run(program: &str, words: &[&str]) -> Result<String, LinkError> {
    let doing = || format!("{program} {}", words.join(" "));
    let output = Command::new(program).args(words).process_group(0).output();
    let output = output.map_err(|error| missing(program, error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(LinkError::while_(doing())(io::Error::other(said)))
}

fn missing(program: &str, error: io::Error) -> LinkError {
    if error.kind() != io::ErrorKind::NotFound {
        return LinkError::while_(program)(error);
    }
    Refusal::new(
        "driver",
        format!("the command {program} is missing"),
        "install iproute2 (apt-get install iproute2), or use link loopback",
    )
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_is_missing_is_refused_with_its_package() {
        let error = run("wirelab-no-such-command", &[]).unwrap_err();
        assert!(
            matches!(error, LinkError::Refused(refusal) if refusal.remedy.contains("iproute2"))
        );
    }

    #[test]
    fn a_command_that_fails_tells_what_it_said() {
        let error = run("sh", &["-c", "echo no such thing >&2; false"]).unwrap_err();
        assert!(error.to_string().ends_with(": no such thing"), "{error}");
    }
}
