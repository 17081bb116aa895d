//! The operations of all contracts by name.

use std::fmt;
use std::str::FromStr;

use crate::contract::Contract;

/// An operation of a contract. No two contracts share a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// The text as a string.
    Hello,
    /// The text as bytes.
    HelloBytes,
    /// A batch of records.
    Submit,
    /// A file in one message.
    Upload,
    /// A file as a stream of chunks.
    UploadStream,
    /// A pattern as a stream of chunks.
    Download,
    /// Adds an amount to an account.
    Credit,
    /// Takes an amount from an account.
    DirectDebit,
    /// Sets an amount aside.
    Reserve,
    /// Takes an amount that had been set aside.
    DebitReservation,
    /// Gives back what had been set aside.
    ReleaseRes,
    /// Returns the balance.
    CreditControl,
    /// Acknowledges an action.
    ConfirmAction,
    /// Hands in a document.
    Deploy,
    /// Books a slot.
    Book,
    /// Lists the entries of a day.
    Entries,
    /// Stores a team.
    Allocate,
    /// Reads a stored team.
    FindAllocation,
    /// Counts stored teams.
    CountAllocations,
    /// Lists pet types.
    ListPetTypes,
    /// Reads pet type.
    GetPetType,
    /// Stores pet type.
    AddPetType,
    /// Changes pet type.
    UpdatePetType,
    /// Deletes pet type.
    DeletePetType,
    /// Lists pets.
    ListPets,
    /// Reads pet.
    GetPet,
    /// Stores pet.
    AddPet,
    /// Changes pet.
    UpdatePet,
    /// Deletes pet.
    DeletePet,
    /// Lists owners.
    ListOwners,
    /// Reads owner.
    GetOwner,
    /// Stores owner.
    AddOwner,
    /// Changes owner.
    UpdateOwner,
    /// Deletes owner.
    DeleteOwner,
    /// Stores pet to owner.
    AddPetToOwner,
    /// Stores visit to owner.
    AddVisitToOwner,
    /// Reads owners pet.
    GetOwnersPet,
    /// Lists specialties.
    ListSpecialties,
    /// Reads specialty.
    GetSpecialty,
    /// Stores specialty.
    AddSpecialty,
    /// Changes specialty.
    UpdateSpecialty,
    /// Deletes specialty.
    DeleteSpecialty,
    /// Lists vets.
    ListVets,
    /// Reads vet.
    GetVet,
    /// Stores vet.
    AddVet,
    /// Changes vet.
    UpdateVet,
    /// Deletes vet.
    DeleteVet,
    /// Lists visits.
    ListVisits,
    /// Reads visit.
    GetVisit,
    /// Stores visit.
    AddVisit,
    /// Changes visit.
    UpdateVisit,
    /// Deletes visit.
    DeleteVisit,
    /// Items on a schedule, as a stream.
    Feed,
    /// A stream of items of the client.
    Push,
    /// A stream of items, each answered by one.
    Chat,
}

