//! The tables of `petclinic` in memory: the canonical model of its operations.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::limits::Checked;
use super::seed;
use crate::error::ApplicationError;
use crate::petclinic::*;

/// Rows that a table of a service without a database holds at most.
pub const ROWS_MAX: usize = 1_000_000;

type Answer<T> = Result<T, ApplicationError>;

/// A table whose ids count up from 1 and are never given twice.
#[derive(Debug)]
struct Table<T> {
    rows: BTreeMap<i32, T>,
    // Not the largest key: a deleted row's id must not be given again.
    last: i32,
}

impl<T> Table<T> {
    fn of(rows: impl IntoIterator<Item = T>) -> Self {
        let rows: BTreeMap<i32, T> = (1..).zip(rows).collect();
        let last = rows.len() as i32;
        Table { rows, last }
    }

    fn get(&self, id: i32) -> Answer<&T> {
        self.rows.get(&id).ok_or(ApplicationError::NotFound)
    }

    fn get_mut(&mut self, id: i32) -> Answer<&mut T> {
        self.rows.get_mut(&id).ok_or(ApplicationError::NotFound)
    }

    fn add(&mut self, row: T) -> Answer<i32> {
        // Memory must have a bound, and so must the ids.
        if self.rows.len() >= ROWS_MAX || self.last == i32::MAX {
            return Err(ApplicationError::Invalid);
        }
        self.last += 1;
        self.rows.insert(self.last, row);
        Ok(self.last)
    }

    fn remove(&mut self, id: i32) -> Answer<T> {
        self.rows.remove(&id).ok_or(ApplicationError::NotFound)
    }

    /// A row that another one refers to.
    fn check_reference(&self, id: i32) -> Answer<()> {
        match self.rows.contains_key(&id) {
            true => Ok(()),
            false => Err(ApplicationError::Invalid),
        }
    }
}

#[derive(Debug)]
struct VetRow {
    first_name: String,
    last_name: String,
    specialties: BTreeSet<i32>,
}

#[derive(Debug)]
struct PetRow {
    name: String,
    birth_date: String,
    type_id: i32,
    owner_id: i32,
    visits: BTreeSet<i32>,
}

#[derive(Debug)]
struct OwnerRow {
    first_name: String,
    last_name: String,
    address: String,
    city: String,
    telephone: String,
    pets: BTreeSet<i32>,
}

#[derive(Debug)]
struct VisitRow {
    date: String,
    description: String,
    pet_id: i32,
}

#[derive(Debug)]
struct Tables {
    types: Table<String>,
    specialties: Table<String>,
    vets: Table<VetRow>,
    owners: Table<OwnerRow>,
    pets: Table<PetRow>,
    visits: Table<VisitRow>,
}

/// A clinic. Shared by threads; every operation is atomic.
#[derive(Debug)]
pub(crate) struct Clinic {
    // One lock for all: cascades change several tables, and every operation must be atomic.
    tables: Mutex<Tables>,
}

