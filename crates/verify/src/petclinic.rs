//! Calls of `petclinic`.

use wirelab_contract::petclinic::*;
use wirelab_contract::texts::SplitMix64;
use wirelab_contract::{Call, Reply};

use crate::walk::Walk;

/// Calls of the generated sequence.
const GENERATED: usize = 400;

/// An id that no row has.
const NO_ROW: i32 = i32::MAX - 7;

pub(crate) fn operations(walk: &mut Walk, seed: u64) {
    lists(walk, "at the start");
    // 13 pets are the longest table at the start, so every row is read, and ids beyond the
    // shorter ones.
    for id in 1..=13 {
        rows(walk, "at the start", id);
    }
    // Case counts, and `%` and `_` are wildcards of LIKE in SQL that a service must escape.
    for last_name in ["Davis", "D", "Es", "davis", "Nobody", "%", "_"] {
        let last_name = last_name.to_owned();
        let call = Call::ListOwners(ListOwnersRequest { last_name });
        let _ = walk.step("owners by the beginning of their last names", &call);
    }
    // Pets of that owner, pets of another, and rows that do not exist.
    for (owner_id, pet_id) in [(6, 7), (6, 8), (10, 12), (1, 1), (1, 2), (99, 1), (1, 99)] {
        let call = Call::GetOwnersPet(GetOwnersPetRequest { owner_id, pet_id });
        let _ = walk.step("a pet and its owner", &call);
    }
    add_rows(walk);
    cascades(walk);
    generate(walk, seed);
    lists(walk, "after all");
}

/// Every list.
fn lists(walk: &mut Walk, when: &str) {
    for call in [
        Call::ListPetTypes(ListPetTypesRequest {}),
        Call::ListPets(ListPetsRequest {}),
        Call::ListOwners(ListOwnersRequest::default()),
        Call::ListSpecialties(ListSpecialtiesRequest {}),
        Call::ListVets(ListVetsRequest {}),
        Call::ListVisits(ListVisitsRequest {}),
    ] {
        let _ = walk.step(&format!("{} {when}", call.operation()), &call);
    }
}

/// The rows of that id.
fn rows(walk: &mut Walk, when: &str, id: i32) {
    for call in [
        Call::GetPetType(GetPetTypeRequest { id }),
        Call::GetPet(GetPetRequest { id }),
        Call::GetOwner(GetOwnerRequest { id }),
        Call::GetSpecialty(GetSpecialtyRequest { id }),
        Call::GetVet(GetVetRequest { id }),
        Call::GetVisit(GetVisitRequest { id }),
    ] {
        let _ = walk.step(&format!("{} {when}", call.operation()), &call);
    }
}

