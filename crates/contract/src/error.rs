//! Application errors, whose texts are part of the contracts.

use std::str::FromStr;

/// A request that the contract answers with an error; its text is part of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum ApplicationError {
    /// Submit without a batch name; reported before anything else.
    #[error("batch must not be empty")]
    EmptyBatch,
    /// Submit with too many records.
    #[error("at most 100000 records")]
    TooManyRecords,
    /// More in a list than any reader must take; most refuse it while they read.
    #[error("{}", crate::lists::TooManyItems)]
    TooManyItems,
    /// Upload or UploadStream with too much data.
    #[error("at most 67108864 bytes")]
    TooManyBytes,
    /// Download of an impossible length; reported before a bad chunk size.
    #[error("length must be 0 to 67108864")]
    Length,
    /// Download in chunks of an impossible size.
    #[error("chunk_bytes must be 1 to 1048576")]
    ChunkBytes,
    /// An amount of 0 or less.
    #[error("amount must be positive")]
    Amount,
    /// An account that the service does not hold.
    #[error("no such account")]
    NoAccount,
    /// A credit that an int32 cannot hold.
    #[error("balance must not exceed 2147483647")]
    BalanceLimit,
    /// Less is available, or set aside, than is to be taken.
    #[error("not enough credit")]
    NotEnoughCredit,
    /// No reservation of that number and account.
    #[error("unknown reservation")]
    UnknownReservation,
    /// No unconfirmed action of that number.
    #[error("unknown confirmation")]
    UnknownConfirmation,
    /// No room for another unconfirmed action.
    #[error("too many unconfirmed actions")]
    TooManyActions,
    /// No room for another reservation.
    #[error("too many reservations")]
    TooManyReservations,
    /// Deploy of nothing.
    #[error("document must not be empty")]
    EmptyDocument,
    /// Deploy of too long a document.
    #[error("at most 1048576 bytes")]
    DocumentTooLong,
    /// A calendar operation without an owner.
    #[error("owner must not be empty")]
    EmptyOwner,
    /// A day that a calendar has not.
    #[error("day must be 1 to 364")]
    Day,
    /// A slot that a day has not.
    #[error("slot must be 0 to 47")]
    Slot,
    /// An entry without a title.
    #[error("title must not be empty")]
    EmptyTitle,
    /// Too long an owner, title or note.
    #[error("at most 1024 bytes")]
    TextTooLong,
    /// A weight that is not finite.
    #[error("weight must be finite")]
    Weight,
    /// No room for another owner.
    #[error("too many owners")]
    TooManyOwners,
    /// A student without a name.
    #[error("name must not be empty")]
    EmptyName,
    /// A student's number of 0 or less.
    #[error("id must be positive")]
    Id,
    /// An allocation without a course.
    #[error("course code must not be empty")]
    EmptyCourseCode,
    /// A team that was not stored.
    #[error("no such group")]
    NoGroup,
    /// A row of petclinic that is not there, or an empty list.
    #[error("not found")]
    NotFound,
    /// A request of petclinic that breaks a limit, or refers to a row that is not there.
    #[error("invalid request")]
    Invalid,
    /// A feed of an impossible number of items.
    #[error("count must be 1 to 1000000")]
    FeedCount,
    /// A feed with texts of an impossible size.
    #[error("bytes must be 0 to 65536")]
    FeedBytes,
    /// A feed with an impossible gap.
    #[error("gap_us must be 0 to 60000000")]
    FeedGap,
    /// A feed of a pattern that does not exist.
    #[error("pattern must be constant, bursts, pause or tokens")]
    FeedPattern,
    /// Too many bytes in the texts of one stream.
    #[error("at most 1073741824 bytes")]
    StreamTooLarge,
    /// A feed that would last too long.
    #[error("at most 3600 s")]
    StreamTooLong,
    /// An item of a client with another number than is due.
    #[error("items must be numbered from 0 without gaps")]
    ItemOrder,
    /// Too many items of a client.
    #[error("at most 1000000 items")]
    TooManyStreamItems,
    /// Too long a text in an item of a client.
    #[error("at most 65536 bytes in a text")]
    ItemTooLong,
}

/// What a service answers whose database cannot be reached, or whose pool has no
/// free connection within the timeout. No application error: REST status 503, gRPC
/// status UNAVAILABLE, SOAP fault Server (contracts/README.md, records).
pub const DATABASE_UNAVAILABLE: &str = "database unavailable";

impl ApplicationError {
    /// The status that it has in gRPC: `INVALID_ARGUMENT`, or `NOT_FOUND` for a row that is
    /// not there.
    #[must_use]
    pub fn grpc_status(self) -> u32 {
        match self {
            // google.rpc.Code: NOT_FOUND is 5, INVALID_ARGUMENT 3.
            ApplicationError::NotFound => 5,
            _ => 3,
        }
    }

    /// Every application error.
    pub const ALL: [ApplicationError; 38] = [
        ApplicationError::EmptyBatch,
        ApplicationError::TooManyRecords,
        ApplicationError::TooManyItems,
        ApplicationError::TooManyBytes,
        ApplicationError::Length,
        ApplicationError::ChunkBytes,
        ApplicationError::Amount,
        ApplicationError::NoAccount,
        ApplicationError::BalanceLimit,
        ApplicationError::NotEnoughCredit,
        ApplicationError::UnknownReservation,
        ApplicationError::UnknownConfirmation,
        ApplicationError::TooManyActions,
        ApplicationError::TooManyReservations,
        ApplicationError::EmptyDocument,
        ApplicationError::DocumentTooLong,
        ApplicationError::EmptyOwner,
        ApplicationError::Day,
        ApplicationError::Slot,
        ApplicationError::EmptyTitle,
        ApplicationError::TextTooLong,
        ApplicationError::Weight,
        ApplicationError::TooManyOwners,
        ApplicationError::EmptyName,
        ApplicationError::Id,
        ApplicationError::EmptyCourseCode,
        ApplicationError::NoGroup,
        ApplicationError::NotFound,
        ApplicationError::Invalid,
        ApplicationError::FeedCount,
        ApplicationError::FeedBytes,
        ApplicationError::FeedGap,
        ApplicationError::FeedPattern,
        ApplicationError::StreamTooLarge,
        ApplicationError::StreamTooLong,
        ApplicationError::ItemOrder,
        ApplicationError::TooManyStreamItems,
        ApplicationError::ItemTooLong,
    ];
}

/// A text that no application error has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no contract has the application error {0:?}")]
pub struct UnknownError(pub String);

impl FromStr for ApplicationError {
    type Err = UnknownError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = ApplicationError::ALL
            .into_iter()
            // Through Display, so that each text is in one place only.
            .find(|error| error.to_string() == text);
        found.ok_or_else(|| UnknownError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_the_contracts_and_lead_back() {
        // The page is what other languages are written from: both must have the same text.
        let page = include_str!("../../../contracts/README.md");
        for error in ApplicationError::ALL {
            assert!(page.contains(&format!("`{error}`")), "{error}");
            assert_eq!(error.to_string().parse(), Ok(error));
        }
        assert!("No such account".parse::<ApplicationError>().is_err());
    }
}
