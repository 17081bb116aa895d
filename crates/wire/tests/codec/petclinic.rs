//! Replies of petclinic: lists are arrays in JSON, and an empty reply has no body
//! (contracts/README.md).

use wirelab_contract::ops::{DeleteVet, GetPet, ListOwners, ListPetTypes};
use wirelab_contract::petclinic::{Done, GetPetRequest, ListOwnersRequest, PetType, PetTypes};
use wirelab_contract::{Operation, State, Store, Unary};
use wirelab_wire::codec::{Codec, MessageFormat};

fn types() -> PetTypes {
    let cat = PetType {
        id: 1,
        name: "cat".to_owned(),
    };
    PetTypes {
        pet_types: vec![cat],
    }
}

#[test]
fn a_list_is_an_array_in_json_and_the_message_in_protobuf() {
    let json = MessageFormat::from(Codec::Json);
    let written = json.write_reply::<ListPetTypes>(&types());
    assert_eq!(written, br#"[{"id":1,"name":"cat"}]"#);
    assert_eq!(json.read_reply::<ListPetTypes>(&written).unwrap(), types());
    // The message around the list, too: in JSON it is not the form of a list.
    for bad in ["", "{}", "[1]", "[{}] x", r#"[{"id":1.5}]"#, "null"] {
        let read = json.read_reply::<ListPetTypes>(bad.as_bytes());
        assert!(read.is_err(), "{bad}");
    }
    let protobuf = MessageFormat::from(Codec::Protobuf);
    let written = protobuf.write_reply::<ListPetTypes>(&types());
    assert_eq!(written, b"\x0a\x07\x08\x01\x12\x03cat");
}

#[test]
fn an_empty_reply_has_no_body() {
    let json = MessageFormat::from(Codec::Json);
    assert_eq!(json.write_reply::<DeleteVet>(&Done {}), b"");
    assert!(json.read_reply::<DeleteVet>(b"").is_ok());
    assert!(json.read_reply::<DeleteVet>(b"{}").is_err());
}

#[test]
fn rows_have_the_fields_of_the_application() {
    let json = MessageFormat::from(Codec::Json);
    let state = State::new(&Store::default());
    let owners = ListOwners::answer(&state, ListOwnersRequest::default()).unwrap();
    let written = json.write_reply::<ListOwners>(&owners);
    assert!(written.starts_with(br#"[{"id":1,"firstName":"George""#));
    assert_eq!(json.read_reply::<ListOwners>(&written).unwrap(), owners);
    let pet = GetPet::answer(&state, GetPetRequest { id: 7 }).unwrap();
    let written = String::from_utf8(json.write_reply::<GetPet>(&pet)).unwrap();
    let expected = r#""type":{"id":1,"name":"cat"},"ownerId":6"#;
    assert!(written.contains(expected), "{written}");
}

#[test]
fn errors_have_a_kind_and_a_text_in_json() {
    let json = MessageFormat::from(Codec::Json);
    let read = |body: &str| json.read_error(Operation::GetVet, body.as_bytes());
    let info = r#"{"className":"Bad Request","exMessage":"invalid request"}"#;
    assert_eq!(read(info).unwrap(), "invalid request");
    for bad in ["", r#"{"error":"invalid request"}"#, r#"{"exMessage":"x"}"#] {
        assert!(read(bad).is_err(), "{bad}");
    }
    let protobuf = MessageFormat::from(Codec::Protobuf);
    let read = protobuf.read_error(Operation::GetVet, b"\x0a\x01x");
    assert_eq!(read.unwrap(), "x");
}
