//! The contract `petclinic` over REST and gRPC, with rows in memory and in SQLite: requests written
//! by hand, replies as contracts/README.md prints them.

use std::path::PathBuf;

use prost::Message;
use serde_json::{Value, json};
use tonic::Code;
use wirelab_contract::petclinic::{
    AddVisitToOwnerRequest, DeleteOwnerRequest, GetOwnerRequest, GetPetRequest, GetVisitRequest,
    ListVetsRequest, PetType, PetTypes, UpdateVetRequest, Visit,
};
use wirelab_service_clients::petclinic::petclinic_client::PetclinicClient;

use crate::harness::{Service, block_on, grpc, rest};

/// A file for SQLite in a folder that is removed when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("wirelab-petclinic-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    /// Every store, by its configuration.
    fn stores(&self) -> [Value; 2] {
        let file = self.0.join("rows").display().to_string();
        [json!({}), json!({"kind": "sqlite", "url": file})]
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _left_over = std::fs::remove_dir_all(&self.0);
    }
}

fn petclinic(stack: &Value, store: &Value) -> Service {
    Service::start(stack, json!({"contract": "petclinic", "store": store}))
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn field(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .find_map(|(key, value)| key.eq_ignore_ascii_case(name).then_some(value))
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("a text")
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }
}

