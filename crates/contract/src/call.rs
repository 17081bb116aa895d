//! A call with its typed request, and its typed reply.

use crate::calendar::{
    BookReply, BookRequest, DeployReply, DeployRequest, EntriesReply, EntriesRequest,
};
use crate::charging::{
    ConfirmActionReply, ConfirmActionRequest, CreditControlReply, CreditControlRequest,
    CreditReply, CreditRequest, DebitReservationReply, DebitReservationRequest, DirectDebitReply,
    DirectDebitRequest, ReleaseResReply, ReleaseResRequest, ReserveReply, ReserveRequest,
};
use crate::message::{MessageMapper, MessageVisitor};
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
use crate::stream::{FeedRequest, Item, PushReply};
use crate::streams::Schedule;
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
    Feed(FeedRequest),
    /// The items of the client.
    Push(Vec<Item>),
    /// The same.
    Chat(Vec<Item>),
}

/// What is said of calls whose request is one message, once.
macro_rules! calls {
    ($($variant:ident,)*) => {
        impl Call {
            /// The operation that is called.
            #[must_use]
            pub fn operation(&self) -> Operation {
                match self {
                    Call::Hello { .. } => Operation::Hello,
                    Call::HelloBytes { .. } => Operation::HelloBytes,
                    Call::UploadStream { .. } => Operation::UploadStream,
                    Call::Push(_) => Operation::Push,
                    Call::Chat(_) => Operation::Chat,
                    $(Call::$variant(_) => Operation::$variant,)*
                }
            }

            /// Lets `visitor` see the request message; `None` for UploadStream, Push and Chat,
            /// whose request is many.
            pub fn visit<V: MessageVisitor>(&self, visitor: V) -> Option<V::Output> {
                match self {
                    // Both have the same empty request; the operation differs.
                    Call::Hello { .. } | Call::HelloBytes { .. } => {
                        Some(visitor.visit(&HelloRequest {}))
                    }
                    Call::UploadStream { .. } | Call::Push(_) | Call::Chat(_) => None,
                    $(Call::$variant(request) => Some(visitor.visit(request)),)*
                }
            }

            /// The call with the request that `mapper` makes of its own; `None` where the
            /// request is made of a size alone, or is many messages.
            pub(crate) fn map<M: MessageMapper>(
                &self,
                mapper: M,
            ) -> Option<Result<Call, M::Error>> {
                match self {
                    Call::Hello { .. }
                    | Call::HelloBytes { .. }
                    | Call::UploadStream { .. }
                    | Call::Push(_)
                    | Call::Chat(_) => None,
                    $(Call::$variant(request) => Some(mapper.map(request).map(Call::$variant)),)*
                }
            }
        }
    };
}

calls! {
    Submit,
    Upload,
    Download,
    Credit,
    DirectDebit,
    Reserve,
    DebitReservation,
    ReleaseRes,
    CreditControl,
    ConfirmAction,
    Deploy,
    Book,
    Entries,
    Allocate,
    FindAllocation,
    CountAllocations,
    ListPetTypes,
    GetPetType,
    AddPetType,
    UpdatePetType,
    DeletePetType,
    ListPets,
    GetPet,
    AddPet,
    UpdatePet,
    DeletePet,
    ListOwners,
    GetOwner,
    AddOwner,
    UpdateOwner,
    DeleteOwner,
    AddPetToOwner,
    AddVisitToOwner,
    GetOwnersPet,
    ListSpecialties,
    GetSpecialty,
    AddSpecialty,
    UpdateSpecialty,
    DeleteSpecialty,
    ListVets,
    GetVet,
    AddVet,
    UpdateVet,
    DeleteVet,
    ListVisits,
    GetVisit,
    AddVisit,
    UpdateVisit,
    DeleteVisit,
    Feed,
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
    /// To Feed: the items in order, without the times at which they are sent.
    Feed(Schedule),
    Push(PushReply),
    /// To Chat: the same.
    Chat(Vec<Item>),
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
            /// Lets `visitor` see the reply message; `None` for Download, Feed and Chat,
            /// whose reply is many.
            pub fn visit<V: MessageVisitor>(&self, visitor: V) -> Option<V::Output> {
                match self {
                    $(Reply::$variant(message) => Some(visitor.visit(message)),)*
                    Reply::Download(_) | Reply::Feed(_) | Reply::Chat(_) => None,
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
    Push(PushReply),
}
