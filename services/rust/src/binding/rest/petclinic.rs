//! REST for petclinic: routes with parameters, lists as arrays, replies without a body
//! (contracts/README.md, petclinic).

use std::any::Any;
use std::sync::LazyLock;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use wirelab_contract::clinic::routes::{ReplyBody, Route};
use wirelab_contract::petclinic::{
    AddPetToOwnerRequest, AddVisitToOwnerRequest, DeleteOwnerRequest, DeletePetRequest,
    DeletePetTypeRequest, DeleteSpecialtyRequest, DeleteVetRequest, DeleteVisitRequest,
    GetOwnerRequest, GetOwnersPetRequest, GetPetRequest, GetPetTypeRequest, GetSpecialtyRequest,
    GetVetRequest, GetVisitRequest, ListOwnersRequest, UpdateOwnerRequest, UpdatePetRequest,
    UpdatePetTypeRequest, UpdateSpecialtyRequest, UpdateVetRequest, UpdateVisitRequest,
};
use wirelab_contract::{ApplicationError, Contract, Operation};
use wirelab_stack::Codec;

use super::error_response::ErrorResponse;
use super::negotiation::Content;
use super::{Received, keep, represent};
use crate::service::CallError;
use crate::service::any_operation::AnyOperation;
use crate::service::rows::AnyMessage;
use crate::service::state::ServiceState;

/// The routes of petclinic. Made once: a request is compared with up to 33 of them.
static ROUTES: LazyLock<Vec<(Operation, Route)>> = LazyLock::new(|| {
    Operation::all_of(Contract::Petclinic)
        .filter_map(|operation| Some((operation, operation.route()?)))
        .collect()
});

/// The operation that a request asks for, if any.
pub(super) fn operation(method: &str, path: &str) -> Option<Operation> {
    // An empty parameter matches no route of the router either.
    let matches = |route: &Route| {
        let parameters = route.parameters(path);
        parameters.is_some_and(|all| all.iter().all(|(_, value)| !value.is_empty()))
    };
    ROUTES
        .iter()
        .find(|(_, route)| route.method == method && matches(route))
        .map(|(operation, _)| *operation)
}

/// The methods of a path, as `Allow` lists them.
pub(super) fn methods(path: &str) -> Option<String> {
    let methods: Vec<&str> = ROUTES
        .iter()
        .filter(|(_, route)| route.parameters(path).is_some())
        .map(|(_, route)| route.method)
        .collect();
    (!methods.is_empty()).then(|| methods.join(", "))
}

/// Answers one operation.
///
/// # Errors
/// The answer that is not a reply.
pub(super) async fn respond(
    state: &ServiceState,
    operation: &AnyOperation,
    received: Received,
) -> Result<Response, ErrorResponse> {
    if operation.operation == Operation::AddPetType && state.stack.codec == Codec::Json {
        require_no_id(state, &received.content)?;
    }
    let mut message = received.content.read(state, &operation.request)?;
    let route = operation.operation.route();
    let route = route.expect("petclinic has no streams");
    set_parameters(&route, &received.uri, &mut *message)
        .map_err(|text| ErrorResponse::new(state, StatusCode::BAD_REQUEST, text))?;
    let reply = state.answer_any(operation, message, received.corruptor());
    let reply = reply.await;
    let reply = reply.map_err(|error| ErrorResponse::of_call(state, error))?;
    Ok(write_reply(state, operation, &route, reply))
}

fn write_reply(
    state: &ServiceState,
    operation: &AnyOperation,
    route: &Route,
    reply: AnyMessage,
) -> Response {
    let codec = state.stack.codec;
    let body = match route.reply {
        ReplyBody::List if codec == Codec::Json => only_list,
        _ => Bytes::from,
    };
    let mut response = match route.reply {
        // No content type: there is no content whose type it could be.
        ReplyBody::Empty => Body::empty().into_response(),
        ReplyBody::List | ReplyBody::Message => {
            let written = (operation.reply.write)(codec, &reply);
            represent(state, body(written))
        }
    };
    *response.status_mut() =
        StatusCode::from_u16(route.status).expect("the statuses of the routes are legal");
    if route.location.is_some()
        && let Some(location) = route.location(&(operation.reply.fields)(&reply))
    {
        let location = HeaderValue::try_from(location).expect("a path of ASCII characters");
        response.headers_mut().insert(header::LOCATION, location);
    }
    if route.reply != ReplyBody::Empty {
        keep(state, operation, reply, body);
    }
    response
}

/// The array in `{"name":[…]}`, without a second serialization: these messages have one field,
/// whose name has no colon.
fn only_list(object: Vec<u8>) -> Bytes {
    let object = Bytes::from(object);
    // The list is the whole object without its name and its last brace.
    let start = memchr::memchr(b':', &object).map_or(0, |colon| colon + 1);
    object.slice(start..object.len() - 1)
}

/// What the message AddPetTypeRequest does not have, and its JSON must not have either.
#[derive(Deserialize)]
struct Identified {
    #[serde(default)]
    id: Option<serde_json::Value>,
}

/// Refuses JSON with an id other than null or 0.
fn require_no_id(state: &ServiceState, content: &Content) -> Result<(), ErrorResponse> {
    // What cannot be read here cannot be read as a message either, which then reports it.
    match serde_json::from_slice(content.bytes()) {
        Ok(Identified { id: Some(id) }) if id.as_i64() != Some(0) => {
            let error = CallError::from(ApplicationError::Invalid);
            Err(ErrorResponse::of_call(state, error))
        }
        _ => Ok(()),
    }
}

