//! JSON whose members stay in the order in which they were written.

use serde::ser::{Serialize, Serializer};

#[derive(Clone)]
pub(crate) enum Json {
    Bool(bool),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(crate) fn text(text: &str) -> Self {
        Json::Text(text.to_owned())
    }

    pub(crate) fn object<const N: usize>(members: [(&str, Json); N]) -> Self {
        Json::Object(members.map(|(name, value)| (name.to_owned(), value)).into())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Bool(value) => to.serialize_bool(*value),
            Json::Text(text) => to.serialize_str(text),
            Json::List(items) => to.collect_seq(items),
            Json::Object(members) => {
                to.collect_map(members.iter().map(|(name, value)| (name, value)))
            }
        }
    }
}
