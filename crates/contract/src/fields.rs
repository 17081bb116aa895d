//! Messages as objects of JSON: fields by their names in the contract, for values from rows of
//! data and values that go from a reply into a later request.

use serde_json::Value;

use crate::call::{Call, Reply};
use crate::error::ApplicationError;
use crate::message::{Message, MessageMapper, MessageVisitor};
use crate::operation::Operation;
use crate::ops::{Unary, UnaryVisitor};
use crate::state::State;

/// A field that cannot take a value, or that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    /// No field of that name.
    #[error("{message} has no field {name:?}; it has {known}")]
    Unknown {
        /// The message.
        message: &'static str,
        /// What was asked for.
        name: String,
        /// The names that it has.
        known: String,
    },
    /// The value is of another type, or out of range.
    #[error("field {name}: {found} is not {expected}")]
    Type {
        /// The field.
        name: String,
        /// The value as JSON.
        found: String,
        /// What the field holds.
        expected: &'static str,
    },
    /// The request is a stream of messages, or is made of a size alone.
    #[error("{0}: its request has no fields that could be set")]
    NoFields(Operation),
}

impl Call {
    /// The call with fields of its request replaced: text for strings, bytes as base64,
    /// numbers, booleans; the field of a nested message by its path, `type.id`.
    ///
    /// # Errors
    /// When the request has no such field, or the field another type.
    pub fn with_fields<'a>(
        &self,
        fields: impl IntoIterator<Item = (&'a str, &'a Value)>,
    ) -> Result<Call, FieldError> {
        // Collected, so that the code for each message is not compiled once per iterator.
        let fields: Vec<_> = fields.into_iter().collect();
        self.replace_fields(&fields)
    }

    fn replace_fields(&self, fields: &[(&str, &Value)]) -> Result<Call, FieldError> {
        let replaced = self.map(ReplaceFields(fields));
        replaced.unwrap_or(Err(FieldError::NoFields(self.operation())))
    }

    /// The value of a field of the request; `None` where there is none of that name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<Value> {
        take(self.visit(ToObject)?, name)
    }
}

impl Reply {
    /// The reply as an object of JSON; `None` for Download, whose reply is many messages.
    #[must_use]
    pub fn to_object(&self) -> Option<Value> {
        self.visit(ToObject)
    }

    /// The value of a field of the reply; `None` where there is none of that name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<Value> {
        take(self.to_object()?, name)
    }

    /// A value that a field of the replies to `operation` can have: the greatest of an
    /// integer, so that a field that takes it takes all of them.
    ///
    /// # Errors
    /// When they have no such field.
    pub fn sample_field(operation: Operation, name: &str) -> Result<Value, FieldError> {
        let reply = operation.visit_unary(EmptyReply);
        reply
            .ok_or(FieldError::NoFields(operation))?
            .sample_field(name)
    }
}

struct ReplaceFields<'a>(&'a [(&'a str, &'a Value)]);

impl MessageMapper for ReplaceFields<'_> {
    type Error = FieldError;

    fn map<M: Message>(self, message: &M) -> Result<M, FieldError> {
        let form = ObjectForm::of(message);
        read(form.replace(self.0)?).map_err(|error| form.explain(self.0, &error))
    }
}

struct ToObject;

impl MessageVisitor for ToObject {
    type Output = Value;

    fn visit<M: Message>(self, message: &M) -> Value {
        object(message)
    }
}

impl Operation {
    /// What a service with that state answers to the request that an object of JSON is; `None`
    /// for streams.
    ///
    /// # Errors
    /// When the object is not the operation's request.
    pub fn answer_object(
        self,
        state: &State,
        request: Value,
    ) -> Option<serde_json::Result<Result<Reply, ApplicationError>>> {
        self.visit_unary(AnswerObject { state, request })
    }
}

struct AnswerObject<'a> {
    state: &'a State,
    request: Value,
}

impl UnaryVisitor for AnswerObject<'_> {
    type Output = serde_json::Result<Result<Reply, ApplicationError>>;

    fn visit<O: Unary>(self) -> Self::Output {
        let request = read(self.request)?;
        Ok(O::answer(self.state, request).map(Into::into))
    }
}

struct EmptyReply;

impl UnaryVisitor for EmptyReply {
    type Output = ObjectForm;

    fn visit<O: Unary>(self) -> ObjectForm {
        ObjectForm::of(&O::Reply::default())
    }
}

/// A message as an object of JSON. What is generic over messages is in [`object`] and [`read`]
/// alone; the rest is compiled once for all of them.
struct ObjectForm {
    message: &'static str,
    object: Value,
    /// Whether an object is a message of that type.
    can_read: fn(Value) -> bool,
}

impl ObjectForm {
    fn of<M: Message>(message: &M) -> Self {
        ObjectForm {
            message: M::NAME,
            object: object(message),
            can_read: |value| read::<M>(value).is_ok(),
        }
    }

    /// The object with values of fields replaced.
    fn replace(&self, fields: &[(&str, &Value)]) -> Result<Value, FieldError> {
        let mut object = self.object.clone();
        for (name, value) in fields {
            let place = object.pointer_mut(&pointer(name));
            *place.ok_or_else(|| self.unknown(name))? = Value::clone(value);
        }
        Ok(object)
    }

