//! The two directions of a link, and a value for each.

use std::fmt;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of a link's two directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// Client to server.
    Forward,
    /// Server to client.
    Backward,
}

impl fmt::Display for Way {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Way::Forward => "forward",
            Way::Backward => "backward",
        })
    }
}

/// One value per direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Ways<T> {
    /// Client to server.
    pub forward: T,
    /// Server to client.
    pub backward: T,
}

impl<T> Ways<T> {
    /// Both values from one function.
    pub(crate) fn each(of: impl Fn(Way) -> T) -> Self {
        Ways {
            forward: of(Way::Forward),
            backward: of(Way::Backward),
        }
    }

    /// The value of one direction.
    pub(crate) fn of_mut(&mut self, way: Way) -> &mut T {
        match way {
            Way::Forward => &mut self.forward,
            Way::Backward => &mut self.backward,
        }
    }
}
