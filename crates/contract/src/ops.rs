//! The unary operations as types: the one dispatch from a name to message types.

use crate::calendar::{
    BookReply, BookRequest, DeployReply, DeployRequest, EntriesReply, EntriesRequest,
};
use crate::calendars;
use crate::call;
use crate::charging::{
    ConfirmActionReply, ConfirmActionRequest, CreditControlReply, CreditControlRequest,
    CreditReply, CreditRequest, DebitReservationReply, DebitReservationRequest, DirectDebitReply,
    DirectDebitRequest, ReleaseResReply, ReleaseResRequest, ReserveReply, ReserveRequest,
};
use crate::error::ApplicationError;
use crate::message::Message;
use crate::model;
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
use crate::state::State;
use crate::transfer::{
    HelloBytesReply, HelloReply, HelloRequest, SubmitReply, SubmitRequest, UploadReply,
    UploadRequest,
};

/// An operation of one request message and one reply message.
pub trait Unary: 'static {
    /// The request.
    type Request: Message;
    /// The reply.
    type Reply: Message + Into<call::Reply>;
    /// Which operation it is.
    const OPERATION: Operation;

    /// What a service with that state answers.
    ///
    /// # Errors
    /// The application error that the contract demands.
    fn answer(state: &State, request: Self::Request) -> Result<Self::Reply, ApplicationError>;
}

/// Something to be done with a unary operation's types.
pub trait UnaryVisitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<O: Unary>(self) -> Self::Output;
}

macro_rules! unary {
    ($($name:ident($request:ty) -> $reply:ty = |$state:pat_param, $message:pat_param| $answer:expr;)*) => {
        $(
            #[doc = concat!("[`Operation::", stringify!($name), "`] as a type.")]
            #[derive(Debug, Clone, Copy)]
            pub struct $name;

            impl Unary for $name {
                type Request = $request;
                type Reply = $reply;
                const OPERATION: Operation = Operation::$name;

                fn answer(
                    $state: &State,
                    $message: $request,
                ) -> Result<$reply, ApplicationError> {
                    $answer
                }
            }
        )*

        impl Operation {
            /// Lets `visitor` see the types of a unary operation; `None` for streams.
            pub fn visit_unary<V: UnaryVisitor>(self, visitor: V) -> Option<V::Output> {
                match self {
                    $(Operation::$name => Some(visitor.visit::<$name>()),)*
                    Operation::UploadStream
                    | Operation::Download
                    | Operation::Feed
                    | Operation::Push
                    | Operation::Chat => None,
                }
            }
        }
    };
}

