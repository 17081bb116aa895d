//! The HTTP routes of operations in binding rest: one path each, or a template whose
//! parameters are fields of the request (`GET /petclinic/api/owners/{id}`).

use serde_json::Value;

use crate::contract::Contract;
use crate::message::Message;
use crate::operation::Operation;

/// What all paths of petclinic begin with.
pub const PREFIX: &str = "/petclinic/api";

/// How an operation travels over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// `GET`, `POST`, `PUT` or `DELETE`.
    pub method: &'static str,
    /// The path below [`Route::prefix`], with fields of the request in braces.
    pub template: &'static str,
    /// What comes before the template.
    pub prefix: &'static str,
    /// A field of the request that is a query parameter where it is not empty.
    pub query: Option<&'static str>,
    /// The status of a good reply.
    pub status: u16,
    /// What a good reply carries.
    pub reply: ReplyBody,
    /// The path of the new row, with fields of the reply in braces: the field `Location`.
    pub location: Option<&'static str>,
}

/// What a good reply carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyBody {
    /// The reply message.
    Message,
    /// The only list of the reply message: in JSON an array, elsewhere the message.
    List,
    /// Nothing.
    Empty,
}

impl Operation {
    /// The route in binding rest; `None` for streams of messages that REST does not have.
    #[must_use]
    pub fn route(self) -> Option<Route> {
        if self.contract() == Contract::Petclinic {
            return Some(of_petclinic(self));
        }
        let (method, template) = self.rest()?;
        Some(Route {
            method,
            template,
            prefix: "",
            query: None,
            status: 200,
            reply: ReplyBody::Message,
            location: None,
        })
    }
}

impl Route {
    /// Whether requests carry the request message: with GET and DELETE, all of it is in the
    /// path (RFC 9110 sections 9.3.1 and 9.3.5 give a body there no meaning).
    #[must_use]
    pub fn has_body(&self) -> bool {
        matches!(self.method, "POST" | "PUT")
    }

    /// Whether requests have paths of their own: fields of them are in the path or the query.
    #[must_use]
    pub fn varies(&self) -> bool {
        self.template.contains('{') || self.query.is_some()
    }

    /// The path, and the query where there is one, of a request.
    ///
    /// # Panics
    /// Never: every name in braces is a field of the operation's request.
    #[must_use]
    pub fn path(&self, request: &impl Message) -> String {
        if !self.varies() {
            return format!("{}{}", self.prefix, self.template);
        }
        // By way of JSON: it is the one form in which fields have the names of the
        // template.
        let fields = serde_json::to_value(request).expect("messages are maps with string keys");
        let mut path = self.prefix.to_owned() + &fill(self.template, &fields);
        if let Some(name) = self.query
            && let Some(value) = fields[name].as_str().filter(|value| !value.is_empty())
        {
            path += &format!("?{name}={}", percent_encoded(value));
        }
        path
    }

    /// The field `Location` of a good reply, whose fields are given.
    #[must_use]
    pub fn location(&self, fields: &Value) -> Option<String> {
        Some(self.prefix.to_owned() + &fill(self.location?, fields))
    }

    /// The parameters in a path, without its query, if it is one of this route.
    #[must_use]
    pub fn parameters<'a>(&self, path: &'a str) -> Option<Vec<(&'static str, &'a str)>> {
        // Split by slashes: a parameter is one segment, and a longer or shorter path is
        // another route.
        let mut given = path.strip_prefix(self.prefix)?.split('/');
        let mut parameters = Vec::new();
        for expected in self.template.split('/') {
            let found = given.next()?;
            match expected
                .strip_prefix('{')
                .and_then(|name| name.strip_suffix('}'))
            {
                Some(name) => parameters.push((name, found)),
                None if expected == found => {}
                None => return None,
            }
        }
        given.next().is_none().then_some(parameters)
    }
}

/// A template with the fields of a message, which are numbers, in its braces.
fn fill(template: &str, fields: &Value) -> String {
    let parts = template.split('/').map(|part| {
        match part
            .strip_prefix('{')
            .and_then(|name| name.strip_suffix('}'))
        {
            // All parameters in paths are int32, so nothing has to be escaped.
            Some(name) => fields[name].to_string(),
            None => part.to_owned(),
        }
    });
    parts.collect::<Vec<_>>().join("/")
}

/// A value of a query parameter (RFC 3986 section 2.1).
fn percent_encoded(value: &str) -> String {
    let encoded = value.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        // Percent, not plus: `+` means a space only in HTML forms.
        _ => format!("%{byte:02X}"),
    });
    encoded.collect()
}