impl Clinic {
    pub(crate) fn new() -> Self {
        let owned = |text: &&str| (*text).to_owned();
        let mut tables = Tables {
            types: Table::of(seed::PET_TYPES.iter().map(owned)),
            specialties: Table::of(seed::SPECIALTIES.iter().map(owned)),
            vets: Table::of(seed::VETS.iter().map(|(first, last, specialties)| VetRow {
                first_name: (*first).to_owned(),
                last_name: (*last).to_owned(),
                specialties: specialties.iter().copied().collect(),
            })),
            owners: Table::of(seed::OWNERS.iter().map(|owner| OwnerRow {
                first_name: owner[0].to_owned(),
                last_name: owner[1].to_owned(),
                address: owner[2].to_owned(),
                city: owner[3].to_owned(),
                telephone: owner[4].to_owned(),
                pets: BTreeSet::new(),
            })),
            // Pets and visits go through the functions that also note them at their owners
            // and pets.
            pets: Table::of([]),
            visits: Table::of([]),
        };
        for (name, birth_date, type_id, owner_id) in seed::PETS {
            let (name, birth_date) = (name.to_owned(), birth_date.to_owned());
            let added = tables.add_pet(name, birth_date, type_id, owner_id);
            added.expect("the seed's pets have owners");
        }
        for (pet_id, date, description) in seed::VISITS {
            let added = tables.add_visit(pet_id, date.to_owned(), description.to_owned());
            added.expect("the seed's visits have pets");
        }
        let tables = Mutex::new(tables);
        Clinic { tables }
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A list that is answered with "not found" when it is empty.
fn check_not_empty<T>(rows: Vec<T>) -> Answer<Vec<T>> {
    match rows.is_empty() {
        true => Err(ApplicationError::NotFound),
        false => Ok(rows),
    }
}

impl Tables {
    fn pet_type(&self, id: i32) -> Answer<PetType> {
        let name = self.types.get(id)?.clone();
        Ok(PetType { id, name })
    }

    fn specialty(&self, id: i32) -> Answer<Specialty> {
        let name = self.specialties.get(id)?.clone();
        Ok(Specialty { id, name })
    }

    fn vet(&self, id: i32) -> Answer<Vet> {
        let row = self.vets.get(id)?;
        let specialties = row.specialties.iter().map(|id| self.specialty(*id));
        let mut specialties = specialties.collect::<Answer<Vec<_>>>()?;
        // By name, as the application sorts them; ids decide between equal names, so that
        // the order is fixed.
        specialties.sort_by(|a, b| (&a.name, a.id).cmp(&(&b.name, b.id)));
        Ok(Vet {
            id,
            first_name: row.first_name.clone(),
            last_name: row.last_name.clone(),
            specialties,
        })
    }

    fn visit(&self, id: i32) -> Answer<Visit> {
        let row = self.visits.get(id)?;
        Ok(Visit {
            id,
            date: row.date.clone(),
            description: row.description.clone(),
            pet_id: row.pet_id,
        })
    }

    fn pet(&self, id: i32) -> Answer<Pet> {
        let row = self.pets.get(id)?;
        let visits = row.visits.iter().map(|id| self.visit(*id));
        Ok(Pet {
            id,
            name: row.name.clone(),
            birth_date: row.birth_date.clone(),
            // Never fails: deleting a type deletes its pets.
            r#type: Some(self.pet_type(row.type_id)?),
            owner_id: row.owner_id,
            visits: visits.collect::<Answer<Vec<_>>>()?,
        })
    }

    fn owner(&self, id: i32) -> Answer<Owner> {
        let row = self.owners.get(id)?;
        let mut pets = row
            .pets
            .iter()
            .map(|id| self.pet(*id))
            .collect::<Answer<Vec<_>>>()?;
        pets.sort_by(|a, b| (&a.name, a.id).cmp(&(&b.name, b.id)));
        Ok(Owner {
            id,
            first_name: row.first_name.clone(),
            last_name: row.last_name.clone(),
            address: row.address.clone(),
            city: row.city.clone(),
            telephone: row.telephone.clone(),
            pets,
        })
    }

    fn add_pet(
        &mut self,
        name: String,
        birth_date: String,
        type_id: i32,
        owner_id: i32,
    ) -> Answer<Pet> {
        // Before the row is stored: a pet without a type or owner could not be read back.
        self.types.check_reference(type_id)?;
        self.owners.check_reference(owner_id)?;
        let id = self.pets.add(PetRow {
            name,
            birth_date,
            type_id,
            owner_id,
            visits: BTreeSet::new(),
        })?;
        self.owners.get_mut(owner_id)?.pets.insert(id);
        self.pet(id)
    }

    fn add_visit(&mut self, pet_id: i32, date: String, description: String) -> Answer<Visit> {
        self.pets.check_reference(pet_id)?;
        let id = self.visits.add(VisitRow {
            date,
            description,
            pet_id,
        })?;
        self.pets.get_mut(pet_id)?.visits.insert(id);
        self.visit(id)
    }

    fn remove_pet(&mut self, id: i32) -> Answer<()> {
        let row = self.pets.remove(id)?;
        for visit in row.visits {
            self.visits.remove(visit)?;
        }
        // The owner must not list a pet that is gone. When the owner is being deleted this
        // is wasted, but right.
        self.owners.get_mut(row.owner_id)?.pets.remove(&id);
        Ok(())
    }

    /// The ids of specialties, each of which there must be.
    fn specialty_ids(&self, specialties: &[Specialty]) -> Answer<BTreeSet<i32>> {
        let ids = specialties.iter().map(|specialty| {
            self.specialties.check_reference(specialty.id)?;
            Ok(specialty.id)
        });
        ids.collect()
    }
}

/// The id of a type that only its id names.
fn type_id(named: Option<&PetType>) -> i32 {
    named.map_or(0, |named| named.id)
}

impl Clinic {
    pub(crate) fn list_pet_types(&self, _: &ListPetTypesRequest) -> Answer<PetTypes> {
        let tables = self.tables();
        let all = tables.types.rows.iter().map(|(id, name)| PetType {
            id: *id,
            name: name.clone(),
        });
        let pet_types = check_not_empty(all.collect())?;
        Ok(PetTypes { pet_types })
    }

    pub(crate) fn get_pet_type(&self, request: &GetPetTypeRequest) -> Answer<PetType> {
        self.tables().pet_type(request.id)
    }

    pub(crate) fn add_pet_type(&self, request: &AddPetTypeRequest) -> Answer<PetType> {
        request.check()?;
        let mut tables = self.tables();
        let id = tables.types.add(request.name.clone())?;
        tables.pet_type(id)
    }

    pub(crate) fn update_pet_type(&self, request: &UpdatePetTypeRequest) -> Answer<Done> {
        request.check()?;
        self.tables()
            .types
            .get_mut(request.id)?
            .clone_from(&request.name);
        Ok(Done {})
    }

    pub(crate) fn delete_pet_type(&self, request: &DeletePetTypeRequest) -> Answer<Done> {
        let mut tables = self.tables();
        tables.types.remove(request.id)?;
        let of_type = |(id, row): (&i32, &PetRow)| (row.type_id == request.id).then_some(*id);
        // Collected first, because removal changes the table that is walked.
        let pets: Vec<i32> = tables.pets.rows.iter().filter_map(of_type).collect();
        for pet in pets {
            tables.remove_pet(pet)?;
        }
        Ok(Done {})
    }

    pub(crate) fn list_pets(&self, _: &ListPetsRequest) -> Answer<Pets> {
        let tables = self.tables();
        let all = tables.pets.rows.keys().map(|id| tables.pet(*id));
        let pets = check_not_empty(all.collect::<Answer<_>>()?)?;
        Ok(Pets { pets })
    }

    pub(crate) fn get_pet(&self, request: &GetPetRequest) -> Answer<Pet> {
        self.tables().pet(request.id)
    }

    pub(crate) fn add_pet(&self, request: &AddPetRequest) -> Answer<Pet> {
        request.check()?;
        let (name, birth_date) = (request.name.clone(), request.birth_date.clone());
        let type_id = type_id(request.r#type.as_ref());
        self.tables()
            .add_pet(name, birth_date, type_id, request.owner_id)
    }

    pub(crate) fn update_pet(&self, request: &UpdatePetRequest) -> Answer<Done> {
        request.check()?;
        let mut tables = self.tables();
        // The pet comes before its type: `not found` before `invalid request`.
        tables.pets.get(request.id)?;
        let type_id = type_id(request.r#type.as_ref());
        tables.types.check_reference(type_id)?;
        let row = tables.pets.get_mut(request.id)?;
        row.name.clone_from(&request.name);
        row.birth_date.clone_from(&request.birth_date);
        row.type_id = type_id;
        Ok(Done {})
    }

    pub(crate) fn delete_pet(&self, request: &DeletePetRequest) -> Answer<Done> {
        self.tables().remove_pet(request.id)?;
        Ok(Done {})
    }

    pub(crate) fn list_owners(&self, request: &ListOwnersRequest) -> Answer<Owners> {
        let tables = self.tables();
        let named = tables
            .owners
            .rows
            .iter()
            // An empty prefix fits all, so the list without a parameter needs no case of
            // its own.
            .filter(|(_, row)| row.last_name.starts_with(&request.last_name));
        let owners = named.map(|(id, _)| tables.owner(*id));
        let owners = check_not_empty(owners.collect::<Answer<_>>()?)?;
        Ok(Owners { owners })
    }

    pub(crate) fn get_owner(&self, request: &GetOwnerRequest) -> Answer<Owner> {
        self.tables().owner(request.id)
    }

    pub(crate) fn add_owner(&self, request: &AddOwnerRequest) -> Answer<Owner> {
        request.check()?;
        let mut tables = self.tables();
        let id = tables.owners.add(OwnerRow {
            first_name: request.first_name.clone(),
            last_name: request.last_name.clone(),
            address: request.address.clone(),
            city: request.city.clone(),
            telephone: request.telephone.clone(),
            pets: BTreeSet::new(),
        })?;
        tables.owner(id)
    }

    pub(crate) fn update_owner(&self, request: &UpdateOwnerRequest) -> Answer<Done> {
        request.check()?;
        let mut tables = self.tables();
        let row = tables.owners.get_mut(request.id)?;
        row.first_name.clone_from(&request.first_name);
        row.last_name.clone_from(&request.last_name);
        row.address.clone_from(&request.address);
        row.city.clone_from(&request.city);
        row.telephone.clone_from(&request.telephone);
        Ok(Done {})
    }

    pub(crate) fn delete_owner(&self, request: &DeleteOwnerRequest) -> Answer<Done> {
        let mut tables = self.tables();
        // Pets first, while their owner is still there to be updated.
        let pets = tables.owners.get(request.id)?.pets.clone();
        for pet in pets {
            tables.remove_pet(pet)?;
        }
        tables.owners.remove(request.id)?;
        Ok(Done {})
    }

    pub(crate) fn add_pet_to_owner(&self, request: &AddPetToOwnerRequest) -> Answer<Pet> {
        request.check()?;
        let mut tables = self.tables();
        tables.owners.get(request.owner_id)?;
        let (name, birth_date) = (request.name.clone(), request.birth_date.clone());
        let type_id = type_id(request.r#type.as_ref());
        tables.add_pet(name, birth_date, type_id, request.owner_id)
    }

    pub(crate) fn add_visit_to_owner(&self, request: &AddVisitToOwnerRequest) -> Answer<Visit> {
        request.check()?;
        let mut tables = self.tables();
        // Another owner's pet is not found under this one's path, rather than forbidden.
        check_owner(&tables, request.owner_id, request.pet_id)?;
        let (date, description) = (request.date.clone(), request.description.clone());
        tables.add_visit(request.pet_id, date, description)
    }

    pub(crate) fn get_owners_pet(&self, request: &GetOwnersPetRequest) -> Answer<Pet> {
        let tables = self.tables();
        check_owner(&tables, request.owner_id, request.pet_id)?;
        tables.pet(request.pet_id)
    }

    pub(crate) fn list_specialties(&self, _: &ListSpecialtiesRequest) -> Answer<Specialties> {
        let tables = self.tables();
        let all = tables.specialties.rows.iter().map(|(id, name)| Specialty {
            id: *id,
            name: name.clone(),
        });
        let specialties = check_not_empty(all.collect())?;
        Ok(Specialties { specialties })
    }

    pub(crate) fn get_specialty(&self, request: &GetSpecialtyRequest) -> Answer<Specialty> {
        self.tables().specialty(request.id)
    }

    pub(crate) fn add_specialty(&self, request: &AddSpecialtyRequest) -> Answer<Specialty> {
        request.check()?;
        let mut tables = self.tables();
        let id = tables.specialties.add(request.name.clone())?;
        tables.specialty(id)
    }

    pub(crate) fn update_specialty(&self, request: &UpdateSpecialtyRequest) -> Answer<Done> {
        request.check()?;
        let mut tables = self.tables();
        let row = tables.specialties.get_mut(request.id)?;
        row.clone_from(&request.name);
        Ok(Done {})
    }

    pub(crate) fn delete_specialty(&self, request: &DeleteSpecialtyRequest) -> Answer<Done> {
        let mut tables = self.tables();
        tables.specialties.remove(request.id)?;
        // The vets stay: a specialty is only referred to, not owned.
        for vet in tables.vets.rows.values_mut() {
            vet.specialties.remove(&request.id);
        }
        Ok(Done {})
    }

    pub(crate) fn list_vets(&self, _: &ListVetsRequest) -> Answer<Vets> {
        let tables = self.tables();
        let all = tables.vets.rows.keys().map(|id| tables.vet(*id));
        let vets = check_not_empty(all.collect::<Answer<_>>()?)?;
        Ok(Vets { vets })
    }

    pub(crate) fn get_vet(&self, request: &GetVetRequest) -> Answer<Vet> {
        self.tables().vet(request.id)
    }

    pub(crate) fn add_vet(&self, request: &AddVetRequest) -> Answer<Vet> {
        request.check()?;
        let mut tables = self.tables();
        let specialties = tables.specialty_ids(&request.specialties)?;
        let id = tables.vets.add(VetRow {
            first_name: request.first_name.clone(),
            last_name: request.last_name.clone(),
            specialties,
        })?;
        tables.vet(id)
    }

    pub(crate) fn update_vet(&self, request: &UpdateVetRequest) -> Answer<Done> {
        request.check()?;
        let mut tables = self.tables();
        tables.vets.get(request.id)?;
        let specialties = tables.specialty_ids(&request.specialties)?;
        let row = tables.vets.get_mut(request.id)?;
        row.first_name.clone_from(&request.first_name);
        row.last_name.clone_from(&request.last_name);
        row.specialties = specialties;
        Ok(Done {})
    }

    pub(crate) fn delete_vet(&self, request: &DeleteVetRequest) -> Answer<Done> {
        self.tables().vets.remove(request.id)?;
        Ok(Done {})
    }

    pub(crate) fn list_visits(&self, _: &ListVisitsRequest) -> Answer<Visits> {
        let tables = self.tables();
        let all = tables.visits.rows.keys().map(|id| tables.visit(*id));
        let visits = check_not_empty(all.collect::<Answer<_>>()?)?;
        Ok(Visits { visits })
    }

    pub(crate) fn get_visit(&self, request: &GetVisitRequest) -> Answer<Visit> {
        self.tables().visit(request.id)
    }

    pub(crate) fn add_visit(&self, request: &AddVisitRequest) -> Answer<Visit> {
        request.check()?;
        let (date, description) = (request.date.clone(), request.description.clone());
        self.tables().add_visit(request.pet_id, date, description)
    }

    pub(crate) fn update_visit(&self, request: &UpdateVisitRequest) -> Answer<Done> {
        request.check()?;
        let mut tables = self.tables();
        let row = tables.visits.get_mut(request.id)?;
        row.date.clone_from(&request.date);
        row.description.clone_from(&request.description);
        Ok(Done {})
    }

    pub(crate) fn delete_visit(&self, request: &DeleteVisitRequest) -> Answer<Done> {
        let mut tables = self.tables();
        let row = tables.visits.remove(request.id)?;
        tables.pets.get_mut(row.pet_id)?.visits.remove(&request.id);
        Ok(Done {})
    }
}

/// Whether the pet is there and the owner's.
fn check_owner(tables: &Tables, owner_id: i32, pet_id: i32) -> Answer<()> {
    match tables.pets.get(pet_id)?.owner_id == owner_id {
        true => Ok(()),
        false => Err(ApplicationError::NotFound),
    }
}