/// A new row of every kind, changed and read back.
fn add_rows(walk: &mut Walk) {
    // Without the row there is nothing to go on with. That the addition failed is a finding
    // already.
    let Some(type_id) = add(walk, add_type("Größe <&> 🔩")) else {
        return;
    };
    let name = "axolotl".to_owned();
    let call = Call::UpdatePetType(UpdatePetTypeRequest { id: type_id, name });
    let _ = walk.step("a type gets another name", &call);
    let Some(owner_id) = add(walk, add_owner("Zacharias")) else {
        return;
    };
    let call = Call::UpdateOwner(UpdateOwnerRequest {
        id: owner_id,
        first_name: "Ada".to_owned(),
        last_name: "Zacharias".to_owned(),
        address: "\"é\" 1 <b>".to_owned(),
        city: "A".to_owned(),
        telephone: "0".to_owned(),
    });
    let _ = walk.step("an owner moves", &call);
    // Twice the same name: rows must not be merged by it.
    for name in ["Zoe", "Anna", "Zoe", "ärger"] {
        let _ = add(walk, add_pet_to_owner(owner_id, type_id, name));
    }
    let Some(pet_id) = add(walk, add_pet(owner_id, 1, "Mia")) else {
        return;
    };
    let _ = walk.step("an owner with pets", &get_owner(owner_id));
    let call = Call::UpdatePet(UpdatePetRequest {
        id: pet_id,
        name: "Aaron".to_owned(),
        birth_date: "2024-02-29".to_owned(),
        r#type: pet_type(2),
    });
    let _ = walk.step("a pet gets another name and type", &call);
    for date in ["2024-02-29", "0001-01-01", "9999-12-31"] {
        let _ = add(walk, add_visit(pet_id, date));
        let _ = add(walk, add_visit_to_owner(owner_id, pet_id, date));
    }
    let _ = walk.step("an owner with pets and visits", &get_owner(owner_id));
    let Some(specialty) = add(walk, add_specialty("acupuncture")) else {
        return;
    };
    // Not in the order of ids, so that the order of the reply is seen.
    let Some(vet) = add(walk, add_vet("Zenobia", &[3, specialty, 1])) else {
        return;
    };
    let _ = walk.step(
        "a vet with specialties",
        &Call::GetVet(GetVetRequest { id: vet }),
    );
    let call = Call::UpdateVet(UpdateVetRequest {
        id: vet,
        first_name: "Zenobia".to_owned(),
        last_name: "Vet".to_owned(),
        specialties: specialties(&[specialty]),
    });
    let _ = walk.step("a vet gives specialties up", &call);
    let call = Call::UpdateSpecialty(UpdateSpecialtyRequest {
        id: specialty,
        name: "anaesthesia".to_owned(),
    });
    let _ = walk.step("a specialty gets another name", &call);
    lists(walk, "after additions");
}

/// Deletions take what belongs to a row along, and nothing else.
fn cascades(walk: &mut Walk) {
    let deletions = [
        Call::DeleteVisit(DeleteVisitRequest { id: 1 }),
        Call::DeletePet(DeletePetRequest { id: 8 }),
        Call::DeleteOwner(DeleteOwnerRequest { id: 3 }),
        Call::DeletePetType(DeletePetTypeRequest { id: 5 }),
        Call::DeleteSpecialty(DeleteSpecialtyRequest { id: 2 }),
        Call::DeleteVet(DeleteVetRequest { id: 2 }),
    ];
    for call in deletions {
        let operation = call.operation();
        let _ = walk.step(&format!("{operation} of a row that others refer to"), &call);
        // `not found`: a deletion that can be repeated has left the row behind.
        let _ = walk.step(&format!("{operation} again"), &call);
        lists(walk, &format!("after {operation}"));
    }
}

fn generate(walk: &mut Walk, seed: u64) {
    let mut random = SplitMix64::new(seed ^ 0x9E7C);
    for _ in 0..GENERATED {
        let call = next(&mut random);
        let _ = walk.step("a generated sequence", &call);
    }
}

fn next(random: &mut SplitMix64) -> Call {
    let mut below = |n: u64| (random.next_u64() % n) as i32;
    // Small ids: they hit rows of the start, rows that were deleted, and new ones. Numbers
    // beyond the table are the errors' business.
    let (id, other) = (1 + below(16), 1 + below(8));
    let letter = char::from(b'A' + below(26) as u8);
    let name = format!("{letter}{}", "a".repeat(below(12) as usize));
    match below(20) {
        0 => add_type(&name),
        1 => add_specialty(&name),
        2 => add_vet(&name, &[1 + below(4), 1 + below(4)]),
        3 => add_owner(&name),
        4 | 5 => add_pet(id, other, &name),
        6 => add_pet_to_owner(id, other, &name),
        7 | 8 => add_visit(id, "2024-09-09"),
        9 => add_visit_to_owner(other, id, "2024-09-09"),
        10 => Call::GetOwner(GetOwnerRequest { id }),
        11 => Call::GetPet(GetPetRequest { id }),
        12 => Call::GetVet(GetVetRequest { id }),
        // Only ids beyond the rows of the start, or soon nothing would be left to call.
        13 => Call::DeleteVisit(DeleteVisitRequest { id: 40 + id }),
        14 => Call::DeletePet(DeletePetRequest { id: 20 + id }),
        15 => Call::DeleteOwner(DeleteOwnerRequest { id: 12 + id }),
        16 => Call::DeleteVet(DeleteVetRequest { id: 5 + id }),
        17 => Call::UpdatePetType(UpdatePetTypeRequest { id, name }),
        18 => Call::UpdateVisit(UpdateVisitRequest {
            id,
            date: "2000-01-31".to_owned(),
            description: name,
        }),
        _ => Call::UpdateSpecialty(UpdateSpecialtyRequest { id: other, name }),
    }
}

