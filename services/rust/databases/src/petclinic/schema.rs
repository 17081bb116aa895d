//! The schema of `petclinic` and its rows at the start.

use wirelab_contract::clinic::seed;

/// The script that makes the tables with their rows at the start, in one transaction.
///
/// AUTOINCREMENT never gives an id twice, also after the row with the largest one is deleted
/// (sqlite.org/autoinc.html). The indices serve the joins and the cascades.
pub(crate) fn script() -> String {
    const TABLES: &str = "
        CREATE TABLE types (id integer PRIMARY KEY AUTOINCREMENT, name text NOT NULL);
        CREATE TABLE specialties (id integer PRIMARY KEY AUTOINCREMENT, name text NOT NULL);
        CREATE TABLE vets (
            id integer PRIMARY KEY AUTOINCREMENT,
            first_name text NOT NULL, last_name text NOT NULL
        );
        CREATE TABLE vet_specialties (
            vet_id integer NOT NULL REFERENCES vets ON DELETE CASCADE,
            specialty_id integer NOT NULL REFERENCES specialties ON DELETE CASCADE,
            PRIMARY KEY (vet_id, specialty_id)
        ) WITHOUT ROWID;
        CREATE INDEX vets_by_specialty ON vet_specialties (specialty_id);
        CREATE TABLE owners (
            id integer PRIMARY KEY AUTOINCREMENT,
            first_name text NOT NULL, last_name text NOT NULL,
            address text NOT NULL, city text NOT NULL, telephone text NOT NULL
        );
        CREATE TABLE pets (
            id integer PRIMARY KEY AUTOINCREMENT,
            name text NOT NULL, birth_date text NOT NULL,
            type_id integer NOT NULL REFERENCES types ON DELETE CASCADE,
            owner_id integer NOT NULL REFERENCES owners ON DELETE CASCADE
        );
        CREATE INDEX pets_by_type ON pets (type_id);
        CREATE INDEX pets_by_owner ON pets (owner_id);
        CREATE TABLE visits (
            id integer PRIMARY KEY AUTOINCREMENT,
            visit_date text NOT NULL, description text NOT NULL,
            pet_id integer NOT NULL REFERENCES pets ON DELETE CASCADE
        );
        CREATE INDEX visits_by_pet ON visits (pet_id);";
    let named = |names: &[&str]| rows(names.iter().map(|name| format!("'{name}'")));
    let vets = seed::VETS
        .iter()
        .map(|vet| format!("'{}', '{}'", vet.0, vet.1));
    let vet_specialties = (1..)
        .zip(seed::VETS)
        .flat_map(|(vet, (_, _, specialties))| {
            specialties
                .iter()
                .map(move |specialty| format!("({vet}, {specialty})"))
        });
    let owners = seed::OWNERS
        .iter()
        .map(|owner| owner.map(|text| format!("'{text}'")).join(", "));
    let pets = seed::PETS
        .iter()
        .map(|(name, birth_date, type_id, owner_id)| {
            format!("'{name}', '{birth_date}', {type_id}, {owner_id}")
        });
    let visits = seed::VISITS
        .iter()
        .map(|(pet_id, date, description)| format!("'{date}', '{description}', {pet_id}"));
    format!(
        "BEGIN;{TABLES}
        INSERT INTO types VALUES {};
        INSERT INTO specialties VALUES {};
        INSERT INTO vets VALUES {};
        INSERT INTO vet_specialties VALUES {};
        INSERT INTO owners VALUES {};
        INSERT INTO pets VALUES {};
        INSERT INTO visits VALUES {};
        COMMIT;",
        named(&seed::PET_TYPES),
        named(&seed::SPECIALTIES),
        rows(vets),
        vet_specialties.collect::<Vec<_>>().join(", "),
        rows(owners),
        rows(pets),
        rows(visits),
    )
}

/// Rows of VALUES, their ids counting from 1.
fn rows(columns: impl Iterator<Item = String>) -> String {
    let numbered = (1..).zip(columns);
    let rows: Vec<String> = numbered.map(|(id, row)| format!("({id}, {row})")).collect();
    rows.join(", ")
}