fn ask(service: &Service, method: &str, path: &str, media_type: &str, body: &[u8]) -> Answer {
    let head = format!(
        "{method} /petclinic/api{path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
         content-type: {media_type}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let reply = service.exchange(&[head.as_bytes(), body].concat());
    let end = reply.windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.expect("a head");
    let head = String::from_utf8(reply[..end].to_vec()).expect("a text");
    Answer {
        status: head[9..12].parse().expect("a status"),
        head,
        body: reply[end + 4..].to_vec(),
    }
}

fn get(service: &Service, path: &str) -> Answer {
    ask(service, "GET", path, "application/json", b"")
}

fn send(service: &Service, method: &str, path: &str, body: &str) -> Answer {
    ask(service, method, path, "application/json", body.as_bytes())
}

#[test]
fn replies_have_the_forms_of_the_application() {
    let folder = Folder::new("forms");
    for store in folder.stores() {
        let service = petclinic(&rest("json"), &store);
        let types = get(&service, "/pettypes");
        assert_eq!(types.status, 200, "{store}");
        assert_eq!(types.field("content-type"), Some("application/json"));
        let expected = r#"[{"id":1,"name":"cat"},{"id":2,"name":"dog"},{"id":3,"name":"lizard"},{"id":4,"name":"snake"},{"id":5,"name":"bird"},{"id":6,"name":"hamster"}]"#;
        assert_eq!(types.text(), expected, "{store}");
        let owner = get(&service, "/owners/6");
        let expected = r#"{"id":6,"firstName":"Jean","lastName":"Coleman","address":"105 N. Lake St.","city":"Monona","telephone":"6085552654","pets":[{"id":8,"name":"Max","birthDate":"2012-09-04","type":{"id":1,"name":"cat"},"ownerId":6,"visits":[{"id":2,"date":"2013-01-02","description":"rabies shot","petId":8},{"id":3,"date":"2013-01-03","description":"neutered","petId":8}]},{"id":7,"name":"Samantha","birthDate":"2012-09-04","type":{"id":1,"name":"cat"},"ownerId":6,"visits":[{"id":1,"date":"2013-01-01","description":"rabies shot","petId":7},{"id":4,"date":"2013-01-04","description":"spayed","petId":7}]}]}"#;
        assert_eq!(owner.text(), expected, "{store}");
        assert_eq!(get(&service, "/owners/6/pets/7").json()["name"], "Samantha");
        let vet = r#"{"id":3,"firstName":"Linda","lastName":"Douglas","specialties":[{"id":3,"name":"dentistry"},{"id":2,"name":"surgery"}]}"#;
        assert_eq!(get(&service, "/vets/3").text(), vet, "{store}");
        let count = |path: &str| get(&service, path).json().as_array().map(Vec::len);
        for (path, rows) in [
            ("/pets", 13),
            ("/owners", 10),
            ("/owners?lastName=", 10),
            ("/owners?lastName=Da", 2),
            ("/owners?lastName=%44avis", 2),
            ("/specialties", 3),
            ("/vets", 6),
            ("/visits", 4),
        ] {
            assert_eq!(count(path), Some(rows), "{store} {path}");
        }
        let calls = "wirelab_calls_total{operation=\"ListOwners\"}";
        assert_eq!(service.metric(calls), 4.0, "{store}");
    }
}

#[test]
fn rows_are_added_changed_and_deleted_with_what_depends_on_them() {
    let folder = Folder::new("rows");
    for store in folder.stores() {
        let service = petclinic(&rest("json"), &store);
        let owner = r#"{"firstName":"Ada","lastName":"Byron","address":"1 St.","city":"London","telephone":"1815"}"#;
        let added = send(&service, "POST", "/owners", owner);
        let id = added.json()["id"].as_i64().expect("a number");
        assert_eq!(added.status, 201, "{store}");
        let location = format!("/petclinic/api/owners/{id}");
        assert_eq!(added.field("location"), Some(location.as_str()), "{store}");
        assert!(id > 10, "{store}");

        // The owner in the path outranks the one in the body.
        let body = r#"{"name":"Rex","birthDate":"2020-02-29","type":{"id":2},"ownerId":1}"#;
        let pet = send(&service, "POST", &format!("/owners/{id}/pets"), body);
        assert_eq!(pet.status, 201, "{store}");
        let pet = pet.json();
        assert_eq!(
            (&pet["ownerId"], &pet["type"]["name"]),
            (&json!(id), &json!("dog"))
        );
        let pet_id = &pet["id"];
        let body = r#"{"date":"2021-01-01","description":"check"}"#;
        let path = format!("/owners/{id}/pets/{pet_id}/visits");
        let visit = send(&service, "POST", &path, body);
        assert_eq!(visit.status, 201, "{store}");
        let visit = visit.json();
        assert_eq!(visit["petId"], *pet_id, "{store}");

        let body = r#"{"name":"Rexina","birthDate":"2020-02-28","type":{"id":1}}"#;
        let changed = send(&service, "PUT", &format!("/pets/{pet_id}"), body);
        assert_eq!((changed.status, changed.text()), (204, ""), "{store}");
        assert_eq!(changed.field("content-type"), None, "{store}");
        let found = get(&service, &format!("/owners/{id}")).json();
        assert_eq!(found["pets"][0]["name"], "Rexina", "{store}");
        assert_eq!(found["pets"][0]["visits"], json!([visit]), "{store}");

        let gone = send(&service, "DELETE", &format!("/owners/{id}"), "");
        assert_eq!(gone.status, 204, "{store}");
        for path in [
            format!("/owners/{id}"),
            format!("/pets/{pet_id}"),
            format!("/visits/{}", visit["id"]),
        ] {
            assert_eq!(get(&service, &path).status, 404, "{store} {path}");
        }

        // Two of the same specialty count once; a deleted one leaves its vets.
        let body =
            r#"{"firstName":"Eva","lastName":"Vet","specialties":[{"id":2},{"id":1},{"id":2}]}"#;
        let vet = send(&service, "POST", "/vets", body).json();
        assert_eq!(vet["specialties"][0]["name"], "radiology", "{store}");
        assert_eq!(
            vet["specialties"].as_array().map(Vec::len),
            Some(2),
            "{store}"
        );
        assert_eq!(send(&service, "DELETE", "/specialties/1", "").status, 204);
        let vet = get(&service, &format!("/vets/{}", vet["id"])).json();
        let left = json!([{"id": 2, "name": "surgery"}]);
        assert_eq!(vet["specialties"], left, "{store}");

        // A type goes with its pets, and these with their visits: all visits were of cats.
        assert_eq!(send(&service, "DELETE", "/pettypes/1", "").status, 204);
        assert_eq!(get(&service, "/visits").status, 404, "{store}");
        let pets = get(&service, "/pets").json();
        assert_eq!(pets.as_array().map(Vec::len), Some(9), "{store}");

        let body = r#"{"name":"Tom","birthDate":"2020-01-01","type":{"id":2},"ownerId":1}"#;
        let pet = send(&service, "POST", "/pets", body);
        assert_eq!((pet.status, pet.field("location")), (200, None), "{store}");
        let id = pet.json()["id"].as_i64();
        assert!(id > pet_id.as_i64(), "{store}: an id is never given twice");
    }
}

#[test]
fn errors_have_the_statuses_of_the_application() {
    let folder = Folder::new("errors");
    for store in folder.stores() {
        let service = petclinic(&rest("json"), &store);
        let pet = r#"{"name":"Tom","birthDate":"2020-01-01","type":{"id":1},"ownerId":1}"#;
        let named = r#"{"name":"x"}"#;
        for (method, path, body) in [
            ("GET", "/pets/99", ""),
            ("GET", "/owners?lastName=davis", ""),
            ("GET", "/owners?lastName=%25", ""),
            ("GET", "/owners/1/pets/2", ""),
            ("POST", "/owners/99/pets", pet),
            ("PUT", "/pettypes/99", named),
            (
                "PUT",
                "/pets/99",
                pet.replace("{\"id\":1}", "{\"id\":99}").as_str(),
            ),
            ("DELETE", "/visits/99", ""),
        ] {
            let answer = send(&service, method, path, body);
            assert_eq!((answer.status, answer.text()), (404, ""), "{store} {path}");
            assert_eq!(answer.field("content-type"), None, "{store} {path}");
        }
        for (method, path, body) in [
            ("POST", "/pettypes", r#"{"name":""}"#),
            ("POST", "/pettypes", r#"{"id":7,"name":"x"}"#),
            ("POST", "/pettypes", r#"{"id":"0","name":"x"}"#),
            (
                "POST",
                "/pets",
                pet.replace("\"ownerId\":1", "\"ownerId\":99").as_str(),
            ),
            (
                "POST",
                "/pets",
                pet.replace("{\"id\":1}", "{\"id\":99}").as_str(),
            ),
            (
                "POST",
                "/pets",
                pet.replace("2020-01-01", "2020-02-30").as_str(),
            ),
            (
                "POST",
                "/owners/1/pets",
                pet.replace("{\"id\":1}", "{\"id\":99}").as_str(),
            ),
            (
                "PUT",
                "/pets/1",
                pet.replace("{\"id\":1}", "{\"id\":99}").as_str(),
            ),
            (
                "PUT",
                "/vets/1",
                r#"{"firstName":"A","lastName":"B","specialties":[{"id":9}]}"#,
            ),
            (
                "POST",
                "/visits",
                r#"{"date":"2020-01-01","description":"x","petId":99}"#,
            ),
        ] {
            let answer = send(&service, method, path, body);
            assert_eq!(answer.status, 400, "{store} {path} {body}");
            assert_eq!(
                answer.field("errors"),
                Some("invalid request"),
                "{store} {path}"
            );
        }
        // A refused update changes nothing: its transaction is rolled back.
        assert_eq!(
            get(&service, "/vets/1").json()["firstName"],
            "James",
            "{store}"
        );
        for path in [
            "/pets/x",
            "/pets/2147483648",
            "/owners/1/pets/1.5",
            "/owners?lastName=%00",
            "/pets/-",
        ] {
            let answer = get(&service, path);
            assert_eq!(answer.status, 400, "{store} {path}");
            assert_eq!(answer.field("errors"), None, "{store} {path}");
        }
        let malformed = send(&service, "POST", "/pettypes", "[]");
        assert_eq!(
            (malformed.status, malformed.field("errors")),
            (400, Some("malformed body")),
            "{store}"
        );
        assert_eq!(malformed.json()["className"], "Bad Request", "{store}");
        let zero = send(&service, "POST", "/pettypes", r#"{"id":0,"name":"x"}"#);
        assert_eq!(zero.status, 201, "{store}");
        let refused = "wirelab_errors_total{operation=\"AddPetType\"}";
        assert_eq!(service.metric(refused), 3.0, "{store}");

        let wrong = send(&service, "PATCH", "/vets/1", named);
        assert_eq!(wrong.status, 405, "{store}");
        assert_eq!(wrong.field("allow"), Some("GET, PUT, DELETE"), "{store}");
        let untyped = ask(
            &service,
            "POST",
            "/pettypes",
            "text/plain",
            named.as_bytes(),
        );
        assert_eq!(untyped.status, 415, "{store}");
        assert_eq!(get(&service, "/vet").status, 404, "{store}");
    }
}

#[test]
fn protocol_buffers_carry_lists_as_their_message() {
    let folder = Folder::new("protobuf");
    for store in folder.stores() {
        let service = petclinic(&rest("protobuf"), &store);
        let media_type = "application/x-protobuf";
        let list = ask(&service, "GET", "/pettypes", media_type, b"");
        let list = PetTypes::decode(list.body.as_slice()).expect("a message");
        assert_eq!(list.pet_types.len(), 6, "{store}");
        // Field 1 of AddPetTypeRequest is the name: 0x0a, its length, its bytes.
        let added = ask(&service, "POST", "/pettypes", media_type, b"\x0a\x03owl");
        assert_eq!(added.status, 201, "{store}");
        let added = PetType::decode(added.body.as_slice()).expect("a message");
        assert_eq!(added.name, "owl", "{store}");
        // Field 1 of UpdatePetTypeRequest is an id, which the path outranks.
        let path = format!("/pettypes/{}", added.id);
        let changed = ask(&service, "PUT", &path, media_type, b"\x08\x01\x12\x03auk");
        assert_eq!((changed.status, changed.body.len()), (204, 0), "{store}");
        let found = ask(&service, "GET", &path, media_type, b"");
        let found = PetType::decode(found.body.as_slice()).expect("a message");
        assert_eq!(found.name, "auk", "{store}");
    }
}

#[test]
fn grpc_reports_not_found_and_invalid_requests_by_its_own_codes() {
    let folder = Folder::new("grpc");
    for store in folder.stores() {
        let service = petclinic(&grpc(), &store);
        block_on(async {
            let endpoint = format!("http://{}", service.address());
            let mut client = PetclinicClient::connect(endpoint)
                .await
                .expect("it listens");
            let vets = client.list_vets(ListVetsRequest {}).await;
            assert_eq!(vets.expect("vets").into_inner().vets.len(), 6, "{store}");
            let request = AddVisitToOwnerRequest {
                owner_id: 6,
                pet_id: 7,
                date: "2024-02-29".to_owned(),
                description: "check".to_owned(),
            };
            let added = client.add_visit_to_owner(request.clone()).await;
            let id = added.expect("a visit").into_inner().id;
            let found = client.get_visit(GetVisitRequest { id }).await;
            let expected = Visit {
                id,
                date: request.date.clone(),
                description: request.description.clone(),
                pet_id: 7,
            };
            assert_eq!(found.expect("a visit").into_inner(), expected, "{store}");
            let other = AddVisitToOwnerRequest {
                owner_id: 1,
                ..request
            };
            let refused = client.add_visit_to_owner(other).await.unwrap_err();
            let answer = (refused.code(), refused.message());
            assert_eq!(answer, (Code::NotFound, "not found"), "{store}");
            let request = UpdateVetRequest {
                id: 1,
                first_name: "No digits 1".to_owned(),
                last_name: "Carter".to_owned(),
                specialties: Vec::new(),
            };
            let refused = client.update_vet(request).await.unwrap_err();
            let answer = (refused.code(), refused.message());
            assert_eq!(
                answer,
                (Code::InvalidArgument, "invalid request"),
                "{store}"
            );
            let deleted = client.delete_owner(DeleteOwnerRequest { id: 6 }).await;
            deleted.expect("a deletion");
            let refused = client.get_owner(GetOwnerRequest { id: 6 }).await;
            assert_eq!(refused.unwrap_err().code(), Code::NotFound, "{store}");
            let refused = client.get_pet(GetPetRequest { id: 7 }).await;
            assert_eq!(refused.unwrap_err().code(), Code::NotFound, "{store}");
        });
        // Both kinds are application errors, and count as such.
        let errors = |operation| {
            service.metric(&format!(
                "wirelab_errors_total{{operation=\"{operation}\"}}"
            ))
        };
        assert_eq!(errors("AddVisitToOwner"), 1.0, "{store}");
        assert_eq!(errors("UpdateVet"), 1.0, "{store}");
    }
}

#[test]
fn the_ready_line_names_the_database() {
    let folder = Folder::new("ready");
    let service = petclinic(&rest("json"), &folder.stores()[1]);
    assert_eq!(service.libraries("store"), ["sqlx", "libsqlite3-sys"]);
    assert_eq!(service.ready["set"]["store"], "sqlite");
}
