//! The contracts by name.

use std::fmt;
use std::str::FromStr;

/// What a service does, whatever it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Contract {
    /// Messages that are moved, not computed with.
    Transfer,
    /// Accounts of mobile-phone subscribers.
    Charging,
    /// Half-hour slots of a year less a day.
    Calendar,
    /// Students allocated to teams of two, in memory or in a database.
    Records,
    /// Owners, pets and vets of a clinic: REST and gRPC only.
    Petclinic,
    /// Calls with many messages, each due at a known time: REST, SSE and gRPC only.
    Stream,
}

impl Contract {
    /// Every contract.
    pub const ALL: [Contract; 6] = [
        Contract::Transfer,
        Contract::Charging,
        Contract::Calendar,
        Contract::Records,
        Contract::Petclinic,
        Contract::Stream,
    ];

    /// The name: `transfer`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Contract::Transfer => "transfer",
            Contract::Charging => "charging",
            Contract::Calendar => "calendar",
            Contract::Records => "records",
            Contract::Petclinic => "petclinic",
            Contract::Stream => "stream",
        }
    }

    /// Name of the service and of its interface: `Transfer`.
    #[must_use]
    pub fn service(self) -> &'static str {
        match self {
            Contract::Transfer => "Transfer",
            Contract::Charging => "Charging",
            Contract::Calendar => "Calendar",
            Contract::Records => "Records",
            Contract::Petclinic => "Petclinic",
            Contract::Stream => "Stream",
        }
    }

    /// Whether its messages have a form in JSON and Protocol Buffers only, which REST and gRPC
    /// carry. Where messages are generic, a branch on this in a `const` block keeps the compiler
    /// from making code for forms that do not exist.
    #[must_use]
    pub const fn is_json_and_protobuf_only(self) -> bool {
        matches!(self, Contract::Petclinic | Contract::Stream)
    }

    /// The XML namespace: `urn:wirelab:transfer:v1`.
    #[must_use]
    pub fn namespace(self) -> &'static str {
        match self {
            Contract::Transfer => "urn:wirelab:transfer:v1",
            Contract::Charging => "urn:wirelab:charging:v1",
            Contract::Calendar => "urn:wirelab:calendar:v1",
            Contract::Records => "urn:wirelab:records:v1",
            Contract::Petclinic => "urn:wirelab:petclinic:v1",
            Contract::Stream => "urn:wirelab:stream:v1",
        }
    }
}

impl fmt::Display for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no contract has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown contract {0:?}; use transfer, charging, calendar, records, petclinic or stream")]
pub struct UnknownContract(pub String);

impl FromStr for Contract {
    type Err = UnknownContract;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Contract::ALL
            .into_iter()
            .find(|contract| contract.name() == name);
        found.ok_or_else(|| UnknownContract(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_contracts() {
        for contract in Contract::ALL {
            assert_eq!(contract.name().parse(), Ok(contract));
        }
        let unknown = "Transfer".parse::<Contract>().unwrap_err();
        assert!(unknown.to_string().contains("charging"), "{unknown}");
    }
}