fn of_petclinic(operation: Operation) -> Route {
    let name = operation.name();
    let (method, status, reply) = match name {
        // The application answers 200 here and 201 to all other additions. The contract
        // repeats it.
        "AddPet" => ("POST", 200, ReplyBody::Message),
        _ if name.starts_with("Add") => ("POST", 201, ReplyBody::Message),
        _ if name.starts_with("Update") => ("PUT", 204, ReplyBody::Empty),
        _ if name.starts_with("Delete") => ("DELETE", 204, ReplyBody::Empty),
        _ if name.starts_with("List") => ("GET", 200, ReplyBody::List),
        _ => ("GET", 200, ReplyBody::Message),
    };
    let (all, one) = collection(operation);
    let template = match operation {
        Operation::AddPetToOwner => "/owners/{ownerId}/pets",
        Operation::AddVisitToOwner => "/owners/{ownerId}/pets/{petId}/visits",
        Operation::GetOwnersPet => "/owners/{ownerId}/pets/{petId}",
        _ if name.starts_with("List") || name.starts_with("Add") => all,
        _ => one,
    };
    Route {
        method,
        template,
        prefix: PREFIX,
        query: (operation == Operation::ListOwners).then_some("lastName"),
        status,
        reply,
        // The path of the row itself, also when it was added below an owner.
        location: (status == 201).then_some(one),
    }
}

/// The path of all rows and of one row of the kind that an operation is about.
fn collection(operation: Operation) -> (&'static str, &'static str) {
    match operation {
        Operation::ListPetTypes
        | Operation::GetPetType
        | Operation::AddPetType
        | Operation::UpdatePetType
        | Operation::DeletePetType => ("/pettypes", "/pettypes/{id}"),
        Operation::ListOwners
        | Operation::GetOwner
        | Operation::AddOwner
        | Operation::UpdateOwner
        | Operation::DeleteOwner => ("/owners", "/owners/{id}"),
        Operation::ListSpecialties
        | Operation::GetSpecialty
        | Operation::AddSpecialty
        | Operation::UpdateSpecialty
        | Operation::DeleteSpecialty => ("/specialties", "/specialties/{id}"),
        Operation::ListVets
        | Operation::GetVet
        | Operation::AddVet
        | Operation::UpdateVet
        | Operation::DeleteVet => ("/vets", "/vets/{id}"),
        Operation::ListVisits
        | Operation::GetVisit
        | Operation::AddVisit
        | Operation::UpdateVisit
        | Operation::DeleteVisit
        | Operation::AddVisitToOwner => ("/visits", "/visits/{id}"),
        _ => ("/pets", "/pets/{id}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::petclinic::{
        AddVisitToOwnerRequest, GetOwnerRequest, ListOwnersRequest, Pet, UpdateVetRequest,
    };

    fn route(operation: Operation) -> Route {
        operation.route().unwrap()
    }

    #[test]
    fn paths_are_those_of_the_application() {
        let visit = AddVisitToOwnerRequest {
            owner_id: 6,
            pet_id: 7,
            ..AddVisitToOwnerRequest::default()
        };
        let path = route(Operation::AddVisitToOwner).path(&visit);
        assert_eq!(path, "/petclinic/api/owners/6/pets/7/visits");
        let path = route(Operation::GetOwner).path(&GetOwnerRequest { id: 10 });
        assert_eq!(path, "/petclinic/api/owners/10");
        let named = |last_name: &str| {
            let last_name = last_name.to_owned();
            route(Operation::ListOwners).path(&ListOwnersRequest { last_name })
        };
        assert_eq!(named(""), "/petclinic/api/owners");
        assert_eq!(
            named("Da v&é"),
            "/petclinic/api/owners?lastName=Da%20v%26%C3%A9"
        );
        let pet = Pet {
            id: 14,
            ..Pet::default()
        };
        let fields = serde_json::to_value(pet).unwrap();
        let location = route(Operation::AddPetToOwner).location(&fields);
        assert_eq!(location.as_deref(), Some("/petclinic/api/pets/14"));
        assert_eq!(route(Operation::AddPet).location(&fields), None);
    }

    #[test]
    fn a_path_leads_back_to_its_route_and_no_other() {
        let petclinic = || Operation::all_of(Contract::Petclinic);
        for (method, path, operation, parameters) in [
            ("GET", "/petclinic/api/vets", Operation::ListVets, vec![]),
            (
                "PUT",
                "/petclinic/api/vets/3",
                Operation::UpdateVet,
                vec![("id", "3")],
            ),
            (
                "GET",
                "/petclinic/api/owners/6/pets/7",
                Operation::GetOwnersPet,
                vec![("ownerId", "6"), ("petId", "7")],
            ),
        ] {
            let found: Vec<_> = petclinic()
                .filter(|operation| route(*operation).method == method)
                // All routes are tried, so a second one that fits would show.
                .filter_map(|operation| Some((operation, route(operation).parameters(path)?)))
                .collect();
            assert_eq!(found, [(operation, parameters)]);
        }
        for path in [
            "/petclinic/api",
            "/petclinic/api/vets/3/4",
            "/petclinic/api/vet",
            "/vets",
        ] {
            assert!(
                petclinic().all(|one| route(one).parameters(path).is_none()),
                "{path}"
            );
        }
        let request = UpdateVetRequest {
            id: 3,
            ..UpdateVetRequest::default()
        };
        assert_eq!(
            route(Operation::UpdateVet).path(&request),
            "/petclinic/api/vets/3"
        );
    }

    #[test]
    fn no_two_operations_share_method_and_path() {
        let mut all: Vec<_> = Operation::ALL
            .into_iter()
            .filter_map(|operation| operation.route())
            .map(|route| (route.method, route.prefix, route.template))
            .collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!((all.len(), count), (52, 52));
    }
}
