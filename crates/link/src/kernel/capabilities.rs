//! The capabilities(7) that a process needs to make a link.

use std::fs;

use wirelab_contract::refusal::Refusal;

/// Bits of capabilities(7).
// NET_ADMIN makes interfaces, routes and TUN devices; SYS_ADMIN makes and enters namespaces
// (setns(2)) and mounts their names.
const CAP_NET_ADMIN: u32 = 12;
const CAP_SYS_ADMIN: u32 = 21;

pub(crate) const REMEDY: &str = "run as root, or use link loopback";

pub(crate) fn check_namespaces() -> Result<(), Refusal> {
    // Without /proc the set is taken for empty, and the link is refused.
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    check_capabilities(effective(&status))
}

fn check_capabilities(effective: u64) -> Result<(), Refusal> {
    let needed = [
        ("CAP_NET_ADMIN", CAP_NET_ADMIN),
        ("CAP_SYS_ADMIN", CAP_SYS_ADMIN),
    ];
    let missing: Vec<&str> = needed
        .iter()
        .filter(|(_, bit)| effective & (1 << bit) == 0)
        .map(|(name, _)| *name)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let missing = missing.join(" and ");
    Err(Refusal::new(
        "profile",
        format!("a link needs network namespaces, and this process has no {missing}"),
        REMEDY,
    ))
}

/// The effective set, from /proc/self/status (proc(5)).
fn effective(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let refusal = check_capabilities(1 << CAP_NET_ADMIN).unwrap_err();
        assert!(
            refusal.message.ends_with("has no CAP_SYS_ADMIN"),
            "{refusal}"
        );
        let refusal = check_capabilities(0).unwrap_err();
        assert!(
            refusal.message.contains("CAP_NET_ADMIN and CAP_SYS_ADMIN"),
            "{refusal}"
        );
        assert!(refusal.remedy.contains("loopback"));
        assert_eq!(check_capabilities(u64::MAX), Ok(()));
    }

    #[test]
    fn the_effective_set_is_read() {
        let status = "CapPrm:\t0000000000000000\nCapEff:\t000001ffffffffff\n";
        assert_eq!(effective(status), 0x1ff_ffff_ffff);
        assert_eq!(effective(""), 0);
    }
}
