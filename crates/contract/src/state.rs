//! What a service holds, and its answers.

use std::sync::OnceLock;

use crate::accounts::Accounts;
use crate::allocations::Allocations;
use crate::calendars::{self, Calendars};
use crate::call::{Call, Reply};
use crate::clinic::tables::Clinic;
use crate::error::ApplicationError;
use crate::streams::{self, Schedule};
use crate::{model, texts};

/// What a service is given to hold at its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Store {
    /// Size of the text of Hello and HelloBytes, in bytes.
    pub hello_bytes: u64,
    /// Accounts, numbered from 1.
    pub accounts: i32,
    /// Units that each account has at the start.
    pub balance: i32,
}

impl Default for Store {
    /// The defaults of contracts/README.md.
    fn default() -> Self {
        Store {
            // The length of `Hello, wirelab`.
            hello_bytes: 14,
            accounts: 1_000,
            balance: 1_000_000_000,
        }
    }
}

/// A service's state: the canonical model that services are compared with, and
/// the store of the embedded ones. Shared by threads; every operation is atomic.
#[derive(Debug)]
pub struct State {
    hello_bytes: u64,
    // Made late, because a text may have 64 MiB and most services are never asked for it.
    text: OnceLock<String>,
    pub(crate) accounts: Accounts,
    pub(crate) calendars: Calendars,
    pub(crate) allocations: Allocations,
    clinic: OnceLock<Clinic>,
}

impl State {
    /// The state of a service that has just started with `store`.
    #[must_use]
    pub fn new(store: &Store) -> Self {
        State {
            hello_bytes: store.hello_bytes,
            text: OnceLock::new(),
            accounts: Accounts::new(store.accounts, store.balance),
            calendars: Calendars::new(),
            allocations: Allocations::new(),
            clinic: OnceLock::new(),
        }
    }

    /// The text of Hello; made when it is first asked for, then kept.
    ///
    /// # Panics
    /// When the text is larger than this machine can address.
    #[must_use]
    pub fn text(&self) -> &str {
        self.text
            .get_or_init(|| texts::text(model::addressable(self.hello_bytes)))
    }

    /// The clinic; made when it is first asked for, then kept.
    pub(crate) fn clinic(&self) -> &Clinic {
        self.clinic.get_or_init(Clinic::new)
    }

    /// The sum of all balances; changes by credits and debits only.
    #[must_use]
    pub fn money(&self) -> i64 {
        self.accounts.money()
    }

