//! What the calls of one service process share: its state, its counters, and
//! the faults that it commits.

use std::sync::Arc;
use std::time::Duration;

use wirelab_contract::{Contract, Operation, State, Unary};
use wirelab_stack::Binding;

use super::CallError;
use super::any_operation::AnyOperation;
use super::rows::{AnyMessage, Rows, take};
use crate::codec::times::Replies;
use crate::connection::control::Gate;
use crate::documents::config::ServiceConfig;
use crate::documents::config::Stack;
use crate::faults::delay::Delays;
use crate::faults::delay::TextCheck;
use crate::faults::{FaultAction, FaultSwitches, Wrong};
use crate::metrics::Metrics;
use crate::mutants::Mutation;
use crate::service::corruption::{Corruptor, corrupt_any, corrupt_text};

/// Exit code of a fault that ends the process.
pub(crate) const FAULT_EXIT: i32 = 70;

/// What the calls of one service process share.
#[derive(Debug)]
pub(crate) struct ServiceState {
    /// What is served.
    pub(crate) contract: Contract,
    /// How it is spoken.
    pub(crate) stack: Stack,
    /// What the contract's operations work on.
    pub(crate) model: State,
    /// Where the rows of `records` and `petclinic` are, when not in `model`.
    pub(crate) database: Option<Box<dyn Rows>>,
    /// Counters.
    pub(crate) metrics: Arc<Metrics>,
    /// Shut while the service is frozen.
    pub(crate) gate: Arc<Gate>,
    /// A seeded mistake, where there is one.
    pub(crate) mutation: Option<Mutation>,
    /// The last replies, where their codec is to be timed.
    pub(crate) replies: Option<Replies>,
    // Private: calls ask `arrive` and `delay`, which decide.
    faults: FaultSwitches,
    delays: Delays,
    text_check: TextCheck,
}

/// A call that has arrived. It is in flight until this is dropped.
#[derive(Debug)]
pub(crate) struct Arrival {
    /// What is to happen to it.
    pub(crate) action: FaultAction,
    pub(crate) operation: Operation,
    metrics: Arc<Metrics>,
}

impl Drop for Arrival {
    fn drop(&mut self) {
        self.metrics.end();
    }
}

impl Arrival {
    /// Travels with a call whose reply is to be wrong in its content or length.
    pub(crate) fn corruptor(&self) -> Option<Corruptor> {
        match self.action {
            FaultAction::Wrong(wrong @ (Wrong::Content | Wrong::Length)) => {
                Some(Corruptor::new(wrong, &self.metrics))
            }
            _ => None,
        }
    }

    /// The call was answered with an application error.
    pub(crate) fn refused(&self) {
        self.metrics.error(self.operation);
    }

    /// The call's fault was injected.
    pub(crate) fn fault_injected(&self) {
        if let Some(fault) = self.action.index() {
            self.metrics.fault(fault);
        }
    }
}

impl ServiceState {
    /// A state for what `config` asks for, before its first call.
    pub(crate) fn new(
        config: &ServiceConfig,
        contract: Contract,
        database: Option<Box<dyn Rows>>,
    ) -> Self {
        let store = wirelab_contract::Store {
            hello_bytes: config.store.hello_bytes,
            // Checked to fit before.
            accounts: i32::try_from(config.store.accounts).unwrap_or(i32::MAX),
            balance: i32::try_from(config.store.balance).unwrap_or(i32::MAX),
        };
        ServiceState {
            contract,
            stack: config.stack.clone(),
            model: State::new(&store),
            database,
            metrics: Arc::new(Metrics::new(contract)),
            gate: Arc::new(Gate::new()),
            mutation: config.faults.mutant.as_deref().and_then(Mutation::new),
            replies: config.codec_times.then(Replies::default),
            faults: config.faults.clone(),
            delays: Delays::default(),
            text_check: TextCheck::new(config.faults.text_check_ns_per_kb),
        }
    }

    /// Whether replies depend on the model alone: no database, no mistake, and none are kept.
    pub(crate) fn is_plain(&self) -> bool {
        self.database.is_none() && self.mutation.is_none() && self.replies.is_none()
    }

    /// A call arrives: it is counted, and the service exits or freezes where
    /// that is switched on for it. None while nothing counts.
    pub(crate) fn arrive(&self, operation: Operation) -> Option<Arrival> {
        // Counted first: the number chooses the fault.
        let number = self.metrics.begin(operation)?;
        if let Some(freeze) = self.faults.freeze
            && freeze.at_call.get() == number
        {
            self.metrics.fault(FaultAction::FREEZE);
            // In the call's own thread, after its arrival was counted: it is in flight
            // throughout the freeze.
            self.gate.shut(Duration::from_millis(freeze.ms));
        }
        let action = self.faults.action(number);
        if action == FaultAction::Exit {
            // At once: no destructor runs and no socket is closed in order, as in a crash.
            std::process::exit(FAULT_EXIT);
        }
        Some(Arrival {
            action,
            operation,
            metrics: Arc::clone(&self.metrics),
        })
    }

    /// The injected delay, if calls of `operation` have one.
    pub(crate) async fn delay(&self, operation: Operation) {
        let only = self.faults.delay_operation.as_deref();
        if let Some(us) = self.faults.delay_us
            && only.is_none_or(|name| name == operation.name())
        {
            let real = self.delays.wait(Duration::from_micros(us)).await;
            self.metrics.delay(real);
        }
    }

    /// The check of Hello's text, as slow as configured.
    pub(crate) fn check_text(&self) {
        if self.text_check.slow() {
            self.text_check.run(self.model.text().len());
        }
    }

    /// The reply to a request.
    ///
    /// # Errors
    /// The reason for which the call failed.
    pub(crate) async fn answer<O: Unary>(
        &self,
        request: O::Request,
        corruptor: Option<&Corruptor>,
    ) -> Result<O::Reply, CallError> {
        let operation = AnyOperation::of_type::<O>();
        let reply = self.answer_any(operation, Box::new(request), corruptor);
        reply.await.map(take)
    }

    /// The same for an operation whose types are not known.
    ///
    /// # Errors
    /// The reason for which the call failed.
    pub(crate) async fn answer_any(
        &self,
        operation: &AnyOperation,
        request: AnyMessage,
        corruptor: Option<&Corruptor>,
    ) -> Result<AnyMessage, CallError> {
        // The mistake that studies seed to see whether a slow handler is found.
        if operation.operation == Operation::Hello {
            self.check_text();
        }
        let found = match (&self.mutation, &self.database) {
            (None, None) => (operation.answer)(&self.model, request).map_err(CallError::from),
            (None, Some(database)) => database.answer(operation.operation, request).await,
            // Mutants change the model; validation refuses one next to a database.
            (Some(mutation), _) => {
                (operation.mutated)(mutation, &self.model, request).map_err(CallError::from_text)
            }
        };
        match found {
            Ok(mut reply) => {
                corrupt_any(&mut *reply, corruptor);
                Ok(reply)
            }
            Err(CallError::Application(text)) => {
                Err(CallError::Application(corrupt_text(text, corruptor)))
            }
            // REST has no body there, and so no text that could be wrong.
            Err(CallError::NotFound(text)) if self.stack.binding == Binding::Rest => {
                Err(CallError::NotFound(text))
            }
            Err(CallError::NotFound(text)) => {
                Err(CallError::NotFound(corrupt_text(text, corruptor)))
            }
            Err(CallError::Unavailable) => Err(CallError::Unavailable),
        }
    }
}