#[rustfmt::skip]
unary! {
    Hello(HelloRequest) -> HelloReply = |state, _| Ok(state.hello());
    HelloBytes(HelloRequest) -> HelloBytesReply = |state, _| Ok(state.hello_bytes());
    Submit(SubmitRequest) -> SubmitReply = |_, request| model::submit(&request);
    Upload(UploadRequest) -> UploadReply = |_, request| model::upload(&request.data);
    Credit(CreditRequest) -> CreditReply = |state, request| state.accounts.credit(&request);
    DirectDebit(DirectDebitRequest) -> DirectDebitReply = |state, request| state.accounts.direct_debit(&request);
    Reserve(ReserveRequest) -> ReserveReply = |state, request| state.accounts.reserve(&request);
    DebitReservation(DebitReservationRequest) -> DebitReservationReply = |state, request| state.accounts.debit_reservation(&request);
    ReleaseRes(ReleaseResRequest) -> ReleaseResReply = |state, request| state.accounts.release_res(&request);
    CreditControl(CreditControlRequest) -> CreditControlReply = |state, request| state.accounts.credit_control(&request);
    ConfirmAction(ConfirmActionRequest) -> ConfirmActionReply = |state, request| state.accounts.confirm_action(&request);
    Deploy(DeployRequest) -> DeployReply = |_, request| calendars::deploy(&request);
    Book(BookRequest) -> BookReply = |state, request| state.calendars.book(&request);
    Entries(EntriesRequest) -> EntriesReply = |state, request| state.calendars.entries(&request);
    Allocate(AllocateRequest) -> AllocateReply = |state, request| state.allocations.allocate(&request);
    FindAllocation(FindAllocationRequest) -> FindAllocationReply = |state, request| state.allocations.find(&request);
    CountAllocations(CountAllocationsRequest) -> CountAllocationsReply = |state, _| Ok(state.allocations.count());
    ListPetTypes(ListPetTypesRequest) -> PetTypes = |state, request| state.clinic().list_pet_types(&request);
    GetPetType(GetPetTypeRequest) -> PetType = |state, request| state.clinic().get_pet_type(&request);
    AddPetType(AddPetTypeRequest) -> PetType = |state, request| state.clinic().add_pet_type(&request);
    UpdatePetType(UpdatePetTypeRequest) -> Done = |state, request| state.clinic().update_pet_type(&request);
    DeletePetType(DeletePetTypeRequest) -> Done = |state, request| state.clinic().delete_pet_type(&request);
    ListPets(ListPetsRequest) -> Pets = |state, request| state.clinic().list_pets(&request);
    GetPet(GetPetRequest) -> Pet = |state, request| state.clinic().get_pet(&request);
    AddPet(AddPetRequest) -> Pet = |state, request| state.clinic().add_pet(&request);
    UpdatePet(UpdatePetRequest) -> Done = |state, request| state.clinic().update_pet(&request);
    DeletePet(DeletePetRequest) -> Done = |state, request| state.clinic().delete_pet(&request);
    ListOwners(ListOwnersRequest) -> Owners = |state, request| state.clinic().list_owners(&request);
    GetOwner(GetOwnerRequest) -> Owner = |state, request| state.clinic().get_owner(&request);
    AddOwner(AddOwnerRequest) -> Owner = |state, request| state.clinic().add_owner(&request);
    UpdateOwner(UpdateOwnerRequest) -> Done = |state, request| state.clinic().update_owner(&request);
    DeleteOwner(DeleteOwnerRequest) -> Done = |state, request| state.clinic().delete_owner(&request);
    AddPetToOwner(AddPetToOwnerRequest) -> Pet = |state, request| state.clinic().add_pet_to_owner(&request);
    AddVisitToOwner(AddVisitToOwnerRequest) -> Visit = |state, request| state.clinic().add_visit_to_owner(&request);
    GetOwnersPet(GetOwnersPetRequest) -> Pet = |state, request| state.clinic().get_owners_pet(&request);
    ListSpecialties(ListSpecialtiesRequest) -> Specialties = |state, request| state.clinic().list_specialties(&request);
    GetSpecialty(GetSpecialtyRequest) -> Specialty = |state, request| state.clinic().get_specialty(&request);
    AddSpecialty(AddSpecialtyRequest) -> Specialty = |state, request| state.clinic().add_specialty(&request);
    UpdateSpecialty(UpdateSpecialtyRequest) -> Done = |state, request| state.clinic().update_specialty(&request);
    DeleteSpecialty(DeleteSpecialtyRequest) -> Done = |state, request| state.clinic().delete_specialty(&request);
    ListVets(ListVetsRequest) -> Vets = |state, request| state.clinic().list_vets(&request);
    GetVet(GetVetRequest) -> Vet = |state, request| state.clinic().get_vet(&request);
    AddVet(AddVetRequest) -> Vet = |state, request| state.clinic().add_vet(&request);
    UpdateVet(UpdateVetRequest) -> Done = |state, request| state.clinic().update_vet(&request);
    DeleteVet(DeleteVetRequest) -> Done = |state, request| state.clinic().delete_vet(&request);
    ListVisits(ListVisitsRequest) -> Visits = |state, request| state.clinic().list_visits(&request);
    GetVisit(GetVisitRequest) -> Visit = |state, request| state.clinic().get_visit(&request);
    AddVisit(AddVisitRequest) -> Visit = |state, request| state.clinic().add_visit(&request);
    UpdateVisit(UpdateVisitRequest) -> Done = |state, request| state.clinic().update_visit(&request);
    DeleteVisit(DeleteVisitRequest) -> Done = |state, request| state.clinic().delete_visit(&request);
}