    /// Why the object with these values is not the message.
    fn explain(&self, fields: &[(&str, &Value)], error: &serde_json::Error) -> FieldError {
        // At fault is the one that is not valid alone.
        let alone = fields.iter().find(|field| {
            let object = self.replace(&[**field]);
            object.is_ok_and(|object| !(self.can_read)(object))
        });
        let Some((name, value)) = alone else {
            return FieldError::Type {
                name: self.message.to_owned(),
                found: error.to_string(),
                expected: "a message",
            };
        };
        let held = self.object.pointer(&pointer(name)).unwrap_or(&Value::Null);
        FieldError::Type {
            name: (*name).to_owned(),
            found: value.to_string(),
            expected: type_of(held),
        }
    }

    fn sample_field(self, name: &str) -> Result<Value, FieldError> {
        let found = take(self.object.clone(), name).ok_or_else(|| self.unknown(name))?;
        let greatest = [Value::from(i64::MAX), Value::from(i32::MAX)];
        let fits = |value: &&Value| {
            let object = self.replace(&[(name, *value)]);
            object.is_ok_and(self.can_read)
        };
        let integer = found.is_i64() || found.is_u64();
        let greatest = greatest.iter().filter(|_| integer).find(fits);
        Ok(greatest.cloned().unwrap_or(found))
    }

    fn unknown(&self, name: &str) -> FieldError {
        let names = self.object.as_object().map(|fields| fields.keys().cloned());
        let names: Vec<String> = names.into_iter().flatten().collect();
        FieldError::Unknown {
            message: self.message,
            name: name.to_owned(),
            known: match names.is_empty() {
                true => "none".to_owned(),
                false => names.join(", "),
            },
        }
    }
}

// Never inlined: one copy of each per message.
#[inline(never)]
fn object<M: Message>(message: &M) -> Value {
    serde_json::to_value(message).expect("messages are maps with string keys")
}

#[inline(never)]
fn read<M: Message>(object: Value) -> serde_json::Result<M> {
    serde_json::from_value(object)
}

fn take(mut object: Value, name: &str) -> Option<Value> {
    object.pointer_mut(&pointer(name)).map(Value::take)
}

/// A path of names as a JSON pointer (RFC 6901).
fn pointer(name: &str) -> String {
    let escaped = name.replace('~', "~0").replace('/', "~1");
    format!("/{}", escaped.replace('.', "/"))
}

/// What a field holds, by a value that it has.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "text, or base64 for bytes",
        Value::Number(number) if number.is_f64() => "a number",
        Value::Number(_) => "an integer in the range of the field",
        Value::Bool(_) => "true or false",
        Value::Array(_) => "a list",
        Value::Object(_) | Value::Null => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::workload;

    fn call(operation: Operation) -> Call {
        workload::call(operation, 0, 1, 0).unwrap()
    }

    #[test]
    fn fields_are_replaced_by_name_and_the_others_stay() {
        let owner = call(Operation::AddOwner);
        let value = json!("Żółw");
        let changed = owner.with_fields([("city", &value)]).unwrap();
        assert_eq!(changed.field("city"), Some(value));
        assert_eq!(changed.field("telephone"), owner.field("telephone"));
        let (id, owner_id) = (json!(5), json!(9));
        let pet = call(Operation::AddPet);
        let pet = pet.with_fields([("type.id", &id), ("ownerId", &owner_id)]);
        let pet = pet.unwrap();
        assert_eq!(pet.field("type.id"), Some(id));
        assert_eq!(pet.field("type.name"), Some(json!("cat")));
        assert_eq!(pet.field("ownerId"), Some(owner_id));
    }

    #[test]
    fn unknown_fields_and_other_types_are_refused_by_name() {
        let refused = |operation, name: &str, value: Value| {
            let refused = call(operation).with_fields([(name, &value)]);
            refused.unwrap_err().to_string()
        };
        let words = refused(Operation::GetOwner, "idd", json!(1));
        assert_eq!(words, "GetOwnerRequest has no field \"idd\"; it has id");
        let words = refused(Operation::GetOwner, "id", json!("x"));
        assert_eq!(
            words,
            "field id: \"x\" is not an integer in the range of the field"
        );
        let words = refused(Operation::GetOwner, "id", json!(1_i64 << 40));
        assert!(words.contains("1099511627776 is not an integer"), "{words}");
        let words = refused(Operation::AddOwner, "city", json!(3));
        assert_eq!(words, "field city: 3 is not text, or base64 for bytes");
        let words = refused(Operation::ListVets, "id", json!(3));
        assert!(words.ends_with("it has none"), "{words}");
        let hello = Call::Hello { hello_bytes: 1 };
        assert!(hello.with_fields([("text", &json!("x"))]).is_err());
    }

    #[test]
    fn fields_of_replies_are_found_by_name() {
        assert_eq!(
            Reply::sample_field(Operation::AddOwner, "id"),
            Ok(json!(i32::MAX))
        );
        assert!(Reply::sample_field(Operation::AddOwner, "number").is_err());
        assert!(Reply::sample_field(Operation::Download, "data").is_err());
        let reply = call(Operation::GetOwner).answer().unwrap();
        assert_eq!(reply.field("firstName"), Some(json!("George")));
    }

    #[test]
    fn every_call_with_a_message_takes_no_fields_unchanged() {
        for operation in Operation::ALL {
            let Ok(call) = workload::call(operation, 100, 1, 0)
                .or_else(|_| workload::call(operation, 0, 1, 0))
            else {
                continue;
            };
            if let Ok(same) = call.with_fields([]) {
                assert_eq!(same, call);
            }
        }
    }
}
