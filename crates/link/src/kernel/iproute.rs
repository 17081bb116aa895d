//! iproute2 through its commands ip(8) and tc(8).

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use wirelab_contract::refusal::Refusal;

use crate::error::LinkError;

pub(crate) fn ip(arguments: &[&str]) -> Result<(), LinkError> {
    run("ip", arguments).map(drop)
}

pub(crate) fn ip_in(namespace: &str, arguments: &[&str]) -> Result<(), LinkError> {
    ip_output(namespace, arguments).map(drop)
}

pub(crate) fn ip_output(namespace: &str, arguments: &[&str]) -> Result<String, LinkError> {
    run("ip", &[&["-n", namespace], arguments].concat())
}

pub(crate) fn tc_in(namespace: &str, arguments: &[&str]) -> Result<String, LinkError> {
    run("tc", &[&["-n", namespace], arguments].concat())
}

/// In a process group of its own: Ctrl-C must not end a command that cleans up.
fn run(program: &str, arguments: &[&str]) -> Result<String, LinkError> {
    let doing = || format!("{program} {}", arguments.join(" "));
    let output = Command::new(program)
        .args(arguments)
        .process_group(0)
        .output();
    let output = output.map_err(|error| missing(program, error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(LinkError::during(doing())(io::Error::other(stderr)))
}

fn missing(program: &str, error: io::Error) -> LinkError {
    if error.kind() != io::ErrorKind::NotFound {
        return LinkError::during(program)(error);
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
    fn the_error_of_a_failed_command_is_its_stderr() {
        let error = run("sh", &["-c", "echo no such thing >&2; false"]).unwrap_err();
        assert!(error.to_string().ends_with(": no such thing"), "{error}");
    }
}