    /// The answer to `call`. Hello and HelloBytes return the text of this state,
    /// whatever size the call names.
    ///
    /// # Errors
    /// The application error that the contract demands.
    pub fn answer(&self, call: &Call) -> Result<Reply, ApplicationError> {
        let accounts = &self.accounts;
        Ok(match call {
            Call::Hello { .. } => Reply::Hello(self.hello()),
            Call::HelloBytes { .. } => Reply::HelloBytes(self.hello_bytes()),
            Call::Submit(request) => model::submit(request)?.into(),
            Call::Upload(request) => model::upload(&request.data)?.into(),
            Call::UploadStream { data, .. } => model::upload(data)?.into(),
            Call::Download(request) => Reply::Download(model::download(request)?),
            Call::Credit(request) => accounts.credit(request)?.into(),
            Call::DirectDebit(request) => accounts.direct_debit(request)?.into(),
            Call::Reserve(request) => accounts.reserve(request)?.into(),
            Call::DebitReservation(request) => accounts.debit_reservation(request)?.into(),
            Call::ReleaseRes(request) => accounts.release_res(request)?.into(),
            Call::CreditControl(request) => accounts.credit_control(request)?.into(),
            Call::ConfirmAction(request) => accounts.confirm_action(request)?.into(),
            Call::Deploy(request) => calendars::deploy(request)?.into(),
            Call::Book(request) => self.calendars.book(request)?.into(),
            Call::Entries(request) => self.calendars.entries(request)?.into(),
            Call::Allocate(request) => self.allocations.allocate(request)?.into(),
            Call::FindAllocation(request) => self.allocations.find(request)?.into(),
            Call::CountAllocations(_) => self.allocations.count().into(),
            Call::ListPetTypes(request) => self.clinic().list_pet_types(request)?.into(),
            Call::GetPetType(request) => self.clinic().get_pet_type(request)?.into(),
            Call::AddPetType(request) => self.clinic().add_pet_type(request)?.into(),
            Call::UpdatePetType(request) => self.clinic().update_pet_type(request)?.into(),
            Call::DeletePetType(request) => self.clinic().delete_pet_type(request)?.into(),
            Call::ListPets(request) => self.clinic().list_pets(request)?.into(),
            Call::GetPet(request) => self.clinic().get_pet(request)?.into(),
            Call::AddPet(request) => self.clinic().add_pet(request)?.into(),
            Call::UpdatePet(request) => self.clinic().update_pet(request)?.into(),
            Call::DeletePet(request) => self.clinic().delete_pet(request)?.into(),
            Call::ListOwners(request) => self.clinic().list_owners(request)?.into(),
            Call::GetOwner(request) => self.clinic().get_owner(request)?.into(),
            Call::AddOwner(request) => self.clinic().add_owner(request)?.into(),
            Call::UpdateOwner(request) => self.clinic().update_owner(request)?.into(),
            Call::DeleteOwner(request) => self.clinic().delete_owner(request)?.into(),
            Call::AddPetToOwner(request) => self.clinic().add_pet_to_owner(request)?.into(),
            Call::AddVisitToOwner(request) => self.clinic().add_visit_to_owner(request)?.into(),
            Call::GetOwnersPet(request) => self.clinic().get_owners_pet(request)?.into(),
            Call::ListSpecialties(request) => self.clinic().list_specialties(request)?.into(),
            Call::GetSpecialty(request) => self.clinic().get_specialty(request)?.into(),
            Call::AddSpecialty(request) => self.clinic().add_specialty(request)?.into(),
            Call::UpdateSpecialty(request) => self.clinic().update_specialty(request)?.into(),
            Call::DeleteSpecialty(request) => self.clinic().delete_specialty(request)?.into(),
            Call::ListVets(request) => self.clinic().list_vets(request)?.into(),
            Call::GetVet(request) => self.clinic().get_vet(request)?.into(),
            Call::AddVet(request) => self.clinic().add_vet(request)?.into(),
            Call::UpdateVet(request) => self.clinic().update_vet(request)?.into(),
            Call::DeleteVet(request) => self.clinic().delete_vet(request)?.into(),
            Call::ListVisits(request) => self.clinic().list_visits(request)?.into(),
            Call::GetVisit(request) => self.clinic().get_visit(request)?.into(),
            Call::AddVisit(request) => self.clinic().add_visit(request)?.into(),
            Call::UpdateVisit(request) => self.clinic().update_visit(request)?.into(),
            Call::DeleteVisit(request) => self.clinic().delete_visit(request)?.into(),
            Call::Feed(request) => Reply::Feed(Schedule::of(request)?),
            Call::Push(items) => streams::push(items)?.into(),
            Call::Chat(items) => Reply::Chat(streams::chat(items)?),
        })
    }

    pub(crate) fn hello(&self) -> crate::transfer::HelloReply {
        crate::transfer::HelloReply {
            text: self.text().to_owned(),
        }
    }

    pub(crate) fn hello_bytes(&self) -> crate::transfer::HelloBytesReply {
        crate::transfer::HelloBytesReply {
            text: self.text().as_bytes().to_vec(),
        }
    }
}

impl Call {
    /// What a service must answer that has just started: with the text that
    /// the call names, else with the default store. For a
    /// [pure](Operation::pure) operation every service must answer that at all
    /// times; numbers of charging and records are only one possibility.
    ///
    /// # Errors
    /// The application error that the contract demands.
    pub fn answer(&self) -> Result<Reply, ApplicationError> {
        let mut store = Store::default();
        // A fresh state per call costs more than the answer. It is for tests and
        // expectations, which are made once.
        if let Call::Hello { hello_bytes } | Call::HelloBytes { hello_bytes } = self {
            store.hello_bytes = *hello_bytes;
        }
        State::new(&store).answer(self)
    }
}