/// Sets the fields that the path and the query name: they outrank those of the content.
fn set_parameters(route: &Route, uri: &Uri, message: &mut dyn Any) -> Result<(), String> {
    for (name, text) in route.parameters(uri.path()).unwrap_or_default() {
        // A parameter that is not an int32 is a 400 before any row is looked at
        // (contracts/README.md, petclinic).
        let value = text.parse::<i32>();
        let value = value.map_err(|_| format!("{name} must be an int32, not {text:?}"))?;
        set_number(message, name, value);
    }
    if let (Some(name), Some(query)) = (route.query, uri.query()) {
        // In a query a plus sign is a space, as HTML forms send it.
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        let value = pairs.find(|(key, _)| key == name).map(|(_, value)| value);
        if value.as_ref().is_some_and(|value| value.contains('\0')) {
            return Err(format!("{name} must have no NUL"));
        }
        if let Some(value) = value
            && let Some(owners) = message.downcast_mut::<ListOwnersRequest>()
        {
            owners.last_name = value.into_owned();
        }
    }
    Ok(())
}

/// Expands to one cast per type: a detour over a map of fields would cost each call an allocation
/// per field.
macro_rules! set_fields {
    ($message:ident, $name:ident, $value:ident; $($request:ty { $($field:ident: $key:literal),* })*) => {
        $(
            if let Some(request) = $message.downcast_mut::<$request>() {
                match $name {
                    $($key => request.$field = $value,)*
                    other => unreachable!("{other} is not a field in a path"),
                }
            }
        )*
    };
}

fn set_number(message: &mut dyn Any, name: &str, value: i32) {
    set_fields! { message, name, value;
        GetPetTypeRequest { id: "id" }
        UpdatePetTypeRequest { id: "id" }
        DeletePetTypeRequest { id: "id" }
        GetPetRequest { id: "id" }
        UpdatePetRequest { id: "id" }
        DeletePetRequest { id: "id" }
        GetOwnerRequest { id: "id" }
        UpdateOwnerRequest { id: "id" }
        DeleteOwnerRequest { id: "id" }
        AddPetToOwnerRequest { owner_id: "ownerId" }
        AddVisitToOwnerRequest { owner_id: "ownerId", pet_id: "petId" }
        GetOwnersPetRequest { owner_id: "ownerId", pet_id: "petId" }
        GetSpecialtyRequest { id: "id" }
        UpdateSpecialtyRequest { id: "id" }
        DeleteSpecialtyRequest { id: "id" }
        GetVetRequest { id: "id" }
        UpdateVetRequest { id: "id" }
        DeleteVetRequest { id: "id" }
        GetVisitRequest { id: "id" }
        UpdateVisitRequest { id: "id" }
        DeleteVisitRequest { id: "id" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every parameter of every path is a field of the operation's request.
    struct SetAll(Operation);

    impl wirelab_contract::UnaryVisitor for SetAll {
        type Output = ();

        fn visit<O: wirelab_contract::Unary>(self) {
            let route = O::OPERATION.route().unwrap();
            let filled = route
                .template
                .split('/')
                .map(|part| match part.starts_with('{') {
                    true => "2147483647",
                    false => part,
                });
            let path = route.prefix.to_owned() + &filled.collect::<Vec<_>>().join("/");
            assert_eq!(operation(route.method, &path), Some(self.0));
            let mut message = O::Request::default();
            let uri: Uri = path.parse().unwrap();
            set_parameters(&route, &uri, &mut message).unwrap();
            assert_eq!(route.path(&message), path, "{}", self.0);
            if route.template.contains('{') {
                let uri: Uri = path.replace("2147483647", "2147483648").parse().unwrap();
                let refused = set_parameters(&route, &uri, &mut message).unwrap_err();
                assert!(refused.contains("must be an int32"), "{refused}");
            }
        }
    }

    #[test]
    fn parameters_of_paths_are_fields_of_requests() {
        for operation in Operation::all_of(Contract::Petclinic) {
            operation.visit_unary(SetAll(operation)).unwrap();
        }
    }

    #[test]
    fn a_query_is_percent_decoded() {
        let route = Operation::ListOwners.route().unwrap();
        for (query, expected) in [
            ("?lastName=Da%20v%26%C3%A9", "Da v&é"),
            ("?other=1&lastName=Davis", "Davis"),
            ("?lastName=", ""),
            ("?other=Davis", ""),
            ("", ""),
        ] {
            let mut message = ListOwnersRequest::default();
            let uri: Uri = format!("/petclinic/api/owners{query}").parse().unwrap();
            set_parameters(&route, &uri, &mut message).unwrap();
            assert_eq!(message.last_name, expected, "{query}");
        }
    }

    #[test]
    fn a_path_lists_all_its_methods() {
        let methods = |path| methods(path).unwrap_or_default();
        assert_eq!(methods("/petclinic/api/vets/3"), "GET, PUT, DELETE");
        assert_eq!(methods("/petclinic/api/owners/1/pets"), "POST");
        assert_eq!(methods("/petclinic/api"), "");
    }

    #[test]
    fn the_only_list_of_an_object_is_an_array() {
        let list = only_list(br#"{"vets":[{"id":1}]}"#.to_vec());
        assert_eq!(list, br#"[{"id":1}]"#.as_slice());
    }
}
