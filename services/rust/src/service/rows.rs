//! Rows of `records` and `petclinic` that are kept in a database.
//!
//! This library has no driver: the program that links one (`services/rust/databases`) passes a
//! [`Driver`] to [`serve_from_stdin`](crate::serve_from_stdin). The services that need none are
//! built without them, in less than half of the time.

use std::any::Any;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;

use wirelab_contract::{Contract, Operation};

use super::CallError;
use crate::documents::config::{Store, StoreKind};
use crate::refusal::Refusal;

/// A message whose type its operation decides.
pub type AnyMessage = Box<dyn Any + Send + Sync>;

/// The message as the type that its operation has.
///
/// # Panics
/// When the message has another type.
#[must_use]
pub fn take<M: Any>(message: AnyMessage) -> M {
    match message.downcast::<M>() {
        Ok(message) => *message,
        Err(_) => wrong_type(),
    }
}

/// The message without its type.
pub fn erase<M: Any + Send + Sync>(message: M) -> AnyMessage {
    Box::new(message)
}

#[cold]
pub(super) fn wrong_type() -> ! {
    panic!("an operation has one type of request and one of replies")
}

/// A future on the heap.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Connections of a pool now.
#[derive(Debug, Clone, Copy)]
pub struct PoolUsage {
    /// Connections that calls hold.
    pub in_use: u64,
    /// Open connections that no call holds.
    pub idle: u64,
}

/// The tables of one contract.
pub trait Rows: Debug + Send + Sync {
    /// The reply to a request; both are the messages of that operation.
    fn answer(
        &self,
        operation: Operation,
        request: AnyMessage,
    ) -> BoxFuture<'_, Result<AnyMessage, CallError>>;

    /// The most connections that the pool opens.
    fn connections_max(&self) -> u32;

    /// The pool's connections.
    fn usage(&self) -> PoolUsage;
}

/// Opens a database and makes the tables of a contract again.
pub type Driver = for<'a> fn(&'a Store, Contract) -> BoxFuture<'a, Result<Box<dyn Rows>, Refusal>>;

/// Opens the store; none for the store `memory`.
///
/// # Errors
/// When the program has no driver, or the database cannot be opened.
pub(crate) async fn open(
    driver: Option<Driver>,
    store: &Store,
    contract: Contract,
) -> Result<Option<Box<dyn Rows>>, Refusal> {
    match (store.kind, driver) {
        (StoreKind::Memory, _) => Ok(None),
        (_, Some(open)) => open(store, contract).await.map(Some),
        (kind, None) => Err(Refusal::new(
            "store.kind",
            format!(
                "this program was built without drivers for databases, and so without {}",
                kind.name()
            ),
            "start wirelab-rust-service-databases instead, or use store.kind=memory",
        )),
    }
}
