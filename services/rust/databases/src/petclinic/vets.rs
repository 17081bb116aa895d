//! Vets and their specialties.

use std::collections::HashMap;

use sqlx::Sqlite;
use sqlx::sqlite::SqliteConnection;
use wirelab_contract::clinic::limits::Checked;
use wirelab_contract::petclinic::{
    AddSpecialtyRequest, AddVetRequest, DeleteSpecialtyRequest, DeleteVetRequest, Done,
    GetSpecialtyRequest, GetVetRequest, ListSpecialtiesRequest, ListVetsRequest, Specialties,
    Specialty, UpdateSpecialtyRequest, UpdateVetRequest, Vet, Vets,
};

use super::{Answer, delete, fetch, fetch_by_id, new_id, one, refuse_empty, require_change};

pub(super) async fn list_specialties(
    connection: &mut SqliteConnection,
    _: &ListSpecialtiesRequest,
) -> Answer<Specialties> {
    let rows = fetch(connection, "SELECT id, name FROM specialties ORDER BY id").await?;
    let rows = refuse_empty(rows)?.into_iter();
    Ok(Specialties {
        specialties: rows.map(|(id, name)| Specialty { id, name }).collect(),
    })
}

pub(super) async fn get_specialty(
    connection: &mut SqliteConnection,
    request: &GetSpecialtyRequest,
) -> Answer<Specialty> {
    let select = "SELECT id, name FROM specialties WHERE id = $1";
    let (id, name) = one(fetch_by_id(connection, select, request.id).await?)?;
    Ok(Specialty { id, name })
}

pub(super) async fn add_specialty(
    connection: &mut SqliteConnection,
    request: &AddSpecialtyRequest,
) -> Answer<Specialty> {
    request.check()?;
    let insert = sqlx::query::<Sqlite>("INSERT INTO specialties (name) VALUES ($1)");
    let added = insert.bind(&request.name).execute(connection).await?;
    Ok(Specialty {
        id: new_id(&added)?,
        name: request.name.clone(),
    })
}

pub(super) async fn update_specialty(
    connection: &mut SqliteConnection,
    request: &UpdateSpecialtyRequest,
) -> Answer<Done> {
    request.check()?;
    let update = sqlx::query::<Sqlite>("UPDATE specialties SET name = $1 WHERE id = $2");
    let update = update.bind(&request.name).bind(request.id);
    require_change(&update.execute(connection).await?)
}

pub(super) async fn delete_specialty(
    connection: &mut SqliteConnection,
    request: &DeleteSpecialtyRequest,
) -> Answer<Done> {
    let statement = "DELETE FROM specialties WHERE id = $1";
    delete(connection, statement, request.id).await
}

type VetRow = (i32, String, String);

/// Id of the vet, id and name of one of its specialties.
type VetSpecialtyRow = (i32, i32, String);

fn vets_with(specialties: Vec<VetSpecialtyRow>, rows: Vec<VetRow>) -> Vec<Vet> {
    let mut by_vet: HashMap<i32, Vec<Specialty>> = HashMap::new();
    for (vet, id, name) in specialties {
        by_vet.entry(vet).or_default().push(Specialty { id, name });
    }
    let vets = rows.into_iter().map(|(id, first_name, last_name)| Vet {
        id,
        first_name,
        last_name,
        specialties: by_vet.remove(&id).unwrap_or_default(),
    });
    vets.collect()
}

macro_rules! select_vet_specialties {
    ($rest:literal) => {
        concat!(
            "SELECT v.vet_id, s.id, s.name FROM vet_specialties v \
             JOIN specialties s ON s.id = v.specialty_id ",
            $rest,
            " ORDER BY s.name, s.id"
        )
    };
}

pub(super) async fn list_vets(
    connection: &mut SqliteConnection,
    _: &ListVetsRequest,
) -> Answer<Vets> {
    let specialties = fetch(connection, select_vet_specialties!("")).await?;
    let select = "SELECT id, first_name, last_name FROM vets ORDER BY id";
    let rows = fetch(connection, select).await?;
    Ok(Vets {
        vets: refuse_empty(vets_with(specialties, rows))?,
    })
}

pub(super) async fn get_vet(
    connection: &mut SqliteConnection,
    request: &GetVetRequest,
) -> Answer<Vet> {
    let of_vet = select_vet_specialties!("WHERE v.vet_id = $1");
    let specialties = fetch_by_id(connection, of_vet, request.id).await?;
    let select = "SELECT id, first_name, last_name FROM vets WHERE id = $1";
    let rows = fetch_by_id(connection, select, request.id).await?;
    one(vets_with(specialties, rows))
}

/// Gives a vet the specialties; one that is named twice counts once.
async fn add_vet_specialties(
    connection: &mut SqliteConnection,
    vet_id: i32,
    specialties: &[Specialty],
) -> Answer<()> {
    // OR IGNORE passes over the second row of a primary key, never over a broken foreign key
    // (sqlite.org/lang_conflict.html).
    let insert = "INSERT OR IGNORE INTO vet_specialties (vet_id, specialty_id) VALUES ($1, $2)";
    for specialty in specialties {
        let row = sqlx::query::<Sqlite>(insert)
            .bind(vet_id)
            .bind(specialty.id);
        row.execute(&mut *connection).await?;
    }
    Ok(())
}

pub(super) async fn add_vet(
    connection: &mut SqliteConnection,
    request: &AddVetRequest,
) -> Answer<Vet> {
    request.check()?;
    let insert = "INSERT INTO vets (first_name, last_name) VALUES ($1, $2)";
    let added = sqlx::query::<Sqlite>(insert)
        .bind(&request.first_name)
        .bind(&request.last_name)
        .execute(&mut *connection)
        .await?;
    let id = new_id(&added)?;
    add_vet_specialties(connection, id, &request.specialties).await?;
    get_vet(connection, &GetVetRequest { id }).await
}

pub(super) async fn update_vet(
    connection: &mut SqliteConnection,
    request: &UpdateVetRequest,
) -> Answer<Done> {
    request.check()?;
    let update = "UPDATE vets SET first_name = $1, last_name = $2 WHERE id = $3";
    let updated = sqlx::query::<Sqlite>(update)
        .bind(&request.first_name)
        .bind(&request.last_name)
        .bind(request.id)
        .execute(&mut *connection)
        .await?;
    require_change(&updated)?;
    // The new list replaces the old one. Both statements are in the operation's
    // transaction.
    let clear = sqlx::query::<Sqlite>("DELETE FROM vet_specialties WHERE vet_id = $1");
    clear.bind(request.id).execute(&mut *connection).await?;
    add_vet_specialties(connection, request.id, &request.specialties).await?;
    Ok(Done {})
}

pub(super) async fn delete_vet(
    connection: &mut SqliteConnection,
    request: &DeleteVetRequest,
) -> Answer<Done> {
    delete(connection, "DELETE FROM vets WHERE id = $1", request.id).await
}
