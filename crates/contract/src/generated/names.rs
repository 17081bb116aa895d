impl Message for crate::transfer::HelloRequest {
    const NAME: &'static str = "HelloRequest";
    const CONTRACT: Contract = Contract::Transfer;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::transfer::HelloRequest;
}
impl Message for crate::transfer::HelloReply {
    const NAME: &'static str = "HelloReply";
    const CONTRACT: Contract = Contract::Transfer;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::transfer::HelloReply;
}
impl Message for crate::transfer::HelloBytesReply {
    const NAME: &'static str = "HelloBytesReply";
    const CONTRACT: Contract = Contract::Transfer;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::transfer::HelloBytesReply;
}
impl Message for crate::transfer::Record {
    const NAME: &'static str = "Record";
    const CONTRACT: Contract = Contract::Transfer;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::transfer::Record;
}
/// SubmitRequest with each of its lists in one element.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct SubmitRequestParts {
    #[serde(rename = "batch")]
    batch: String,
    #[serde(rename = "records")]
    records: Items<crate::transfer::Record>,
}
impl From<crate::transfer::SubmitRequest> for SubmitRequestParts {
    fn from(message: crate::transfer::SubmitRequest) -> Self {
        SubmitRequestParts {
            batch: message.batch,
            records: Items {
                item: message.records,
            },
        }
    }
}
impl From<SubmitRequestParts> for crate::transfer::SubmitRequest {
    fn from(parts: SubmitRequestParts) -> Self {
        crate::transfer::SubmitRequest {
            batch: parts.batch,
            records: parts.records.item,
        }
    }
}
impl Message for crate::transfer::SubmitRequest {
    const NAME: &'static str = "SubmitRequest";
    const CONTRACT: Contract = Contract::Transfer;
    const LISTS: &'static [u32] = &[2];
    type Parts = SubmitRequestParts;
}
impl Message for crate::transfer::Refusal {
    const NAME: &'static str = "Refusal";
    const CONTRACT: Contract = Contract::Transfer;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::transfer::Refusal;
}
/// SubmitReply with each of its lists in one element.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct SubmitReplyParts {
    #[serde(rename = "batch")]
    batch: String,
    #[serde(rename = "accepted")]
    accepted: i32,
    #[serde(rename = "quantity_total")]
    quantity_total: i64,
    #[serde(rename = "refused")]
    refused: Items<crate::transfer::Refusal>,
}
impl From<crate::transfer::SubmitReply> for SubmitReplyParts {
    fn from(message: crate::transfer::SubmitReply) -> Self {
        SubmitReplyParts {
            batch: message.batch,
            accepted: message.accepted,
            quantity_total: message.quantity_total,
            refused: Items {
                item: message.refused,
            },
        }
    }
}
impl From<SubmitReplyParts> for crate::transfer::SubmitReply {
    fn from(parts: SubmitReplyParts) -> Self {
        crate::transfer::SubmitReply {
            batch: parts.batch,
            accepted: parts.accepted,
            quantity_total: parts.quantity_total,
            refused: parts.refused.item,
        }
    }
}
impl Message for crate::transfer::SubmitReply {
    const NAME: &'static str = "SubmitReply";
    const CONTRACT: Contract = Contract::Transfer;
    const LISTS: &'static [u32] = &[4];
    type Parts = SubmitReplyParts;
}
impl Message for crate::transfer::UploadRequest {
    const NAME: &'static str = "UploadRequest";
    const CONTRACT: Contract = Contract::Transfer;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::transfer::UploadRequest;
}
impl Message for crate::transfer::UploadChunk {
    const NAME: &'static str = "UploadChunk";
    const CONTRACT: Contract = Contract::Transfer;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::transfer::UploadChunk;
}
impl Message for crate::transfer::UploadReply {
    const NAME: &'static str = "UploadReply";
    const CONTRACT: Contract = Contract::Transfer;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::transfer::UploadReply;
}
impl Message for crate::transfer::DownloadRequest {
    const NAME: &'static str = "DownloadRequest";
    const CONTRACT: Contract = Contract::Transfer;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::transfer::DownloadRequest;
}
impl Message for crate::transfer::DownloadChunk {
    const NAME: &'static str = "DownloadChunk";
    const CONTRACT: Contract = Contract::Transfer;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::transfer::DownloadChunk;
}
impl Message for crate::charging::CreditRequest {
    const NAME: &'static str = "CreditRequest";
    const CONTRACT: Contract = Contract::Charging;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::charging::CreditRequest;
}
impl Message for crate::charging::CreditReply {
    const NAME: &'static str = "CreditReply";
    const CONTRACT: Contract = Contract::Charging;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::charging::CreditReply;
}
impl Message for crate::charging::DirectDebitRequest {
    const NAME: &'static str = "DirectDebitRequest";
    const CONTRACT: Contract = Contract::Charging;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::charging::DirectDebitRequest;
}
impl Message for crate::charging::DirectDebitReply {
    const NAME: &'static str = "DirectDebitReply";
    const CONTRACT: Contract = Contract::Charging;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::charging::DirectDebitReply;
}
impl Message for crate::charging::ReserveRequest {
    const NAME: &'static str = "ReserveRequest";
    const CONTRACT: Contract = Contract::Charging;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::charging::ReserveRequest;
}
impl Message for crate::charging::ReserveReply {
    const NAME: &'static str = "ReserveReply";
    const CONTRACT: Contract = Contract::Charging;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::charging::ReserveReply;
}
impl Message for crate::charging::DebitReservationRequest {
    const NAME: &'static str = "DebitReservationRequest";
    const CONTRACT: Contract = Contract::Charging;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::charging::DebitReservationRequest;
}
impl Message for crate::charging::DebitReservationReply {
    const NAME: &'static str = "DebitReservationReply";
    const CONTRACT: Contract = Contract::Charging;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::charging::DebitReservationReply;
}
impl Message for crate::charging::ReleaseResRequest {
    const NAME: &'static str = "ReleaseResRequest";
    const CONTRACT: Contract = Contract::Charging;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::charging::ReleaseResRequest;
}
impl Message for crate::charging::ReleaseResReply {
    const NAME: &'static str = "ReleaseResReply";
    const CONTRACT: Contract = Contract::Charging;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::charging::ReleaseResReply;
}
impl Message for crate::charging::CreditControlRequest {
    const NAME: &'static str = "CreditControlRequest";
    const CONTRACT: Contract = Contract::Charging;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::charging::CreditControlRequest;
}
impl Message for crate::charging::CreditControlReply {
    const NAME: &'static str = "CreditControlReply";
    const CONTRACT: Contract = Contract::Charging;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::charging::CreditControlReply;
}
impl Message for crate::charging::ConfirmActionRequest {
    const NAME: &'static str = "ConfirmActionRequest";
    const CONTRACT: Contract = Contract::Charging;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::charging::ConfirmActionRequest;
}
impl Message for crate::charging::ConfirmActionReply {
    const NAME: &'static str = "ConfirmActionReply";
    const CONTRACT: Contract = Contract::Charging;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::charging::ConfirmActionReply;
}
impl Message for crate::calendar::DeployRequest {
    const NAME: &'static str = "DeployRequest";
    const CONTRACT: Contract = Contract::Calendar;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::calendar::DeployRequest;
}
impl Message for crate::calendar::DeployReply {
    const NAME: &'static str = "DeployReply";
    const CONTRACT: Contract = Contract::Calendar;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::calendar::DeployReply;
}
impl Message for crate::calendar::BookRequest {
    const NAME: &'static str = "BookRequest";
    const CONTRACT: Contract = Contract::Calendar;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::calendar::BookRequest;
}
impl Message for crate::calendar::BookReply {
    const NAME: &'static str = "BookReply";
    const CONTRACT: Contract = Contract::Calendar;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::calendar::BookReply;
}
impl Message for crate::calendar::EntriesRequest {
    const NAME: &'static str = "EntriesRequest";
    const CONTRACT: Contract = Contract::Calendar;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::calendar::EntriesRequest;
}
impl Message for crate::calendar::Entry {
    const NAME: &'static str = "Entry";
    const CONTRACT: Contract = Contract::Calendar;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::calendar::Entry;
}
/// EntriesReply with each of its lists in one element.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct EntriesReplyParts {
    #[serde(rename = "entries")]
    entries: Items<crate::calendar::Entry>,
}
impl From<crate::calendar::EntriesReply> for EntriesReplyParts {
    fn from(message: crate::calendar::EntriesReply) -> Self {
        EntriesReplyParts {
            entries: Items {
                item: message.entries,
            },
        }
    }
}
impl From<EntriesReplyParts> for crate::calendar::EntriesReply {
    fn from(parts: EntriesReplyParts) -> Self {
        crate::calendar::EntriesReply {
            entries: parts.entries.item,
        }
    }
}
impl Message for crate::calendar::EntriesReply {
    const NAME: &'static str = "EntriesReply";
    const CONTRACT: Contract = Contract::Calendar;
    const LISTS: &'static [u32] = &[1];
    type Parts = EntriesReplyParts;
}
impl Message for crate::records::AllocateRequest {
    const NAME: &'static str = "AllocateRequest";
    const CONTRACT: Contract = Contract::Records;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::records::AllocateRequest;
}
impl Message for crate::records::Team {
    const NAME: &'static str = "Team";
    const CONTRACT: Contract = Contract::Records;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::records::Team;
}
impl Message for crate::records::AllocateReply {
    const NAME: &'static str = "AllocateReply";
    const CONTRACT: Contract = Contract::Records;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::records::AllocateReply;
}
impl Message for crate::records::FindAllocationRequest {
    const NAME: &'static str = "FindAllocationRequest";
    const CONTRACT: Contract = Contract::Records;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::records::FindAllocationRequest;
}
impl Message for crate::records::FindAllocationReply {
    const NAME: &'static str = "FindAllocationReply";
    const CONTRACT: Contract = Contract::Records;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::records::FindAllocationReply;
}
impl Message for crate::records::CountAllocationsRequest {
    const NAME: &'static str = "CountAllocationsRequest";
    const CONTRACT: Contract = Contract::Records;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::records::CountAllocationsRequest;
}
impl Message for crate::records::CountAllocationsReply {
    const NAME: &'static str = "CountAllocationsReply";
    const CONTRACT: Contract = Contract::Records;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::records::CountAllocationsReply;
}
impl Message for crate::petclinic::Done {
    const NAME: &'static str = "Done";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::Done;
}
impl Message for crate::petclinic::PetType {
    const NAME: &'static str = "PetType";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::PetType;
}
/// PetTypes with each of its lists in one element.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct PetTypesParts {
    #[serde(rename = "petTypes")]
    pet_types: Items<crate::petclinic::PetType>,
}
impl From<crate::petclinic::PetTypes> for PetTypesParts {
    fn from(message: crate::petclinic::PetTypes) -> Self {
        PetTypesParts {
            pet_types: Items {
                item: message.pet_types,
            },
        }
    }
}
impl From<PetTypesParts> for crate::petclinic::PetTypes {
    fn from(parts: PetTypesParts) -> Self {
        crate::petclinic::PetTypes {
            pet_types: parts.pet_types.item,
        }
    }
}
impl Message for crate::petclinic::PetTypes {
    const NAME: &'static str = "PetTypes";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[1];
    type Parts = PetTypesParts;
}
impl Message for crate::petclinic::Specialty {
    const NAME: &'static str = "Specialty";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::Specialty;
}
/// Specialties with each of its lists in one element.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct SpecialtiesParts {
    #[serde(rename = "specialties")]
    specialties: Items<crate::petclinic::Specialty>,
}
impl From<crate::petclinic::Specialties> for SpecialtiesParts {
    fn from(message: crate::petclinic::Specialties) -> Self {
        SpecialtiesParts {
            specialties: Items {
                item: message.specialties,
            },
        }
    }
}
impl From<SpecialtiesParts> for crate::petclinic::Specialties {
    fn from(parts: SpecialtiesParts) -> Self {
        crate::petclinic::Specialties {
            specialties: parts.specialties.item,
        }
    }
}
impl Message for crate::petclinic::Specialties {
    const NAME: &'static str = "Specialties";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[1];
    type Parts = SpecialtiesParts;
}
/// Vet with each of its lists in one element.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct VetParts {
    #[serde(rename = "id")]
    id: i32,
    #[serde(rename = "firstName")]
    first_name: String,
    #[serde(rename = "lastName")]
    last_name: String,
    #[serde(rename = "specialties")]
    specialties: Items<crate::petclinic::Specialty>,
}
impl From<crate::petclinic::Vet> for VetParts {
    fn from(message: crate::petclinic::Vet) -> Self {
        VetParts {
            id: message.id,
            first_name: message.first_name,
            last_name: message.last_name,
            specialties: Items {
                item: message.specialties,
            },
        }
    }
}
impl From<VetParts> for crate::petclinic::Vet {
    fn from(parts: VetParts) -> Self {
        crate::petclinic::Vet {
            id: parts.id,
            first_name: parts.first_name,
            last_name: parts.last_name,
            specialties: parts.specialties.item,
        }
    }
}
impl Message for crate::petclinic::Vet {
    const NAME: &'static str = "Vet";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[4];
    type Parts = VetParts;
}
impl Message for crate::petclinic::Vets {
    const NAME: &'static str = "Vets";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[1];
    type Parts = crate::petclinic::Vets;
}
impl Message for crate::petclinic::Visit {
    const NAME: &'static str = "Visit";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::Visit;
}
/// Visits with each of its lists in one element.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct VisitsParts {
    #[serde(rename = "visits")]
    visits: Items<crate::petclinic::Visit>,
}
impl From<crate::petclinic::Visits> for VisitsParts {
    fn from(message: crate::petclinic::Visits) -> Self {
        VisitsParts {
            visits: Items {
                item: message.visits,
            },
        }
    }
}
impl From<VisitsParts> for crate::petclinic::Visits {
    fn from(parts: VisitsParts) -> Self {
        crate::petclinic::Visits {
            visits: parts.visits.item,
        }
    }
}
impl Message for crate::petclinic::Visits {
    const NAME: &'static str = "Visits";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[1];
    type Parts = VisitsParts;
}
/// Pet with each of its lists in one element.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct PetParts {
    #[serde(rename = "id")]
    id: i32,
    #[serde(rename = "name")]
    name: String,
    #[serde(rename = "birthDate")]
    birth_date: String,
    #[serde(with = "crate::nested")]
    #[serde(rename = "type")]
    r#type: Option<crate::petclinic::PetType>,
    #[serde(rename = "ownerId")]
    owner_id: i32,
    #[serde(rename = "visits")]
    visits: Items<crate::petclinic::Visit>,
}
impl From<crate::petclinic::Pet> for PetParts {
    fn from(message: crate::petclinic::Pet) -> Self {
        PetParts {
            id: message.id,
            name: message.name,
            birth_date: message.birth_date,
            r#type: message.r#type,
            owner_id: message.owner_id,
            visits: Items {
                item: message.visits,
            },
        }
    }
}
impl From<PetParts> for crate::petclinic::Pet {
    fn from(parts: PetParts) -> Self {
        crate::petclinic::Pet {
            id: parts.id,
            name: parts.name,
            birth_date: parts.birth_date,
            r#type: parts.r#type,
            owner_id: parts.owner_id,
            visits: parts.visits.item,
        }
    }
}
impl Message for crate::petclinic::Pet {
    const NAME: &'static str = "Pet";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[6];
    type Parts = PetParts;
}
impl Message for crate::petclinic::Pets {
    const NAME: &'static str = "Pets";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[1];
    type Parts = crate::petclinic::Pets;
}
impl Message for crate::petclinic::Owner {
    const NAME: &'static str = "Owner";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[7];
    type Parts = crate::petclinic::Owner;
}
impl Message for crate::petclinic::Owners {
    const NAME: &'static str = "Owners";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[1];
    type Parts = crate::petclinic::Owners;
}
impl Message for crate::petclinic::ListPetTypesRequest {
    const NAME: &'static str = "ListPetTypesRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::ListPetTypesRequest;
}
impl Message for crate::petclinic::GetPetTypeRequest {
    const NAME: &'static str = "GetPetTypeRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::GetPetTypeRequest;
}
impl Message for crate::petclinic::AddPetTypeRequest {
    const NAME: &'static str = "AddPetTypeRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::AddPetTypeRequest;
}
impl Message for crate::petclinic::UpdatePetTypeRequest {
    const NAME: &'static str = "UpdatePetTypeRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::UpdatePetTypeRequest;
}
impl Message for crate::petclinic::DeletePetTypeRequest {
    const NAME: &'static str = "DeletePetTypeRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::DeletePetTypeRequest;
}
impl Message for crate::petclinic::ListPetsRequest {
    const NAME: &'static str = "ListPetsRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::ListPetsRequest;
}
impl Message for crate::petclinic::GetPetRequest {
    const NAME: &'static str = "GetPetRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::GetPetRequest;
}
impl Message for crate::petclinic::AddPetRequest {
    const NAME: &'static str = "AddPetRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::AddPetRequest;
}
impl Message for crate::petclinic::UpdatePetRequest {
    const NAME: &'static str = "UpdatePetRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::UpdatePetRequest;
}
impl Message for crate::petclinic::DeletePetRequest {
    const NAME: &'static str = "DeletePetRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::DeletePetRequest;
}
impl Message for crate::petclinic::ListOwnersRequest {
    const NAME: &'static str = "ListOwnersRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::ListOwnersRequest;
}
impl Message for crate::petclinic::GetOwnerRequest {
    const NAME: &'static str = "GetOwnerRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::GetOwnerRequest;
}
impl Message for crate::petclinic::AddOwnerRequest {
    const NAME: &'static str = "AddOwnerRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::AddOwnerRequest;
}
impl Message for crate::petclinic::UpdateOwnerRequest {
    const NAME: &'static str = "UpdateOwnerRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::UpdateOwnerRequest;
}
impl Message for crate::petclinic::DeleteOwnerRequest {
    const NAME: &'static str = "DeleteOwnerRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::DeleteOwnerRequest;
}
impl Message for crate::petclinic::AddPetToOwnerRequest {
    const NAME: &'static str = "AddPetToOwnerRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::AddPetToOwnerRequest;
}
impl Message for crate::petclinic::AddVisitToOwnerRequest {
    const NAME: &'static str = "AddVisitToOwnerRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::AddVisitToOwnerRequest;
}
impl Message for crate::petclinic::GetOwnersPetRequest {
    const NAME: &'static str = "GetOwnersPetRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::GetOwnersPetRequest;
}
impl Message for crate::petclinic::ListSpecialtiesRequest {
    const NAME: &'static str = "ListSpecialtiesRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::ListSpecialtiesRequest;
}
impl Message for crate::petclinic::GetSpecialtyRequest {
    const NAME: &'static str = "GetSpecialtyRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::GetSpecialtyRequest;
}
impl Message for crate::petclinic::AddSpecialtyRequest {
    const NAME: &'static str = "AddSpecialtyRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::AddSpecialtyRequest;
}
impl Message for crate::petclinic::UpdateSpecialtyRequest {
    const NAME: &'static str = "UpdateSpecialtyRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::UpdateSpecialtyRequest;
}
impl Message for crate::petclinic::DeleteSpecialtyRequest {
    const NAME: &'static str = "DeleteSpecialtyRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::DeleteSpecialtyRequest;
}
impl Message for crate::petclinic::ListVetsRequest {
    const NAME: &'static str = "ListVetsRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::ListVetsRequest;
}
impl Message for crate::petclinic::GetVetRequest {
    const NAME: &'static str = "GetVetRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::GetVetRequest;
}
/// AddVetRequest with each of its lists in one element.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct AddVetRequestParts {
    #[serde(rename = "firstName")]
    first_name: String,
    #[serde(rename = "lastName")]
    last_name: String,
    #[serde(rename = "specialties")]
    specialties: Items<crate::petclinic::Specialty>,
}
impl From<crate::petclinic::AddVetRequest> for AddVetRequestParts {
    fn from(message: crate::petclinic::AddVetRequest) -> Self {
        AddVetRequestParts {
            first_name: message.first_name,
            last_name: message.last_name,
            specialties: Items {
                item: message.specialties,
            },
        }
    }
}
impl From<AddVetRequestParts> for crate::petclinic::AddVetRequest {
    fn from(parts: AddVetRequestParts) -> Self {
        crate::petclinic::AddVetRequest {
            first_name: parts.first_name,
            last_name: parts.last_name,
            specialties: parts.specialties.item,
        }
    }
}
impl Message for crate::petclinic::AddVetRequest {
    const NAME: &'static str = "AddVetRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[3];
    type Parts = AddVetRequestParts;
}
/// UpdateVetRequest with each of its lists in one element.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct UpdateVetRequestParts {
    #[serde(rename = "id")]
    id: i32,
    #[serde(rename = "firstName")]
    first_name: String,
    #[serde(rename = "lastName")]
    last_name: String,
    #[serde(rename = "specialties")]
    specialties: Items<crate::petclinic::Specialty>,
}
impl From<crate::petclinic::UpdateVetRequest> for UpdateVetRequestParts {
    fn from(message: crate::petclinic::UpdateVetRequest) -> Self {
        UpdateVetRequestParts {
            id: message.id,
            first_name: message.first_name,
            last_name: message.last_name,
            specialties: Items {
                item: message.specialties,
            },
        }
    }
}
impl From<UpdateVetRequestParts> for crate::petclinic::UpdateVetRequest {
    fn from(parts: UpdateVetRequestParts) -> Self {
        crate::petclinic::UpdateVetRequest {
            id: parts.id,
            first_name: parts.first_name,
            last_name: parts.last_name,
            specialties: parts.specialties.item,
        }
    }
}
impl Message for crate::petclinic::UpdateVetRequest {
    const NAME: &'static str = "UpdateVetRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[4];
    type Parts = UpdateVetRequestParts;
}
impl Message for crate::petclinic::DeleteVetRequest {
    const NAME: &'static str = "DeleteVetRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::DeleteVetRequest;
}
impl Message for crate::petclinic::ListVisitsRequest {
    const NAME: &'static str = "ListVisitsRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::ListVisitsRequest;
}
impl Message for crate::petclinic::GetVisitRequest {
    const NAME: &'static str = "GetVisitRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::GetVisitRequest;
}
impl Message for crate::petclinic::AddVisitRequest {
    const NAME: &'static str = "AddVisitRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::AddVisitRequest;
}
impl Message for crate::petclinic::UpdateVisitRequest {
    const NAME: &'static str = "UpdateVisitRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::UpdateVisitRequest;
}
impl Message for crate::petclinic::DeleteVisitRequest {
    const NAME: &'static str = "DeleteVisitRequest";
    const CONTRACT: Contract = Contract::Petclinic;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::petclinic::DeleteVisitRequest;
}
impl Message for crate::stream::FeedRequest {
    const NAME: &'static str = "FeedRequest";
    const CONTRACT: Contract = Contract::Stream;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::stream::FeedRequest;
}
impl Message for crate::stream::Item {
    const NAME: &'static str = "Item";
    const CONTRACT: Contract = Contract::Stream;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::stream::Item;
}
impl Message for crate::stream::PushReply {
    const NAME: &'static str = "PushReply";
    const CONTRACT: Contract = Contract::Stream;
    const LISTS: &'static [u32] = &[];
    type Parts = crate::stream::PushReply;
}

