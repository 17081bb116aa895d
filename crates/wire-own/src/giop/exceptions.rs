//! Exceptions in the bodies of replies (CORBA 3.3 part 2, section 9.4.3.2).

use crate::cdr::{self, ByteOrder, Error, Reader, Writer};

/// A user exception, as far as the contracts have any: by contracts/README.md
/// every one is an `ApplicationError`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserException {
    /// Repository id, `IDL:wirelab/charging_v1/ApplicationError:1.0`.
    pub id: String,
    /// The text of an `ApplicationError`; `None` of any other exception.
    pub message: Option<String>,
}

impl UserException {
    /// The repository id of a contract's `ApplicationError`.
    #[must_use]
    pub fn application_error_id(contract: &str) -> String {
        format!("IDL:wirelab/{contract}_v1/ApplicationError:1.0")
    }

    /// Reads the body of a reply with status `USER_EXCEPTION`.
    ///
    /// # Errors
    /// When it is not an exception, or an `ApplicationError` without its one field.
    pub fn parse(order: ByteOrder, body: &[u8]) -> Result<UserException, Error> {
        let mut reader = Reader::new(order, body, 0);
        let id = reader.string()?.to_owned();
        // Members of other exceptions are unknown here and stay unread.
        let message = if id.ends_with("/ApplicationError:1.0") {
            Some(cdr::from_reader(reader)?)
        } else {
            None
        };
        Ok(UserException { id, message })
    }

    /// Appends the body of a reply, aligned from its first byte on.
    ///
    /// # Errors
    /// When a text contains NUL.
    pub fn write(&self, order: ByteOrder, out: &mut Vec<u8>) -> Result<(), Error> {
        let mut writer = Writer::new(order, out, 0);
        writer.string(&self.id)?;
        if let Some(message) = &self.message {
            writer.string(message)?;
        }
        Ok(())
    }
}

/// Whether the operation had been completed when a system exception came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completed {
    /// It had.
    Yes,
    /// It had not been begun.
    No,
    /// Unknown.
    Maybe,
}

/// A system exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemException {
    /// Repository id, `IDL:omg.org/CORBA/OBJECT_NOT_EXIST:1.0`.
    pub id: String,
    /// What went wrong within that, by vendor.
    pub minor: u32,
    /// Whether the operation had been completed.
    pub completed: Completed,
}

impl SystemException {
    /// The standard exception `name`, as `OBJECT_NOT_EXIST`, raised before the
    /// operation was begun.
    #[must_use]
    pub fn named(name: &str) -> SystemException {
        SystemException {
            id: format!("IDL:omg.org/CORBA/{name}:1.0"),
            // OMG's minor codes have its vendor id 0x4f4d0 in the upper 20 bits; 0
            // means "not given".
            minor: 0,
            completed: Completed::No,
        }
    }

    /// The object has no such operation.
    #[must_use]
    pub fn bad_operation() -> SystemException {
        SystemException::named("BAD_OPERATION")
    }

    /// There is no such object.
    #[must_use]
    pub fn object_not_exist() -> SystemException {
        SystemException::named("OBJECT_NOT_EXIST")
    }

    /// The arguments could not be read.
    #[must_use]
    pub fn marshal() -> SystemException {
        SystemException::named("MARSHAL")
    }

    /// The name of a standard exception, `OBJECT_NOT_EXIST`; else the whole id.
    #[must_use]
    pub fn name(&self) -> &str {
        let standard = self.id.strip_prefix("IDL:omg.org/CORBA/");
        standard
            .and_then(|rest| rest.strip_suffix(":1.0"))
            .unwrap_or(&self.id)
    }

    /// Reads the body of a reply with status `SYSTEM_EXCEPTION`.
    ///
    /// # Errors
    /// When it is not an exception.
    pub fn parse(order: ByteOrder, body: &[u8]) -> Result<SystemException, Error> {
        let mut reader = Reader::new(order, body, 0);
        // The body begins at alignment 0: `Reader::new` above counts from its first
        // byte.
        let id = reader.string()?.to_owned();
        let minor = reader.ulong()?;
        // `COMPLETED_YES` is 0 and `COMPLETED_NO` is 1: the reverse of a boolean.
        let completed = match reader.ulong()? {
            0 => Completed::Yes,
            1 => Completed::No,
            2 => Completed::Maybe,
            _ => return Err(Error::Unsupported("a completion status above 2")),
        };
        reader.finish()?;
        Ok(SystemException {
            id,
            minor,
            completed,
        })
    }

    /// Appends the body of a reply, aligned from its first byte on.
    ///
    /// # Errors
    /// When the id contains NUL.
    pub fn write(&self, order: ByteOrder, out: &mut Vec<u8>) -> Result<(), Error> {
        let mut writer = Writer::new(order, out, 0);
        writer.string(&self.id)?;
        writer.ulong(self.minor);
        writer.ulong(self.completed as u32);
        Ok(())
    }
}
