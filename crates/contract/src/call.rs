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
        }
    }

    /// Lets `visitor` see the request message; `None` for UploadStream, whose
    /// request is many.
    pub fn visit<V: MessageVisitor>(&self, visitor: V) -> Option<V::Output> {
        Some(match self {
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
}

/// What is said of replies of one message, once.
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
