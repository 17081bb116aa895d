//! A call with its typed request, and its typed reply.

use crate::calendar::{
    BookReply, BookRequest, DeployReply, DeployRequest, EntriesReply, EntriesRequest,
};
use crate::charging::{
    ConfirmActionReply, ConfirmActionRequest, CreditControlReply, CreditControlRequest,
    CreditReply, CreditRequest, DebitReservationReply, DebitReservationRequest, DirectDebitReply,
    DirectDebitRequest, ReleaseResReply, ReleaseResRequest, ReserveReply, ReserveRequest,
};
use crate::message::MessageVisitor;
use crate::model::Chunks;
use crate::operation::Operation;
use crate::petclinic::{
    AddOwnerRequest, AddPetRequest, AddPetToOwnerRequest, AddPetTypeRequest, AddSpecialtyRequest,
    AddVetRequest, AddVisitRequest, AddVisitToOwnerRequest, DeleteOwnerRequest, DeletePetRequest,
    DeletePetTypeRequest, DeleteSpecialtyRequest, DeleteVetRequest, DeleteVisitRequest, Done,
    GetOwnerRequest, GetOwnersPetRequest, GetPetRequest, GetPetTypeRequest, GetSpecialtyRequest,
    GetVetRequest, GetVisitRequest, ListOwnersRequest, ListPetTypesRequest, ListPetsRequest,
    ListSpecialtiesRequest, ListVetsRequest, ListVisitsRequest, Owner, Owners, Pet, PetType,
    PetTypes, Pets, Specialties, Specialty, UpdateOwnerRequest, UpdatePetRequest,
    UpdatePetTypeRequest, UpdateSpecialtyRequest, UpdateVetRequest, UpdateVisitRequest, Vet, Vets,
    Visit, Visits,
};
use crate::records::{
    AllocateReply, AllocateRequest, CountAllocationsReply, CountAllocationsRequest,
    FindAllocationReply, FindAllocationRequest,
};
use crate::transfer::{
    DownloadRequest, HelloBytesReply, HelloReply, HelloRequest, SubmitReply, SubmitRequest,
    UploadReply, UploadRequest,
};

/// One call with its typed request. Those of charging need no memory of their own.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Call {
    /// Hello of a service that holds `text(hello_bytes)`.
    Hello {
        /// Size of the text that the service holds, in bytes.
        hello_bytes: u64,
    },
    /// HelloBytes of a service that holds `text(hello_bytes)`.
    HelloBytes {
        /// Size of the text that the service holds, in bytes.
        hello_bytes: u64,
    },
    Submit(SubmitRequest),
    Upload(UploadRequest),
    /// Upload as a stream.
    UploadStream {
        /// The whole file.
        data: Vec<u8>,
        /// Bytes per chunk; the last may be shorter. At least 1.
        chunk_bytes: u32,
    },
    Download(DownloadRequest),
    Credit(CreditRequest),
    DirectDebit(DirectDebitRequest),
    Reserve(ReserveRequest),
    DebitReservation(DebitReservationRequest),
    ReleaseRes(ReleaseResRequest),
    CreditControl(CreditControlRequest),
    ConfirmAction(ConfirmActionRequest),
    Deploy(DeployRequest),
    Book(BookRequest),
    Entries(EntriesRequest),
    Allocate(AllocateRequest),
    FindAllocation(FindAllocationRequest),
    CountAllocations(CountAllocationsRequest),
    ListPetTypes(ListPetTypesRequest),
    GetPetType(GetPetTypeRequest),
    AddPetType(AddPetTypeRequest),
    UpdatePetType(UpdatePetTypeRequest),
    DeletePetType(DeletePetTypeRequest),
    ListPets(ListPetsRequest),
    GetPet(GetPetRequest),
    AddPet(AddPetRequest),
    UpdatePet(UpdatePetRequest),
    DeletePet(DeletePetRequest),
    ListOwners(ListOwnersRequest),
    GetOwner(GetOwnerRequest),
    AddOwner(AddOwnerRequest),
    UpdateOwner(UpdateOwnerRequest),
    DeleteOwner(DeleteOwnerRequest),
    AddPetToOwner(AddPetToOwnerRequest),
    AddVisitToOwner(AddVisitToOwnerRequest),
    GetOwnersPet(GetOwnersPetRequest),
    ListSpecialties(ListSpecialtiesRequest),
    GetSpecialty(GetSpecialtyRequest),
    AddSpecialty(AddSpecialtyRequest),
    UpdateSpecialty(UpdateSpecialtyRequest),
    DeleteSpecialty(DeleteSpecialtyRequest),
    ListVets(ListVetsRequest),
    GetVet(GetVetRequest),
    AddVet(AddVetRequest),
    UpdateVet(UpdateVetRequest),
    DeleteVet(DeleteVetRequest),
    ListVisits(ListVisitsRequest),
    GetVisit(GetVisitRequest),
    AddVisit(AddVisitRequest),
    UpdateVisit(UpdateVisitRequest),
    DeleteVisit(DeleteVisitRequest),
}