/// Contract, name, name with a lower-case first letter, path in REST.
type Row = (Contract, &'static str, &'static str, &'static str);

impl Operation {
    /// Every operation, contract by contract, each in its own order.
    pub const ALL: [Operation; 55] = [
        Operation::Hello,
        Operation::HelloBytes,
        Operation::Submit,
        Operation::Upload,
        Operation::UploadStream,
        Operation::Download,
        Operation::Credit,
        Operation::DirectDebit,
        Operation::Reserve,
        Operation::DebitReservation,
        Operation::ReleaseRes,
        Operation::CreditControl,
        Operation::ConfirmAction,
        Operation::Deploy,
        Operation::Book,
        Operation::Entries,
        Operation::Allocate,
        Operation::FindAllocation,
        Operation::CountAllocations,
        Operation::ListPetTypes,
        Operation::GetPetType,
        Operation::AddPetType,
        Operation::UpdatePetType,
        Operation::DeletePetType,
        Operation::ListPets,
        Operation::GetPet,
        Operation::AddPet,
        Operation::UpdatePet,
        Operation::DeletePet,
        Operation::ListOwners,
        Operation::GetOwner,
        Operation::AddOwner,
        Operation::UpdateOwner,
        Operation::DeleteOwner,
        Operation::AddPetToOwner,
        Operation::AddVisitToOwner,
        Operation::GetOwnersPet,
        Operation::ListSpecialties,
        Operation::GetSpecialty,
        Operation::AddSpecialty,
        Operation::UpdateSpecialty,
        Operation::DeleteSpecialty,
        Operation::ListVets,
        Operation::GetVet,
        Operation::AddVet,
        Operation::UpdateVet,
        Operation::DeleteVet,
        Operation::ListVisits,
        Operation::GetVisit,
        Operation::AddVisit,
        Operation::UpdateVisit,
        Operation::DeleteVisit,
        Operation::Feed,
        Operation::Push,
        Operation::Chat,
    ];

    /// The operation of `contract` that is called `name`.
    ///
    /// # Errors
    /// When the contract has none of that name; the message lists those it has.
    pub fn of(contract: Contract, name: &str) -> Result<Self, UnknownOperation> {
        let mut own = Operation::all_of(contract);
        own.find(|operation| operation.name() == name)
            .ok_or_else(|| UnknownOperation {
                contract: Some(contract),
                name: name.to_owned(),
            })
    }

    /// The operations of `contract` in its order.
    pub fn all_of(contract: Contract) -> impl Iterator<Item = Operation> {
        Operation::ALL
            .into_iter()
            .filter(move |operation| operation.contract() == contract)
    }

    #[rustfmt::skip]
    fn row(self) -> Row {
        use Contract::{Calendar, Charging, Petclinic, Records, Stream, Transfer};
        match self {
            Operation::Hello => (Transfer, "Hello", "hello", "/transfer/hello"),
            Operation::HelloBytes => (Transfer, "HelloBytes", "helloBytes", "/transfer/hello-bytes"),
            Operation::Submit => (Transfer, "Submit", "submit", "/transfer/submit"),
            Operation::Upload => (Transfer, "Upload", "upload", "/transfer/upload"),
            Operation::UploadStream => (Transfer, "UploadStream", "uploadStream", "/transfer/upload-stream"),
            Operation::Download => (Transfer, "Download", "download", "/transfer/download"),
            Operation::Credit => (Charging, "Credit", "credit", "/charging/credit"),
            Operation::DirectDebit => (Charging, "DirectDebit", "directDebit", "/charging/direct-debit"),
            Operation::Reserve => (Charging, "Reserve", "reserve", "/charging/reserve"),
            Operation::DebitReservation => (Charging, "DebitReservation", "debitReservation", "/charging/debit-reservation"),
            Operation::ReleaseRes => (Charging, "ReleaseRes", "releaseRes", "/charging/release-res"),
            Operation::CreditControl => (Charging, "CreditControl", "creditControl", "/charging/credit-control"),
            Operation::ConfirmAction => (Charging, "ConfirmAction", "confirmAction", "/charging/confirm-action"),
            Operation::Deploy => (Calendar, "Deploy", "deploy", "/calendar/deploy"),
            Operation::Book => (Calendar, "Book", "book", "/calendar/book"),
            Operation::Entries => (Calendar, "Entries", "entries", "/calendar/entries"),
            Operation::Allocate => (Records, "Allocate", "allocate", "/records/allocate"),
            Operation::FindAllocation => (Records, "FindAllocation", "findAllocation", "/records/find-allocation"),
            Operation::CountAllocations => (Records, "CountAllocations", "countAllocations", "/records/count-allocations"),
            Operation::ListPetTypes => (Petclinic, "ListPetTypes", "listPetTypes", ""),
            Operation::GetPetType => (Petclinic, "GetPetType", "getPetType", ""),
            Operation::AddPetType => (Petclinic, "AddPetType", "addPetType", ""),
            Operation::UpdatePetType => (Petclinic, "UpdatePetType", "updatePetType", ""),
            Operation::DeletePetType => (Petclinic, "DeletePetType", "deletePetType", ""),
            Operation::ListPets => (Petclinic, "ListPets", "listPets", ""),
            Operation::GetPet => (Petclinic, "GetPet", "getPet", ""),
            Operation::AddPet => (Petclinic, "AddPet", "addPet", ""),
            Operation::UpdatePet => (Petclinic, "UpdatePet", "updatePet", ""),
            Operation::DeletePet => (Petclinic, "DeletePet", "deletePet", ""),
            Operation::ListOwners => (Petclinic, "ListOwners", "listOwners", ""),
            Operation::GetOwner => (Petclinic, "GetOwner", "getOwner", ""),
            Operation::AddOwner => (Petclinic, "AddOwner", "addOwner", ""),
            Operation::UpdateOwner => (Petclinic, "UpdateOwner", "updateOwner", ""),
            Operation::DeleteOwner => (Petclinic, "DeleteOwner", "deleteOwner", ""),
            Operation::AddPetToOwner => (Petclinic, "AddPetToOwner", "addPetToOwner", ""),
            Operation::AddVisitToOwner => (Petclinic, "AddVisitToOwner", "addVisitToOwner", ""),
            Operation::GetOwnersPet => (Petclinic, "GetOwnersPet", "getOwnersPet", ""),
            Operation::ListSpecialties => (Petclinic, "ListSpecialties", "listSpecialties", ""),
            Operation::GetSpecialty => (Petclinic, "GetSpecialty", "getSpecialty", ""),
            Operation::AddSpecialty => (Petclinic, "AddSpecialty", "addSpecialty", ""),
            Operation::UpdateSpecialty => (Petclinic, "UpdateSpecialty", "updateSpecialty", ""),
            Operation::DeleteSpecialty => (Petclinic, "DeleteSpecialty", "deleteSpecialty", ""),
            Operation::ListVets => (Petclinic, "ListVets", "listVets", ""),
            Operation::GetVet => (Petclinic, "GetVet", "getVet", ""),
            Operation::AddVet => (Petclinic, "AddVet", "addVet", ""),
            Operation::UpdateVet => (Petclinic, "UpdateVet", "updateVet", ""),
            Operation::DeleteVet => (Petclinic, "DeleteVet", "deleteVet", ""),
            Operation::ListVisits => (Petclinic, "ListVisits", "listVisits", ""),
            Operation::GetVisit => (Petclinic, "GetVisit", "getVisit", ""),
            Operation::AddVisit => (Petclinic, "AddVisit", "addVisit", ""),
            Operation::UpdateVisit => (Petclinic, "UpdateVisit", "updateVisit", ""),
            Operation::DeleteVisit => (Petclinic, "DeleteVisit", "deleteVisit", ""),
            Operation::Feed => (Stream, "Feed", "feed", "/stream/feed"),
            Operation::Push => (Stream, "Push", "push", "/stream/push"),
            Operation::Chat => (Stream, "Chat", "chat", "/stream/chat"),
        }
    }

    /// The contract that has it.
    #[must_use]
    pub fn contract(self) -> Contract {
        self.row().0
    }

    /// The name in the contract: `DirectDebit`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The name with a lower-case first letter, as in SOAP's rpc styles and
    /// in IDL: `directDebit`.
    #[must_use]
    pub fn lower_camel(self) -> &'static str {
        self.row().2
    }

    /// Path of the gRPC method.
    #[must_use]
    pub fn grpc_path(self) -> String {
        let contract = self.contract();
        // gRPC over HTTP/2: the path is the full name of the service and the method.
        let (package, service) = (contract.name(), contract.service());
        format!("/wirelab.{package}.v1.{service}/{}", self.name())
    }

    /// Method and path in REST; `None` for streams of messages that REST does not have, and
    /// for petclinic, whose paths have parameters: see [`Operation::route`].
    #[must_use]
    pub fn rest(self) -> Option<(&'static str, &'static str)> {
        let is_in_grpc_only = self.streaming() && !self.is_in_http();
        if is_in_grpc_only || self.contract() == Contract::Petclinic {
            return None;
        }
        let method = match self {
            // They change nothing and have an empty request (RFC 9110 section 9.3.1).
            Operation::Hello | Operation::HelloBytes => "GET",
            _ => "POST",
        };
        Some((method, self.row().3))
    }

    /// The SOAP action, without quotation marks.
    #[must_use]
    pub fn soap_action(self) -> String {
        format!("{}#{}", self.contract().namespace(), self.name())
    }

    /// Whether its request or its reply is a stream of messages.
    #[must_use]
    pub fn streaming(self) -> bool {
        matches!(self, Operation::UploadStream | Operation::Download) || self.has_items()
    }

    /// Whether it moves the items of the contract stream.
    #[must_use]
    pub fn has_items(self) -> bool {
        self.contract() == Contract::Stream
    }

    /// Whether it is a stream of items that has a form in HTTP without gRPC: lines of JSON, or
    /// events (contracts/README.md, stream).
    #[must_use]
    pub fn is_in_http(self) -> bool {
        matches!(self, Operation::Feed | Operation::Push)
    }

    /// Whether the reply follows from the request and the service's
    /// configuration alone, whatever was called before. Numbers of charging,
    /// records and petclinic are the service's own choice, and entries depend on what was booked.
    #[must_use]
    pub fn pure(self) -> bool {
        !matches!(
            self.contract(),
            Contract::Charging | Contract::Records | Contract::Petclinic
        ) && self != Operation::Entries
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no operation has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownOperation {
    /// The contract in which it was looked for; `None`: in all of them.
    pub contract: Option<Contract>,
    /// The name.
    pub name: String,
}

impl fmt::Display for UnknownOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = |contract| Operation::all_of(contract).map(Operation::name);
        let (known, names): (String, Vec<_>) = match self.contract {
            Some(contract) => (format!("contract {contract} has"), own(contract).collect()),
            None => (
                "the contracts have".to_owned(),
                Contract::ALL.into_iter().flat_map(own).collect(),
            ),
        };
        let name = &self.name;
        write!(f, "{known} no operation {name:?}; use {}", names.join(", "))
    }
}

