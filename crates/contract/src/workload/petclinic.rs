//! Requests of `petclinic`: rows of the sample data, and values in the form of Guimarães
//! (2024), section 5.

use crate::call::Call;
use crate::operation::Operation;
use crate::petclinic::{
    AddOwnerRequest, AddPetRequest, AddPetToOwnerRequest, AddPetTypeRequest, AddSpecialtyRequest,
    AddVetRequest, AddVisitRequest, AddVisitToOwnerRequest, DeleteOwnerRequest, DeletePetRequest,
    DeletePetTypeRequest, DeleteSpecialtyRequest, DeleteVetRequest, DeleteVisitRequest,
    GetOwnerRequest, GetOwnersPetRequest, GetPetRequest, GetPetTypeRequest, GetSpecialtyRequest,
    GetVetRequest, GetVisitRequest, ListOwnersRequest, ListPetTypesRequest, ListPetsRequest,
    ListSpecialtiesRequest, ListVetsRequest, ListVisitsRequest, PetType, UpdateOwnerRequest,
    UpdatePetRequest, UpdatePetTypeRequest, UpdateSpecialtyRequest, UpdateVetRequest,
    UpdateVisitRequest,
};

/// A call of an operation of petclinic that a service which has just started answers.
///
/// # Panics
/// When the operation is of another contract.
pub(super) fn call(operation: Operation) -> Call {
    match operation {
        Operation::ListPetTypes => Call::ListPetTypes(ListPetTypesRequest {}),
        Operation::GetPetType => Call::GetPetType(GetPetTypeRequest { id: 1 }),
        Operation::AddPetType => Call::AddPetType(AddPetTypeRequest {
            name: "NewPetTypeN1".to_owned(),
        }),
        Operation::UpdatePetType => Call::UpdatePetType(UpdatePetTypeRequest {
            id: 1,
            name: "NewPetTypeN1".to_owned(),
        }),
        Operation::DeletePetType => Call::DeletePetType(DeletePetTypeRequest { id: 1 }),
        Operation::ListPets => Call::ListPets(ListPetsRequest {}),
        Operation::GetPet => Call::GetPet(GetPetRequest { id: 1 }),
        Operation::AddPet => Call::AddPet(AddPetRequest {
            name: "Name".to_owned(),
            birth_date: "2020-02-29".to_owned(),
            r#type: Some(PetType {
                id: 1,
                name: "cat".to_owned(),
            }),
            owner_id: 6,
        }),
        Operation::UpdatePet => Call::UpdatePet(UpdatePetRequest {
            id: 1,
            name: "Name".to_owned(),
            birth_date: "2020-02-29".to_owned(),
            r#type: Some(PetType {
                id: 1,
                name: "cat".to_owned(),
            }),
        }),
        Operation::DeletePet => Call::DeletePet(DeletePetRequest { id: 1 }),
        Operation::ListOwners => Call::ListOwners(ListOwnersRequest {
            last_name: String::new(),
        }),
        Operation::GetOwner => Call::GetOwner(GetOwnerRequest { id: 1 }),
        Operation::AddOwner => Call::AddOwner(AddOwnerRequest {
            first_name: "Name".to_owned(),
            last_name: "LastName".to_owned(),
            address: "Address1".to_owned(),
            city: "City1".to_owned(),
            telephone: "1234567891".to_owned(),
        }),
        Operation::UpdateOwner => Call::UpdateOwner(UpdateOwnerRequest {
            id: 1,
            first_name: "Name".to_owned(),
            last_name: "LastName".to_owned(),
            address: "Address1".to_owned(),
            city: "City1".to_owned(),
            telephone: "1234567891".to_owned(),
        }),
        Operation::DeleteOwner => Call::DeleteOwner(DeleteOwnerRequest { id: 1 }),
        Operation::AddPetToOwner => Call::AddPetToOwner(AddPetToOwnerRequest {
            name: "Name".to_owned(),
            birth_date: "2020-02-29".to_owned(),
            r#type: Some(PetType {
                id: 1,
                name: "cat".to_owned(),
            }),
            owner_id: 6,
        }),
        Operation::AddVisitToOwner => Call::AddVisitToOwner(AddVisitToOwnerRequest {
            owner_id: 6,
            pet_id: 7,
            date: "2024-09-09".to_owned(),
            description: "rabies shot".to_owned(),
        }),
        Operation::GetOwnersPet => Call::GetOwnersPet(GetOwnersPetRequest {
            owner_id: 6,
            pet_id: 7,
        }),
        Operation::ListSpecialties => Call::ListSpecialties(ListSpecialtiesRequest {}),
        Operation::GetSpecialty => Call::GetSpecialty(GetSpecialtyRequest { id: 1 }),
        Operation::AddSpecialty => Call::AddSpecialty(AddSpecialtyRequest {
            name: "Name".to_owned(),
        }),
        Operation::UpdateSpecialty => Call::UpdateSpecialty(UpdateSpecialtyRequest {
            id: 1,
            name: "Name".to_owned(),
        }),
        Operation::DeleteSpecialty => Call::DeleteSpecialty(DeleteSpecialtyRequest { id: 1 }),
        Operation::ListVets => Call::ListVets(ListVetsRequest {}),
        Operation::GetVet => Call::GetVet(GetVetRequest { id: 1 }),
        Operation::AddVet => Call::AddVet(AddVetRequest {
            first_name: "Name".to_owned(),
            last_name: "LastName".to_owned(),
            specialties: Vec::new(),
        }),
        Operation::UpdateVet => Call::UpdateVet(UpdateVetRequest {
            id: 1,
            first_name: "Name".to_owned(),
            last_name: "LastName".to_owned(),
            specialties: Vec::new(),
        }),
        Operation::DeleteVet => Call::DeleteVet(DeleteVetRequest { id: 1 }),
        Operation::ListVisits => Call::ListVisits(ListVisitsRequest {}),
        Operation::GetVisit => Call::GetVisit(GetVisitRequest { id: 1 }),
        Operation::AddVisit => Call::AddVisit(AddVisitRequest {
            date: "2024-09-09".to_owned(),
            description: "rabies shot".to_owned(),
            pet_id: 7,
        }),
        Operation::UpdateVisit => Call::UpdateVisit(UpdateVisitRequest {
            id: 1,
            date: "2024-09-09".to_owned(),
            description: "rabies shot".to_owned(),
        }),
        Operation::DeleteVisit => Call::DeleteVisit(DeleteVisitRequest { id: 1 }),
        other => unreachable!("{other} is not an operation of petclinic"),
    }
}