impl Call {
    /// The operation that is called.
    #[must_use]
    pub fn operation(&self) -> Operation {
        match self {
            Call::Hello { .. } => Operation::Hello,
            Call::HelloBytes { .. } => Operation::HelloBytes,
            Call::Submit(_) => Operation::Submit,
            Call::Upload(_) => Operation::Upload,
            Call::UploadStream { .. } => Operation::UploadStream,
            Call::Download(_) => Operation::Download,
            Call::Credit(_) => Operation::Credit,
            Call::DirectDebit(_) => Operation::DirectDebit,
            Call::Reserve(_) => Operation::Reserve,
            Call::DebitReservation(_) => Operation::DebitReservation,
            Call::ReleaseRes(_) => Operation::ReleaseRes,
            Call::CreditControl(_) => Operation::CreditControl,
            Call::ConfirmAction(_) => Operation::ConfirmAction,
            Call::Deploy(_) => Operation::Deploy,
            Call::Book(_) => Operation::Book,
            Call::Entries(_) => Operation::Entries,
            Call::Allocate(_) => Operation::Allocate,
            Call::FindAllocation(_) => Operation::FindAllocation,
            Call::CountAllocations(_) => Operation::CountAllocations,
            Call::ListPetTypes(_) => Operation::ListPetTypes,
            Call::GetPetType(_) => Operation::GetPetType,
            Call::AddPetType(_) => Operation::AddPetType,
            Call::UpdatePetType(_) => Operation::UpdatePetType,
            Call::DeletePetType(_) => Operation::DeletePetType,
            Call::ListPets(_) => Operation::ListPets,
            Call::GetPet(_) => Operation::GetPet,
            Call::AddPet(_) => Operation::AddPet,
            Call::UpdatePet(_) => Operation::UpdatePet,
            Call::DeletePet(_) => Operation::DeletePet,
            Call::ListOwners(_) => Operation::ListOwners,
            Call::GetOwner(_) => Operation::GetOwner,
            Call::AddOwner(_) => Operation::AddOwner,
            Call::UpdateOwner(_) => Operation::UpdateOwner,
            Call::DeleteOwner(_) => Operation::DeleteOwner,
            Call::AddPetToOwner(_) => Operation::AddPetToOwner,
            Call::AddVisitToOwner(_) => Operation::AddVisitToOwner,
            Call::GetOwnersPet(_) => Operation::GetOwnersPet,
            Call::ListSpecialties(_) => Operation::ListSpecialties,
            Call::GetSpecialty(_) => Operation::GetSpecialty,
            Call::AddSpecialty(_) => Operation::AddSpecialty,
            Call::UpdateSpecialty(_) => Operation::UpdateSpecialty,
            Call::DeleteSpecialty(_) => Operation::DeleteSpecialty,
            Call::ListVets(_) => Operation::ListVets,
            Call::GetVet(_) => Operation::GetVet,
            Call::AddVet(_) => Operation::AddVet,
            Call::UpdateVet(_) => Operation::UpdateVet,
            Call::DeleteVet(_) => Operation::DeleteVet,
            Call::ListVisits(_) => Operation::ListVisits,
            Call::GetVisit(_) => Operation::GetVisit,
            Call::AddVisit(_) => Operation::AddVisit,
            Call::UpdateVisit(_) => Operation::UpdateVisit,
            Call::DeleteVisit(_) => Operation::DeleteVisit,
        }
    }