/// What is left out, with the reason, where requests are not validated.
fn only_validated(what: &str) -> Vec<String> {
    vec![format!(
        "{what}: with validation=off the service does not check limits of fields"
    )]
}

pub(crate) fn errors(walk: &mut Walk, validation: bool) -> Vec<String> {
    for id in [0, -1, i32::MIN, i32::MAX, NO_ROW] {
        rows(walk, "of no row", id);
        for call in [
            Call::DeletePetType(DeletePetTypeRequest { id }),
            Call::DeletePet(DeletePetRequest { id }),
            Call::DeleteOwner(DeleteOwnerRequest { id }),
            Call::DeleteSpecialty(DeleteSpecialtyRequest { id }),
            Call::DeleteVet(DeleteVetRequest { id }),
            Call::DeleteVisit(DeleteVisitRequest { id }),
            Call::UpdatePetType(UpdatePetTypeRequest {
                id,
                name: "x".to_owned(),
            }),
            add_pet(id, 1, "Leo"),
            add_pet(1, id, "Leo"),
            add_pet_to_owner(id, 1, "Leo"),
            add_pet_to_owner(1, id, "Leo"),
            add_visit(id, "2024-09-09"),
            add_visit_to_owner(id, 1, "2024-09-09"),
            add_visit_to_owner(1, id, "2024-09-09"),
            add_vet("Ada", &[1, id]),
        ] {
            let _ = walk.step(&format!("{} without a row", call.operation()), &call);
        }
    }
    let _ = walk.step(
        // An unknown owner is `not found`, an unknown type `invalid request`: the text
        // shows which was checked first.
        "the owner comes before the type",
        &add_pet_to_owner(NO_ROW, NO_ROW, "Leo"),
    );
    let first = "a limit comes before the row";
    if validation {
        let _ = walk.step(first, &add_pet_to_owner(NO_ROW, 1, ""));
    }
    lists(walk, "after errors");
    if validation {
        Vec::new()
    } else {
        only_validated(first)
    }
}

pub(crate) fn limits(walk: &mut Walk, validation: bool) -> Vec<String> {
    if !validation {
        return only_validated("texts and dates at their limits and beyond");
    }
    let text = |count: usize| "x".repeat(count);
    for count in [0, 1, 80, 81] {
        let _ = walk.step("the name of a type", &add_type(&text(count)));
        let _ = walk.step("the name of a specialty", &add_specialty(&text(count)));
    }
    let _ = walk.step("a NUL in the name of a type", &add_type("a\0b"));
    // Characters, not bytes (unlike calendar): 80 of these are 160 bytes.
    let _ = walk.step("80 characters of two bytes", &add_type(&"é".repeat(80)));
    let _ = walk.step("81 characters of two bytes", &add_type(&"é".repeat(81)));
    for count in [0, 1, 30, 31] {
        let _ = walk.step("the name of a pet", &add_pet(1, 1, &text(count)));
        let _ = walk.step("the name of a vet", &add_vet(&text(count), &[]));
        let _ = walk.step("the name of an owner", &add_owner(&text(count)));
    }
    for name in ["O'Neil", "Zoë", "A B", "A1", " "] {
        let _ = walk.step(
            "a name with other characters than letters",
            &add_owner(name),
        );
    }
    for (address, city, telephone) in [(255, 80, 20), (256, 1, 1), (1, 81, 1), (0, 1, 1), (1, 0, 1)]
    {
        let call = Call::AddOwner(AddOwnerRequest {
            first_name: "A".to_owned(),
            last_name: "B".to_owned(),
            address: text(address),
            city: text(city),
            telephone: "1".repeat(telephone),
        });
        let _ = walk.step("the address of an owner", &call);
    }
    for telephone in ["", "608-555", "+1608", "1 2", &"1".repeat(21)] {
        let call = Call::AddOwner(AddOwnerRequest {
            first_name: "A".to_owned(),
            last_name: "B".to_owned(),
            address: "a".to_owned(),
            city: "c".to_owned(),
            telephone: telephone.to_owned(),
        });
        let _ = walk.step("the telephone of an owner", &call);
    }
    for date in [
        "",
        // Forms that lenient parsers take, days that no month has, and the year before 1.
        "2024-2-9",
        "2024/09/09",
        "2023-02-29",
        "2024-13-01",
        "2024-04-31",
        "0000-01-01",
        "2024-09-09T00:00",
        "yesterday",
    ] {
        let _ = walk.step("a date that does not exist", &add_visit(1, date));
    }
    for count in [0, 1, 255, 256] {
        let call = Call::AddVisit(AddVisitRequest {
            date: "2024-09-09".to_owned(),
            description: text(count),
            pet_id: 1,
        });
        let _ = walk.step("the description of a visit", &call);
    }
    lists(walk, "after the limits");
    Vec::new()
}

