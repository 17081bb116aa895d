//! Owners, their pets, the types of pets, and visits.

use std::collections::HashMap;

use sqlx::Sqlite;
use sqlx::sqlite::SqliteConnection;
use wirelab_contract::ApplicationError;
use wirelab_contract::clinic::limits::Checked;
use wirelab_contract::petclinic::{
    AddOwnerRequest, AddPetRequest, AddPetToOwnerRequest, AddPetTypeRequest, AddVisitRequest,
    AddVisitToOwnerRequest, DeleteOwnerRequest, DeletePetRequest, DeletePetTypeRequest,
    DeleteVisitRequest, Done, GetOwnerRequest, GetOwnersPetRequest, GetPetRequest,
    GetPetTypeRequest, GetVisitRequest, ListOwnersRequest, ListPetTypesRequest, ListPetsRequest,
    ListVisitsRequest, Owner, Owners, Pet, PetType, PetTypes, Pets, UpdateOwnerRequest,
    UpdatePetRequest, UpdatePetTypeRequest, UpdateVisitRequest, Visit, Visits,
};

use super::{
    Answer, delete, fetch, fetch_by_id, fetch_by_name, new_id, one, refuse_empty, require_change,
};

/// The id of a type that only its id names; no row has 0.
fn type_id(named: Option<&PetType>) -> i32 {
    named.map_or(0, |named| named.id)
}

pub(super) async fn list_pet_types(
    connection: &mut SqliteConnection,
    _: &ListPetTypesRequest,
) -> Answer<PetTypes> {
    let rows = fetch(connection, "SELECT id, name FROM types ORDER BY id").await?;
    let pet_types = refuse_empty(rows)?.into_iter();
    Ok(PetTypes {
        pet_types: pet_types.map(|(id, name)| PetType { id, name }).collect(),
    })
}

pub(super) async fn get_pet_type(
    connection: &mut SqliteConnection,
    request: &GetPetTypeRequest,
) -> Answer<PetType> {
    let select = "SELECT id, name FROM types WHERE id = $1";
    let (id, name) = one(fetch_by_id(connection, select, request.id).await?)?;
    Ok(PetType { id, name })
}

pub(super) async fn add_pet_type(
    connection: &mut SqliteConnection,
    request: &AddPetTypeRequest,
) -> Answer<PetType> {
    request.check()?;
    let insert = sqlx::query::<Sqlite>("INSERT INTO types (name) VALUES ($1)");
    let added = insert.bind(&request.name).execute(connection).await?;
    Ok(PetType {
        id: new_id(&added)?,
        name: request.name.clone(),
    })
}

pub(super) async fn update_pet_type(
    connection: &mut SqliteConnection,
    request: &UpdatePetTypeRequest,
) -> Answer<Done> {
    request.check()?;
    let update = sqlx::query::<Sqlite>("UPDATE types SET name = $1 WHERE id = $2");
    let update = update.bind(&request.name).bind(request.id);
    require_change(&update.execute(connection).await?)
}

pub(super) async fn delete_pet_type(
    connection: &mut SqliteConnection,
    request: &DeletePetTypeRequest,
) -> Answer<Done> {
    delete(connection, "DELETE FROM types WHERE id = $1", request.id).await
}

type PetRow = (i32, String, String, i32, String, i32);

type VisitRow = (i32, String, String, i32);

macro_rules! select_pets {
    ($rest:literal) => {
        concat!(
            "SELECT p.id, p.name, p.birth_date, t.id, t.name, p.owner_id \
             FROM pets p JOIN types t ON t.id = p.type_id ",
            $rest
        )
    };
}

macro_rules! select_visits {
    ($rest:literal) => {
        concat!(
            "SELECT id, visit_date, description, pet_id FROM visits ",
            $rest
        )
    };
}

fn visit((id, date, description, pet_id): VisitRow) -> Visit {
    Visit {
        id,
        date,
        description,
        pet_id,
    }
}

/// The pets in the order of their rows, each with its visits in the order of theirs.
fn pets_with(visits: Vec<VisitRow>, rows: Vec<PetRow>) -> Vec<Pet> {
    // Two statements and a map, instead of a join that repeats each pet per visit.
    let mut by_pet: HashMap<i32, Vec<Visit>> = HashMap::new();
    for row in visits.into_iter().map(visit) {
        by_pet.entry(row.pet_id).or_default().push(row);
    }
    let pets = rows.into_iter().map(|row| {
        let (id, name, birth_date, type_id, type_name, owner_id) = row;
        Pet {
            id,
            name,
            birth_date,
            r#type: Some(PetType {
                id: type_id,
                name: type_name,
            }),
            owner_id,
            visits: by_pet.remove(&id).unwrap_or_default(),
        }
    });
    pets.collect()
}

pub(super) async fn list_pets(
    connection: &mut SqliteConnection,
    _: &ListPetsRequest,
) -> Answer<Pets> {
    let visits = fetch(connection, select_visits!("ORDER BY id")).await?;
    let rows = fetch(connection, select_pets!("ORDER BY p.id")).await?;
    Ok(Pets {
        pets: refuse_empty(pets_with(visits, rows))?,
    })
}