    /// Lets `visitor` see the request message; `None` for UploadStream, whose
    /// request is many.
    pub fn visit<V: MessageVisitor>(&self, visitor: V) -> Option<V::Output> {
        Some(match self {
            // Both have the same empty request; the operation differs.
            Call::Hello { .. } | Call::HelloBytes { .. } => visitor.visit(&HelloRequest {}),
            Call::Submit(request) => visitor.visit(request),
            Call::Upload(request) => visitor.visit(request),
            Call::UploadStream { .. } => return None,
            Call::Download(request) => visitor.visit(request),
            Call::Credit(request) => visitor.visit(request),
            Call::DirectDebit(request) => visitor.visit(request),
            Call::Reserve(request) => visitor.visit(request),
            Call::DebitReservation(request) => visitor.visit(request),
            Call::ReleaseRes(request) => visitor.visit(request),
            Call::CreditControl(request) => visitor.visit(request),
            Call::ConfirmAction(request) => visitor.visit(request),
            Call::Deploy(request) => visitor.visit(request),
            Call::Book(request) => visitor.visit(request),
            Call::Entries(request) => visitor.visit(request),
            Call::Allocate(request) => visitor.visit(request),
            Call::FindAllocation(request) => visitor.visit(request),
            Call::CountAllocations(request) => visitor.visit(request),
            Call::ListPetTypes(request) => visitor.visit(request),
            Call::GetPetType(request) => visitor.visit(request),
            Call::AddPetType(request) => visitor.visit(request),
            Call::UpdatePetType(request) => visitor.visit(request),
            Call::DeletePetType(request) => visitor.visit(request),
            Call::ListPets(request) => visitor.visit(request),
            Call::GetPet(request) => visitor.visit(request),
            Call::AddPet(request) => visitor.visit(request),
            Call::UpdatePet(request) => visitor.visit(request),
            Call::DeletePet(request) => visitor.visit(request),
            Call::ListOwners(request) => visitor.visit(request),
            Call::GetOwner(request) => visitor.visit(request),
            Call::AddOwner(request) => visitor.visit(request),
            Call::UpdateOwner(request) => visitor.visit(request),
            Call::DeleteOwner(request) => visitor.visit(request),
            Call::AddPetToOwner(request) => visitor.visit(request),
            Call::AddVisitToOwner(request) => visitor.visit(request),
            Call::GetOwnersPet(request) => visitor.visit(request),
            Call::ListSpecialties(request) => visitor.visit(request),
            Call::GetSpecialty(request) => visitor.visit(request),
            Call::AddSpecialty(request) => visitor.visit(request),
            Call::UpdateSpecialty(request) => visitor.visit(request),
            Call::DeleteSpecialty(request) => visitor.visit(request),
            Call::ListVets(request) => visitor.visit(request),
            Call::GetVet(request) => visitor.visit(request),
            Call::AddVet(request) => visitor.visit(request),
            Call::UpdateVet(request) => visitor.visit(request),
            Call::DeleteVet(request) => visitor.visit(request),
            Call::ListVisits(request) => visitor.visit(request),
            Call::GetVisit(request) => visitor.visit(request),
            Call::AddVisit(request) => visitor.visit(request),
            Call::UpdateVisit(request) => visitor.visit(request),
            Call::DeleteVisit(request) => visitor.visit(request),
        })
    }
}

/// A typed reply.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Reply {
    Hello(HelloReply),
    HelloBytes(HelloBytesReply),
    Submit(SubmitReply),
    /// To Upload and UploadStream.
    Upload(UploadReply),
    /// To Download: the chunks in order.
    Download(Chunks),
    Credit(CreditReply),
    DirectDebit(DirectDebitReply),
    Reserve(ReserveReply),
    DebitReservation(DebitReservationReply),
    ReleaseRes(ReleaseResReply),
    CreditControl(CreditControlReply),
    ConfirmAction(ConfirmActionReply),
    Deploy(DeployReply),
    Book(BookReply),
    Entries(EntriesReply),
    Allocate(AllocateReply),
    FindAllocation(FindAllocationReply),
    CountAllocations(CountAllocationsReply),
    /// To every update and deletion of petclinic.
    Done(Done),
    PetTypes(PetTypes),
    PetType(PetType),
    Pets(Pets),
    Pet(Pet),
    Owners(Owners),
    Owner(Owner),
    Visit(Visit),
    Specialties(Specialties),
    Specialty(Specialty),
    Vets(Vets),
    Vet(Vet),
    Visits(Visits),
}

/// What is said of replies of one message, once.
// A table for messages, not for operations: several operations answer the same message
// (`Done`, `Pet`), and `From` can exist once per type.
macro_rules! replies {
    ($($variant:ident($message:ty),)*) => {
        $(
            impl From<$message> for Reply {
                fn from(message: $message) -> Self {
                    Reply::$variant(message)
                }
            }
        )*

        impl Reply {
            /// Lets `visitor` see the reply message; `None` for Download, whose
            /// reply is many.
            pub fn visit<V: MessageVisitor>(&self, visitor: V) -> Option<V::Output> {
                match self {
                    $(Reply::$variant(message) => Some(visitor.visit(message)),)*
                    Reply::Download(_) => None,
                }
            }
        }
    };
}

replies! {
    PetTypes(PetTypes),
    PetType(PetType),
    Done(Done),
    Pets(Pets),
    Pet(Pet),
    Owners(Owners),
    Owner(Owner),
    Visit(Visit),
    Specialties(Specialties),
    Specialty(Specialty),
    Vets(Vets),
    Vet(Vet),
    Visits(Visits),
    Allocate(AllocateReply),
    FindAllocation(FindAllocationReply),
    CountAllocations(CountAllocationsReply),
    Hello(HelloReply),
    HelloBytes(HelloBytesReply),
    Submit(SubmitReply),
    Upload(UploadReply),
    Credit(CreditReply),
    DirectDebit(DirectDebitReply),
    Reserve(ReserveReply),
    DebitReservation(DebitReservationReply),
    ReleaseRes(ReleaseResReply),
    CreditControl(CreditControlReply),
    ConfirmAction(ConfirmActionReply),
    Deploy(DeployReply),
    Book(BookReply),
    Entries(EntriesReply),
}