/// Adds a row and gives the model's id of it.
fn add(walk: &mut Walk, call: Call) -> Option<i32> {
    let reply = walk.step(&format!("{}, a new row", call.operation()), &call);
    Some(match reply.ok()? {
        Reply::PetType(row) => row.id,
        Reply::Pet(row) => row.id,
        Reply::Owner(row) => row.id,
        Reply::Specialty(row) => row.id,
        Reply::Vet(row) => row.id,
        Reply::Visit(row) => row.id,
        _ => return None,
    })
}

fn add_type(name: &str) -> Call {
    let name = name.to_owned();
    Call::AddPetType(AddPetTypeRequest { name })
}

fn add_specialty(name: &str) -> Call {
    let name = name.to_owned();
    Call::AddSpecialty(AddSpecialtyRequest { name })
}

fn add_owner(last_name: &str) -> Call {
    Call::AddOwner(AddOwnerRequest {
        first_name: "Name".to_owned(),
        last_name: last_name.to_owned(),
        address: "Address1".to_owned(),
        city: "City1".to_owned(),
        telephone: "1234567891".to_owned(),
    })
}

fn add_pet(owner_id: i32, type_id: i32, name: &str) -> Call {
    Call::AddPet(AddPetRequest {
        name: name.to_owned(),
        birth_date: "2020-02-29".to_owned(),
        r#type: pet_type(type_id),
        owner_id,
    })
}

fn add_pet_to_owner(owner_id: i32, type_id: i32, name: &str) -> Call {
    Call::AddPetToOwner(AddPetToOwnerRequest {
        name: name.to_owned(),
        birth_date: "2020-02-29".to_owned(),
        r#type: pet_type(type_id),
        owner_id,
    })
}

fn add_visit(pet_id: i32, date: &str) -> Call {
    Call::AddVisit(AddVisitRequest {
        date: date.to_owned(),
        description: "rabies shot".to_owned(),
        pet_id,
    })
}

fn add_visit_to_owner(owner_id: i32, pet_id: i32, date: &str) -> Call {
    Call::AddVisitToOwner(AddVisitToOwnerRequest {
        owner_id,
        pet_id,
        date: date.to_owned(),
        description: "rabies shot".to_owned(),
    })
}

fn add_vet(first_name: &str, ids: &[i32]) -> Call {
    Call::AddVet(AddVetRequest {
        first_name: first_name.to_owned(),
        last_name: "Vet".to_owned(),
        specialties: specialties(ids),
    })
}

fn get_owner(id: i32) -> Call {
    Call::GetOwner(GetOwnerRequest { id })
}

/// A type named by its id; its name must not count.
fn pet_type(id: i32) -> Option<PetType> {
    let name = "any".to_owned();
    Some(PetType { id, name })
}

fn specialties(ids: &[i32]) -> Vec<Specialty> {
    let named = |id: &i32| Specialty {
        id: *id,
        name: "any".to_owned(),
    };
    ids.iter().map(named).collect()
}