impl std::error::Error for UnknownOperation {}

impl FromStr for Operation {
    type Err = UnknownOperation;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Operation::ALL
            .into_iter()
            .find(|operation| operation.name() == name);
        found.ok_or_else(|| UnknownOperation {
            contract: None,
            name: name.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_operations() {
        for operation in Operation::ALL {
            assert_eq!(operation.name().parse(), Ok(operation));
            let contract = operation.contract();
            assert_eq!(Operation::of(contract, operation.name()), Ok(operation));
        }
        let unknown = "hello".parse::<Operation>().unwrap_err().to_string();
        assert!(
            unknown.contains("UploadStream, Download, Credit"),
            "{unknown}"
        );
        let elsewhere = Operation::of(Contract::Calendar, "Credit").unwrap_err();
        assert_eq!(
            elsewhere.to_string(),
            "contract calendar has no operation \"Credit\"; use Deploy, Book, Entries"
        );
    }

    #[test]
    fn other_names_follow_from_the_name() {
        for operation in Operation::ALL {
            let name = operation.name();
            let lower = name[..1].to_lowercase() + &name[1..];
            assert_eq!(operation.lower_camel(), lower);
            // Paths are written out in the table for searching; this proves the rule.
            let hyphened: String = lower
                .chars()
                .flat_map(|c| match c.is_ascii_uppercase() {
                    true => vec!['-', c.to_ascii_lowercase()],
                    false => vec![c],
                })
                .collect();
            let path = format!("/{}/{hyphened}", operation.contract());
            let rest = operation.rest().map(|(_, path)| path);
            let has_one_path = operation.is_in_http()
                || !operation.streaming() && operation.contract() != Contract::Petclinic;
            assert_eq!(rest, has_one_path.then_some(path.as_str()));
        }
        assert_eq!(
            Operation::Book.grpc_path(),
            "/wirelab.calendar.v1.Calendar/Book"
        );
        assert_eq!(
            Operation::Book.soap_action(),
            "urn:wirelab:calendar:v1#Book"
        );
        assert_eq!(Operation::Hello.rest(), Some(("GET", "/transfer/hello")));
        assert_eq!(Operation::Book.rest(), Some(("POST", "/calendar/book")));
    }
}