async fn pet(connection: &mut SqliteConnection, id: i32) -> Answer<Pet> {
    let of_pet = select_visits!("WHERE pet_id = $1 ORDER BY id");
    let visits = fetch_by_id(connection, of_pet, id).await?;
    let rows = fetch_by_id(connection, select_pets!("WHERE p.id = $1"), id).await?;
    one(pets_with(visits, rows))
}

pub(super) async fn get_pet(
    connection: &mut SqliteConnection,
    request: &GetPetRequest,
) -> Answer<Pet> {
    pet(connection, request.id).await
}

pub(super) async fn add_pet(
    connection: &mut SqliteConnection,
    request: &AddPetRequest,
) -> Answer<Pet> {
    request.check()?;
    let insert = "INSERT INTO pets (name, birth_date, type_id, owner_id) VALUES ($1, $2, $3, $4)";
    let added = sqlx::query::<Sqlite>(insert)
        .bind(&request.name)
        .bind(&request.birth_date)
        .bind(type_id(request.r#type.as_ref()))
        .bind(request.owner_id)
        .execute(&mut *connection)
        .await?;
    pet(connection, new_id(&added)?).await
}

pub(super) async fn update_pet(
    connection: &mut SqliteConnection,
    request: &UpdatePetRequest,
) -> Answer<Done> {
    request.check()?;
    // No row, no foreign key to break: `not found` comes before an unknown type, as the contract
    // demands.
    let update = "UPDATE pets SET name = $1, birth_date = $2, type_id = $3 WHERE id = $4";
    let updated = sqlx::query::<Sqlite>(update)
        .bind(&request.name)
        .bind(&request.birth_date)
        .bind(type_id(request.r#type.as_ref()))
        .bind(request.id)
        .execute(connection)
        .await?;
    require_change(&updated)
}

pub(super) async fn delete_pet(
    connection: &mut SqliteConnection,
    request: &DeletePetRequest,
) -> Answer<Done> {
    delete(connection, "DELETE FROM pets WHERE id = $1", request.id).await
}

type OwnerRow = (i32, String, String, String, String, String);

// LIKE ignores case in SQLite and has wildcards; substr compares characters as they are.
macro_rules! named {
    () => {
        "substr(last_name, 1, length($1)) = $1"
    };
}

fn owner(row: OwnerRow, pets: Vec<Pet>) -> Owner {
    let (id, first_name, last_name, address, city, telephone) = row;
    Owner {
        id,
        first_name,
        last_name,
        address,
        city,
        telephone,
        pets,
    }
}

pub(super) async fn list_owners(
    connection: &mut SqliteConnection,
    request: &ListOwnersRequest,
) -> Answer<Owners> {
    // Three statements for any number of owners, instead of two more per owner.
    let visits = concat!(
        select_visits!("WHERE pet_id IN (SELECT id FROM pets WHERE owner_id IN"),
        " (SELECT id FROM owners WHERE ",
        named!(),
        ")) ORDER BY id"
    );
    let pets = concat!(
        select_pets!("WHERE p.owner_id IN (SELECT id FROM owners WHERE "),
        named!(),
        ") ORDER BY p.name, p.id"
    );
    let owners = concat!(
        "SELECT id, first_name, last_name, address, city, telephone FROM owners WHERE ",
        named!(),
        " ORDER BY id"
    );
    let visits = fetch_by_name(connection, visits, &request.last_name).await?;
    let pets = fetch_by_name(connection, pets, &request.last_name).await?;
    let rows: Vec<OwnerRow> = fetch_by_name(connection, owners, &request.last_name).await?;
    let mut by_owner: HashMap<i32, Vec<Pet>> = HashMap::new();
    for pet in pets_with(visits, pets) {
        by_owner.entry(pet.owner_id).or_default().push(pet);
    }
    let owners = rows.into_iter().map(|row| {
        let pets = by_owner.remove(&row.0).unwrap_or_default();
        owner(row, pets)
    });
    Ok(Owners {
        owners: refuse_empty(owners.collect())?,
    })
}

pub(super) async fn get_owner(
    connection: &mut SqliteConnection,
    request: &GetOwnerRequest,
) -> Answer<Owner> {
    let select = "SELECT id, first_name, last_name, address, city, telephone FROM owners \
        WHERE id = $1";
    let row = one(fetch_by_id(connection, select, request.id).await?)?;
    let of_owner =
        select_visits!("WHERE pet_id IN (SELECT id FROM pets WHERE owner_id = $1) ORDER BY id");
    let visits = fetch_by_id(connection, of_owner, request.id).await?;
    let of_owner = select_pets!("WHERE p.owner_id = $1 ORDER BY p.name, p.id");
    let rows = fetch_by_id(connection, of_owner, request.id).await?;
    Ok(owner(row, pets_with(visits, rows)))
}

pub(super) async fn add_owner(
    connection: &mut SqliteConnection,
    request: &AddOwnerRequest,
) -> Answer<Owner> {
    request.check()?;
    let insert = "INSERT INTO owners (first_name, last_name, address, city, telephone) \
        VALUES ($1, $2, $3, $4, $5)";
    let added = sqlx::query::<Sqlite>(insert)
        .bind(&request.first_name)
        .bind(&request.last_name)
        .bind(&request.address)
        .bind(&request.city)
        .bind(&request.telephone)
        .execute(&mut *connection)
        .await?;
    let id = new_id(&added)?;
    get_owner(connection, &GetOwnerRequest { id }).await
}

pub(super) async fn update_owner(
    connection: &mut SqliteConnection,
    request: &UpdateOwnerRequest,
) -> Answer<Done> {
    request.check()?;
    let update = "UPDATE owners SET first_name = $1, last_name = $2, address = $3, city = $4, \
        telephone = $5 WHERE id = $6";
    let updated = sqlx::query::<Sqlite>(update)
        .bind(&request.first_name)
        .bind(&request.last_name)
        .bind(&request.address)
        .bind(&request.city)
        .bind(&request.telephone)
        .bind(request.id)
        .execute(connection)
        .await?;
    require_change(&updated)
}

pub(super) async fn delete_owner(
    connection: &mut SqliteConnection,
    request: &DeleteOwnerRequest,
) -> Answer<Done> {
    delete(connection, "DELETE FROM owners WHERE id = $1", request.id).await
}

pub(super) async fn add_pet_to_owner(
    connection: &mut SqliteConnection,
    request: &AddPetToOwnerRequest,
) -> Answer<Pet> {
    request.check()?;
    // Here a missing owner is `not found`; as a foreign key it would be an invalid request.
    let select = "SELECT id FROM owners WHERE id = $1";
    let (owner_id,): (i32,) = one(fetch_by_id(connection, select, request.owner_id).await?)?;
    let pet = AddPetRequest {
        name: request.name.clone(),
        birth_date: request.birth_date.clone(),
        r#type: request.r#type.clone(),
        owner_id,
    };
    add_pet(connection, &pet).await
}

/// Whether the pet exists and is the owner's.
async fn require_owner(
    connection: &mut SqliteConnection,
    owner_id: i32,
    pet_id: i32,
) -> Answer<()> {
    let select = "SELECT owner_id FROM pets WHERE id = $1";
    let (found,): (i32,) = one(fetch_by_id(connection, select, pet_id).await?)?;
    match found == owner_id {
        true => Ok(()),
        false => Err(ApplicationError::NotFound.into()),
    }
}

pub(super) async fn add_visit_to_owner(
    connection: &mut SqliteConnection,
    request: &AddVisitToOwnerRequest,
) -> Answer<Visit> {
    request.check()?;
    require_owner(connection, request.owner_id, request.pet_id).await?;
    let visit = AddVisitRequest {
        date: request.date.clone(),
        description: request.description.clone(),
        pet_id: request.pet_id,
    };
    add_visit(connection, &visit).await
}

pub(super) async fn get_owners_pet(
    connection: &mut SqliteConnection,
    request: &GetOwnersPetRequest,
) -> Answer<Pet> {
    require_owner(connection, request.owner_id, request.pet_id).await?;
    pet(connection, request.pet_id).await
}

pub(super) async fn list_visits(
    connection: &mut SqliteConnection,
    _: &ListVisitsRequest,
) -> Answer<Visits> {
    let rows = fetch(connection, select_visits!("ORDER BY id")).await?;
    Ok(Visits {
        visits: refuse_empty(rows)?.into_iter().map(visit).collect(),
    })
}

pub(super) async fn get_visit(
    connection: &mut SqliteConnection,
    request: &GetVisitRequest,
) -> Answer<Visit> {
    let select = select_visits!("WHERE id = $1");
    let row = one(fetch_by_id(connection, select, request.id).await?)?;
    Ok(visit(row))
}

pub(super) async fn add_visit(
    connection: &mut SqliteConnection,
    request: &AddVisitRequest,
) -> Answer<Visit> {
    request.check()?;
    let insert = "INSERT INTO visits (visit_date, description, pet_id) VALUES ($1, $2, $3)";
    let added = sqlx::query::<Sqlite>(insert)
        .bind(&request.date)
        .bind(&request.description)
        .bind(request.pet_id)
        .execute(connection)
        .await?;
    Ok(Visit {
        id: new_id(&added)?,
        date: request.date.clone(),
        description: request.description.clone(),
        pet_id: request.pet_id,
    })
}

pub(super) async fn update_visit(
    connection: &mut SqliteConnection,
    request: &UpdateVisitRequest,
) -> Answer<Done> {
    request.check()?;
    let update = "UPDATE visits SET visit_date = $1, description = $2 WHERE id = $3";
    let updated = sqlx::query::<Sqlite>(update)
        .bind(&request.date)
        .bind(&request.description)
        .bind(request.id)
        .execute(connection)
        .await?;
    require_change(&updated)
}

pub(super) async fn delete_visit(
    connection: &mut SqliteConnection,
    request: &DeleteVisitRequest,
) -> Answer<Done> {
    delete(connection, "DELETE FROM visits WHERE id = $1", request.id).await
}
