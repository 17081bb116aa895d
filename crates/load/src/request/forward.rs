//! Where objects of CORBA are, and those that are elsewhere (CORBA 3.3 part 2, section
//! 9.4.3.2, LOCATION_FORWARD).

use wirelab_wire::giop::Ior;

use crate::call::fault;
use crate::call::result::Fault;
use crate::connection::session_factory::SessionFactory;
use crate::plan::target::{Target, TargetError};

/// How often one call may be sent elsewhere.
// CORBA names no bound, and two objects may forward to each other.
const HOPS_MAX: u8 = 8;

/// An address, and the object's key there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Object {
    host: String,
    port: u16,
    pub(crate) key: Vec<u8>,
}

impl Object {
    /// Reads `IOR:…` or `corbaloc:…`.
    ///
    /// # Errors
    /// When it is neither, or leads nowhere over TCP.
    pub(crate) fn parse(text: &str) -> Result<Object, Fault> {
        Object::read(text).map_err(|reason| {
            fault::plan(
                format!("object: {reason}"),
                "give the ior of the service's ready line, or corbaloc:iiop:1.2@127.0.0.1:PORT/KEY",
            )
        })
    }

    /// The same of a reference that a service gave.
    pub(crate) fn read(text: &str) -> Result<Object, String> {
        let ior = Ior::parse(text).map_err(|error| error.to_string())?;
        let profile = ior.iiop().map_err(|error| error.to_string())?;
        Ok(Object {
            host: profile.host.clone(),
            port: profile.port,
            key: profile.object_key.clone(),
        })
    }

    /// Where that is; other machines only with `any`.
    ///
    /// # Errors
    /// [`TargetError`], naming what was refused.
    pub(crate) fn target(&self, any: bool) -> Result<Target, TargetError> {
        // A profile holds an IPv6 address without brackets.
        let host = match self.host.contains(':') {
            true => format!("[{}]", self.host),
            false => self.host.clone(),
        };
        Target::parse(&format!("{host}:{}", self.port), any)
    }
}

/// Where a group's calls are to go from now on.
#[derive(Debug)]
pub(crate) struct Forward {
    /// Other machines are allowed.
    any_target: bool,
    /// Not followed yet: the address, and the object's key there.
    pub(crate) next: Option<(Target, Vec<u8>)>,
    /// Where calls went before they were first sent elsewhere.
    pub(crate) origin: Option<(Target, SessionFactory)>,
}

impl Forward {
    pub(crate) fn new(any_target: bool) -> Forward {
        Forward {
            any_target,
            next: None,
            origin: None,
        }
    }

    /// Notes where a service sent a call, which had been sent on `hops` times before.
    ///
    /// # Errors
    /// In words, when the call must not be made there.
    pub(crate) fn follow(&mut self, ior: &str, hops: u8) -> Result<(), String> {
        if hops >= HOPS_MAX {
            return Err(format!(
                "forwarded (LOCATION_FORWARD) more than {HOPS_MAX} times"
            ));
        }
        let object =
            Object::read(ior).map_err(|error| format!("forwarded (LOCATION_FORWARD): {error}"))?;
        let target = object.target(self.any_target);
        let target = target.map_err(|error| format!("forwarded (LOCATION_FORWARD): {error}"))?;
        // Only noted: connections are being read now, and are replaced after that.
        self.next = Some((target, object.key));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use wirelab_wire::giop::Ior;

    use super::*;

    fn ior(host: &str) -> String {
        Ior::new("", host, 9, b"key").to_text().unwrap()
    }

    #[test]
    fn a_call_is_sent_on_a_bounded_number_of_times() {
        let mut forward = Forward::new(false);
        assert_eq!(forward.follow(&ior("::1"), HOPS_MAX - 1), Ok(()));
        let expected = Target::parse("[::1]:9", false).unwrap();
        assert_eq!(forward.next.take(), Some((expected, b"key".to_vec())));
        let reason = forward.follow(&ior("127.0.0.1"), HOPS_MAX).unwrap_err();
        assert!(reason.contains("more than 8 times"), "{reason}");
        assert_eq!(forward.next, None);
    }

    #[test]
    fn no_service_sends_calls_to_other_machines() {
        let mut forward = Forward::new(false);
        let reason = forward.follow(&ior("192.0.2.1"), 0).unwrap_err();
        assert!(reason.contains("192.0.2.1:9 is not a loopback"), "{reason}");
        assert!(forward.follow("IOR:nonsense", 0).is_err());
        assert_eq!(Forward::new(true).follow(&ior("192.0.2.1"), 0), Ok(()));
    }
}
