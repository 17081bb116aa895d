//! Where an object of CORBA is.

use wirelab_wire::giop::Ior;

use crate::fault;
use crate::record::result::Fault;
use crate::target::{Target, TargetError};

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
