//! The ids in calls and replies of `petclinic`, by the kind of row that they name.

use wirelab_contract::petclinic::{Owner, Pet, PetType, Specialty, Vet, Visit};
use wirelab_contract::{Call, Reply};

/// Whose id it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Row {
    PetType,
    Specialty,
    Vet,
    Owner,
    Pet,
    Visit,
}

/// Something that is done with every id.
pub(crate) type WithId<'a> = &'a mut dyn FnMut(Row, &mut i32);

/// Does it with every id of a call.
pub(crate) fn of_call(call: &mut Call, with: WithId<'_>) {
    // A visitor, and not lists of ids: translation writes into the message in place.
    match call {
        Call::GetPetType(request) => with(Row::PetType, &mut request.id),
        Call::UpdatePetType(request) => with(Row::PetType, &mut request.id),
        Call::DeletePetType(request) => with(Row::PetType, &mut request.id),
        Call::GetPet(request) => with(Row::Pet, &mut request.id),
        Call::AddPet(request) => {
            with(Row::Owner, &mut request.owner_id);
            pet_type(request.r#type.as_mut(), with);
        }
        Call::UpdatePet(request) => {
            with(Row::Pet, &mut request.id);
            pet_type(request.r#type.as_mut(), with);
        }
        Call::DeletePet(request) => with(Row::Pet, &mut request.id),
        Call::GetOwner(request) => with(Row::Owner, &mut request.id),
        Call::UpdateOwner(request) => with(Row::Owner, &mut request.id),
        Call::DeleteOwner(request) => with(Row::Owner, &mut request.id),
        Call::AddPetToOwner(request) => {
            with(Row::Owner, &mut request.owner_id);
            pet_type(request.r#type.as_mut(), with);
        }
        Call::AddVisitToOwner(request) => {
            with(Row::Owner, &mut request.owner_id);
            with(Row::Pet, &mut request.pet_id);
        }
        Call::GetOwnersPet(request) => {
            with(Row::Owner, &mut request.owner_id);
            with(Row::Pet, &mut request.pet_id);
        }
        Call::GetSpecialty(request) => with(Row::Specialty, &mut request.id),
        Call::UpdateSpecialty(request) => with(Row::Specialty, &mut request.id),
        Call::DeleteSpecialty(request) => with(Row::Specialty, &mut request.id),
        Call::GetVet(request) => with(Row::Vet, &mut request.id),
        Call::AddVet(request) => specialties(&mut request.specialties, with),
        Call::UpdateVet(request) => {
            with(Row::Vet, &mut request.id);
            specialties(&mut request.specialties, with);
        }
        Call::DeleteVet(request) => with(Row::Vet, &mut request.id),
        Call::GetVisit(request) => with(Row::Visit, &mut request.id),
        Call::AddVisit(request) => with(Row::Pet, &mut request.pet_id),
        Call::UpdateVisit(request) => with(Row::Visit, &mut request.id),
        Call::DeleteVisit(request) => with(Row::Visit, &mut request.id),
        _ => {}
    }
}

/// Does it with every id of a reply.
pub(crate) fn of_reply(reply: &mut Reply, with: WithId<'_>) {
    // Nested rows too: an owner holds pets, and these hold visits, each with ids that the
    // service chose.
    match reply {
        Reply::PetTypes(rows) => {
            rows.pet_types
                .iter_mut()
                .for_each(|row| pet_type(Some(row), with));
        }
        Reply::PetType(row) => pet_type(Some(row), with),
        Reply::Specialties(rows) => specialties(&mut rows.specialties, with),
        Reply::Specialty(row) => with(Row::Specialty, &mut row.id),
        Reply::Vets(rows) => rows.vets.iter_mut().for_each(|row| vet(row, with)),
        Reply::Vet(row) => vet(row, with),
        Reply::Owners(rows) => rows.owners.iter_mut().for_each(|row| owner(row, with)),
        Reply::Owner(row) => owner(row, with),
        Reply::Pets(rows) => rows.pets.iter_mut().for_each(|row| pet(row, with)),
        Reply::Pet(row) => pet(row, with),
        Reply::Visits(rows) => rows.visits.iter_mut().for_each(|row| visit(row, with)),
        Reply::Visit(row) => visit(row, with),
        _ => {}
    }
}

/// The id of the row that a reply to an addition is.
pub(crate) fn of_row(reply: &mut Reply) -> Option<(Row, &mut i32)> {
    // Only the outermost row is new. The rows within it were there before.
    Some(match reply {
        Reply::PetType(row) => (Row::PetType, &mut row.id),
        Reply::Specialty(row) => (Row::Specialty, &mut row.id),
        Reply::Vet(row) => (Row::Vet, &mut row.id),
        Reply::Owner(row) => (Row::Owner, &mut row.id),
        Reply::Pet(row) => (Row::Pet, &mut row.id),
        Reply::Visit(row) => (Row::Visit, &mut row.id),
        _ => return None,
    })
}

fn pet_type(row: Option<&mut PetType>, with: WithId<'_>) {
    if let Some(row) = row {
        with(Row::PetType, &mut row.id);
    }
}

fn specialties(rows: &mut [Specialty], with: WithId<'_>) {
    for row in rows {
        with(Row::Specialty, &mut row.id);
    }
}

fn vet(row: &mut Vet, with: WithId<'_>) {
    with(Row::Vet, &mut row.id);
    specialties(&mut row.specialties, with);
}

fn owner(row: &mut Owner, with: WithId<'_>) {
    with(Row::Owner, &mut row.id);
    for pet_of in &mut row.pets {
        pet(pet_of, with);
    }
}

fn pet(row: &mut Pet, with: WithId<'_>) {
    with(Row::Pet, &mut row.id);
    with(Row::Owner, &mut row.owner_id);
    pet_type(row.r#type.as_mut(), with);
    for visit_of in &mut row.visits {
        visit(visit_of, with);
    }
}

fn visit(row: &mut Visit, with: WithId<'_>) {
    with(Row::Visit, &mut row.id);
    with(Row::Pet, &mut row.pet_id);
}