fn visit_named<V: TypeVisitor>(name: &str, visitor: V) -> Option<V::Output> {
    match name {
        "HelloRequest" => Some(visitor.visit::<crate::transfer::HelloRequest>()),
        "HelloReply" => Some(visitor.visit::<crate::transfer::HelloReply>()),
        "HelloBytesReply" => Some(visitor.visit::<crate::transfer::HelloBytesReply>()),
        "Record" => Some(visitor.visit::<crate::transfer::Record>()),
        "SubmitRequest" => Some(visitor.visit::<crate::transfer::SubmitRequest>()),
        "Refusal" => Some(visitor.visit::<crate::transfer::Refusal>()),
        "SubmitReply" => Some(visitor.visit::<crate::transfer::SubmitReply>()),
        "UploadRequest" => Some(visitor.visit::<crate::transfer::UploadRequest>()),
        "UploadChunk" => Some(visitor.visit::<crate::transfer::UploadChunk>()),
        "UploadReply" => Some(visitor.visit::<crate::transfer::UploadReply>()),
        "DownloadRequest" => Some(visitor.visit::<crate::transfer::DownloadRequest>()),
        "DownloadChunk" => Some(visitor.visit::<crate::transfer::DownloadChunk>()),
        "CreditRequest" => Some(visitor.visit::<crate::charging::CreditRequest>()),
        "CreditReply" => Some(visitor.visit::<crate::charging::CreditReply>()),
        "DirectDebitRequest" => Some(visitor.visit::<crate::charging::DirectDebitRequest>()),
        "DirectDebitReply" => Some(visitor.visit::<crate::charging::DirectDebitReply>()),
        "ReserveRequest" => Some(visitor.visit::<crate::charging::ReserveRequest>()),
        "ReserveReply" => Some(visitor.visit::<crate::charging::ReserveReply>()),
        "DebitReservationRequest" => {
            Some(visitor.visit::<crate::charging::DebitReservationRequest>())
        }
        "DebitReservationReply" => Some(visitor.visit::<crate::charging::DebitReservationReply>()),
        "ReleaseResRequest" => Some(visitor.visit::<crate::charging::ReleaseResRequest>()),
        "ReleaseResReply" => Some(visitor.visit::<crate::charging::ReleaseResReply>()),
        "CreditControlRequest" => Some(visitor.visit::<crate::charging::CreditControlRequest>()),
        "CreditControlReply" => Some(visitor.visit::<crate::charging::CreditControlReply>()),
        "ConfirmActionRequest" => Some(visitor.visit::<crate::charging::ConfirmActionRequest>()),
        "ConfirmActionReply" => Some(visitor.visit::<crate::charging::ConfirmActionReply>()),
        "DeployRequest" => Some(visitor.visit::<crate::calendar::DeployRequest>()),
        "DeployReply" => Some(visitor.visit::<crate::calendar::DeployReply>()),
        "BookRequest" => Some(visitor.visit::<crate::calendar::BookRequest>()),
        "BookReply" => Some(visitor.visit::<crate::calendar::BookReply>()),
        "EntriesRequest" => Some(visitor.visit::<crate::calendar::EntriesRequest>()),
        "Entry" => Some(visitor.visit::<crate::calendar::Entry>()),
        "EntriesReply" => Some(visitor.visit::<crate::calendar::EntriesReply>()),
        "AllocateRequest" => Some(visitor.visit::<crate::records::AllocateRequest>()),
        "Team" => Some(visitor.visit::<crate::records::Team>()),
        "AllocateReply" => Some(visitor.visit::<crate::records::AllocateReply>()),
        "FindAllocationRequest" => Some(visitor.visit::<crate::records::FindAllocationRequest>()),
        "FindAllocationReply" => Some(visitor.visit::<crate::records::FindAllocationReply>()),
        "CountAllocationsRequest" => {
            Some(visitor.visit::<crate::records::CountAllocationsRequest>())
        }
        "CountAllocationsReply" => Some(visitor.visit::<crate::records::CountAllocationsReply>()),
        "Done" => Some(visitor.visit::<crate::petclinic::Done>()),
        "PetType" => Some(visitor.visit::<crate::petclinic::PetType>()),
        "PetTypes" => Some(visitor.visit::<crate::petclinic::PetTypes>()),
        "Specialty" => Some(visitor.visit::<crate::petclinic::Specialty>()),
        "Specialties" => Some(visitor.visit::<crate::petclinic::Specialties>()),
        "Vet" => Some(visitor.visit::<crate::petclinic::Vet>()),
        "Vets" => Some(visitor.visit::<crate::petclinic::Vets>()),
        "Visit" => Some(visitor.visit::<crate::petclinic::Visit>()),
        "Visits" => Some(visitor.visit::<crate::petclinic::Visits>()),
        "Pet" => Some(visitor.visit::<crate::petclinic::Pet>()),
        "Pets" => Some(visitor.visit::<crate::petclinic::Pets>()),
        "Owner" => Some(visitor.visit::<crate::petclinic::Owner>()),
        "Owners" => Some(visitor.visit::<crate::petclinic::Owners>()),
        "ListPetTypesRequest" => Some(visitor.visit::<crate::petclinic::ListPetTypesRequest>()),
        "GetPetTypeRequest" => Some(visitor.visit::<crate::petclinic::GetPetTypeRequest>()),
        "AddPetTypeRequest" => Some(visitor.visit::<crate::petclinic::AddPetTypeRequest>()),
        "UpdatePetTypeRequest" => Some(visitor.visit::<crate::petclinic::UpdatePetTypeRequest>()),
        "DeletePetTypeRequest" => Some(visitor.visit::<crate::petclinic::DeletePetTypeRequest>()),
        "ListPetsRequest" => Some(visitor.visit::<crate::petclinic::ListPetsRequest>()),
        "GetPetRequest" => Some(visitor.visit::<crate::petclinic::GetPetRequest>()),
        "AddPetRequest" => Some(visitor.visit::<crate::petclinic::AddPetRequest>()),
        "UpdatePetRequest" => Some(visitor.visit::<crate::petclinic::UpdatePetRequest>()),
        "DeletePetRequest" => Some(visitor.visit::<crate::petclinic::DeletePetRequest>()),
        "ListOwnersRequest" => Some(visitor.visit::<crate::petclinic::ListOwnersRequest>()),
        "GetOwnerRequest" => Some(visitor.visit::<crate::petclinic::GetOwnerRequest>()),
        "AddOwnerRequest" => Some(visitor.visit::<crate::petclinic::AddOwnerRequest>()),
        "UpdateOwnerRequest" => Some(visitor.visit::<crate::petclinic::UpdateOwnerRequest>()),
        "DeleteOwnerRequest" => Some(visitor.visit::<crate::petclinic::DeleteOwnerRequest>()),
        "AddPetToOwnerRequest" => Some(visitor.visit::<crate::petclinic::AddPetToOwnerRequest>()),
        "AddVisitToOwnerRequest" => {
            Some(visitor.visit::<crate::petclinic::AddVisitToOwnerRequest>())
        }
        "GetOwnersPetRequest" => Some(visitor.visit::<crate::petclinic::GetOwnersPetRequest>()),
        "ListSpecialtiesRequest" => {
            Some(visitor.visit::<crate::petclinic::ListSpecialtiesRequest>())
        }
        "GetSpecialtyRequest" => Some(visitor.visit::<crate::petclinic::GetSpecialtyRequest>()),
        "AddSpecialtyRequest" => Some(visitor.visit::<crate::petclinic::AddSpecialtyRequest>()),
        "UpdateSpecialtyRequest" => {
            Some(visitor.visit::<crate::petclinic::UpdateSpecialtyRequest>())
        }
        "DeleteSpecialtyRequest" => {
            Some(visitor.visit::<crate::petclinic::DeleteSpecialtyRequest>())
        }
        "ListVetsRequest" => Some(visitor.visit::<crate::petclinic::ListVetsRequest>()),
        "GetVetRequest" => Some(visitor.visit::<crate::petclinic::GetVetRequest>()),
        "AddVetRequest" => Some(visitor.visit::<crate::petclinic::AddVetRequest>()),
        "UpdateVetRequest" => Some(visitor.visit::<crate::petclinic::UpdateVetRequest>()),
        "DeleteVetRequest" => Some(visitor.visit::<crate::petclinic::DeleteVetRequest>()),
        "ListVisitsRequest" => Some(visitor.visit::<crate::petclinic::ListVisitsRequest>()),
        "GetVisitRequest" => Some(visitor.visit::<crate::petclinic::GetVisitRequest>()),
        "AddVisitRequest" => Some(visitor.visit::<crate::petclinic::AddVisitRequest>()),
        "UpdateVisitRequest" => Some(visitor.visit::<crate::petclinic::UpdateVisitRequest>()),
        "DeleteVisitRequest" => Some(visitor.visit::<crate::petclinic::DeleteVisitRequest>()),
        "FeedRequest" => Some(visitor.visit::<crate::stream::FeedRequest>()),
        "Item" => Some(visitor.visit::<crate::stream::Item>()),
        "PushReply" => Some(visitor.visit::<crate::stream::PushReply>()),
        _ => None,
    }
}
