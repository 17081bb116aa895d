//! The tables of `petclinic` in SQLite (contracts/README.md, petclinic): each operation is one
//! transaction.

mod owners;
pub(super) mod schema;
mod vets;

use sqlx::sqlite::{SqliteConnection, SqlitePool, SqliteQueryResult, SqliteRow};
use sqlx::{FromRow, Sqlite};
use wirelab_contract::petclinic::Done;
use wirelab_contract::{ApplicationError, Operation};
use wirelab_services::rows::AnyMessage;

use super::{erase, take};

/// Why an operation has no reply.
#[derive(Debug)]
pub(super) enum Failure {
    /// The contract demands this error.
    Application(ApplicationError),
    /// The database failed.
    Database(sqlx::Error),
}

impl From<ApplicationError> for Failure {
    fn from(error: ApplicationError) -> Self {
        Failure::Application(error)
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        // A type, owner, pet or specialty that a request refers to and that does not exist: the
        // foreign keys check it, in the same statement and without a race.
        let refers_to_none = error
            .as_database_error()
            .is_some_and(sqlx::error::DatabaseError::is_foreign_key_violation);
        match refers_to_none {
            true => Failure::Application(ApplicationError::Invalid),
            false => Failure::Database(error),
        }
    }
}

type Answer<T> = Result<T, Failure>;

macro_rules! operations {
    ($connection:ident, $request:ident, $of:expr; $($operation:ident => $function:path,)*) => {
        match $of {
            $(Operation::$operation => $function($connection, &take($request)).await.map(erase),)*
            other => unreachable!("{other} is not an operation of petclinic"),
        }
    };
}

/// The reply to a request, made in one transaction.
pub(super) async fn answer(
    pool: &SqlitePool,
    operation: Operation,
    request: AnyMessage,
) -> Answer<AnyMessage> {
    // A transaction that begins as a reader and writes later fails with SQLITE_BUSY where another
    // connection wrote in between (sqlite.org/lang_transaction.html): writers lock at once. Readers
    // need one too: a pet and its visits are two statements and must show the same moment.
    let begin = match operation.route().map(|route| route.method) {
        Some("GET") => "BEGIN",
        _ => "BEGIN IMMEDIATE",
    };
    let mut transaction = pool.begin_with(begin).await?;
    // An error rolls back when the transaction is dropped.
    let reply = answer_within(&mut transaction, operation, request).await?;
    transaction.commit().await?;
    Ok(reply)
}

async fn answer_within(
    connection: &mut SqliteConnection,
    operation: Operation,
    request: AnyMessage,
) -> Answer<AnyMessage> {
    operations! { connection, request, operation;
        ListPetTypes => owners::list_pet_types,
        GetPetType => owners::get_pet_type,
        AddPetType => owners::add_pet_type,
        UpdatePetType => owners::update_pet_type,
        DeletePetType => owners::delete_pet_type,
        ListPets => owners::list_pets,
        GetPet => owners::get_pet,
        AddPet => owners::add_pet,
        UpdatePet => owners::update_pet,
        DeletePet => owners::delete_pet,
        ListOwners => owners::list_owners,
        GetOwner => owners::get_owner,
        AddOwner => owners::add_owner,
        UpdateOwner => owners::update_owner,
        DeleteOwner => owners::delete_owner,
        AddPetToOwner => owners::add_pet_to_owner,
        AddVisitToOwner => owners::add_visit_to_owner,
        GetOwnersPet => owners::get_owners_pet,
        ListSpecialties => vets::list_specialties,
        GetSpecialty => vets::get_specialty,
        AddSpecialty => vets::add_specialty,
        UpdateSpecialty => vets::update_specialty,
        DeleteSpecialty => vets::delete_specialty,
        ListVets => vets::list_vets,
        GetVet => vets::get_vet,
        AddVet => vets::add_vet,
        UpdateVet => vets::update_vet,
        DeleteVet => vets::delete_vet,
        ListVisits => owners::list_visits,
        GetVisit => owners::get_visit,
        AddVisit => owners::add_visit,
        UpdateVisit => owners::update_visit,
        DeleteVisit => owners::delete_visit,
    }
}

async fn fetch<T>(connection: &mut SqliteConnection, select: &'static str) -> Answer<Vec<T>>
where
    T: for<'r> FromRow<'r, SqliteRow> + Send + Unpin,
{
    // Static texts only: values are bound, never formatted in.
    let query = sqlx::query_as::<Sqlite, T>(select);
    Ok(query.fetch_all(connection).await?)
}

async fn fetch_by_id<T>(
    connection: &mut SqliteConnection,
    select: &'static str,
    id: i32,
) -> Answer<Vec<T>>
where
    T: for<'r> FromRow<'r, SqliteRow> + Send + Unpin,
{
    let query = sqlx::query_as::<Sqlite, T>(select);
    Ok(query.bind(id).fetch_all(connection).await?)
}

async fn fetch_by_name<T>(
    connection: &mut SqliteConnection,
    select: &'static str,
    last_name: &str,
) -> Answer<Vec<T>>
where
    T: for<'r> FromRow<'r, SqliteRow> + Send + Unpin,
{
    let query = sqlx::query_as::<Sqlite, T>(select);
    Ok(query.bind(last_name).fetch_all(connection).await?)
}

/// The first of the rows that an id names.
fn one<T>(rows: Vec<T>) -> Answer<T> {
    rows.into_iter()
        .next()
        .ok_or(ApplicationError::NotFound.into())
}

/// A list that is answered with `not found` when it is empty.
fn refuse_empty<T>(rows: Vec<T>) -> Answer<Vec<T>> {
    match rows.is_empty() {
        true => Err(ApplicationError::NotFound.into()),
        false => Ok(rows),
    }
}

/// Whether an update or deletion found its row.
fn require_change(result: &SqliteQueryResult) -> Answer<Done> {
    match result.rows_affected() {
        0 => Err(ApplicationError::NotFound.into()),
        _ => Ok(Done {}),
    }
}

fn new_id(result: &SqliteQueryResult) -> Answer<i32> {
    // SQLite counts in 64 bits, the contract in 32.
    let id = i32::try_from(result.last_insert_rowid());
    id.map_err(|_| ApplicationError::Invalid.into())
}

async fn delete(
    connection: &mut SqliteConnection,
    statement: &'static str,
    id: i32,
) -> Answer<Done> {
    let deleted = sqlx::query::<Sqlite>(statement).bind(id);
    require_change(&deleted.execute(connection).await?)
}
