//! What the calls of one service process share: its state, its counters, and
//! the faults that it commits.

use std::sync::Arc;
use std::time::Duration;

use wirelab_contract::{Contract, Operation, State, Unary};

use crate::config::ServiceConfig;
use crate::delay::Pauses;
use crate::faults::{Fate, FaultSwitches, Wrong};
use crate::metrics::Metrics;
use crate::mutants::Mutation;
use crate::orders::Gate;
use crate::spoil::{Spoiler, spoil, spoil_text};
use crate::stack::Stack;
use crate::text_check::TextCheck;

/// Exit code of a fault that ends the process.
pub(crate) const FAULT_EXIT: i32 = 70;

/// What the calls of one service process share.
#[derive(Debug)]
pub(crate) struct Desk {
    /// What is served.
    pub(crate) contract: Contract,
    /// How it is spoken.
    pub(crate) stack: Stack,
    /// What the contract's operations work on.
    pub(crate) state: State,
    /// Counters.
    pub(crate) metrics: Arc<Metrics>,
    /// Shut while the service is frozen.
    pub(crate) gate: Arc<Gate>,
    /// A seeded mistake, where there is one.
    pub(crate) mutation: Option<Mutation>,
    faults: FaultSwitches,
    pauses: Pauses,
    text_check: TextCheck,
}

/// A call that has arrived. It is in flight until this is dropped.
#[derive(Debug)]
pub(crate) struct Arrival {
    /// What is to happen to it.
    pub(crate) fate: Fate,
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
    pub(crate) fn spoiler(&self) -> Option<Spoiler> {
        match self.fate {
            Fate::Wrong(wrong @ (Wrong::Content | Wrong::Length)) => {
                Some(Spoiler::new(wrong, &self.metrics))
            }
            _ => None,
        }
    }

    /// The call was answered with an application error.
    pub(crate) fn refused(&self) {
        self.metrics.error(self.operation);
    }

    /// The fault that is the call's fate was committed.
    pub(crate) fn committed(&self) {
        if let Some(fault) = self.fate.index() {
            self.metrics.fault(fault);
        }
    }
}

impl Desk {
    /// A desk for what `config` asks for, before its first call.
    pub(crate) fn new(config: &ServiceConfig, contract: Contract) -> Self {
        let store = wirelab_contract::Store {
            hello_bytes: config.store.hello_bytes,
            // Checked to fit before.
            accounts: i32::try_from(config.store.accounts).unwrap_or(i32::MAX),
            balance: i32::try_from(config.store.balance).unwrap_or(i32::MAX),
        };
        Desk {
            contract,
            stack: config.stack.clone(),
            state: State::new(&store),
            metrics: Arc::new(Metrics::new(contract)),
            gate: Arc::new(Gate::new()),
            mutation: config.faults.mutant.as_deref().and_then(Mutation::new),
            faults: config.faults.clone(),
            pauses: Pauses::default(),
            text_check: TextCheck::new(config.faults.text_check_ns_per_kb),
        }
    }

    /// A call arrives: it is counted, and the service exits or freezes where
    /// that was ordered for it. None while nothing counts.
    pub(crate) fn arrive(&self, operation: Operation) -> Option<Arrival> {
        let number = self.metrics.begin(operation)?;
        if let Some(freeze) = self.faults.freeze
            && freeze.at_call.get() == number
        {
            self.metrics.fault(Fate::FREEZE);
            self.gate.shut(Duration::from_millis(freeze.ms));
        }
        let fate = self.faults.fate(number);
        if fate == Fate::Exit {
            std::process::exit(FAULT_EXIT);
        }
        Some(Arrival {
            fate,
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
            let real = self.pauses.pause(Duration::from_micros(us)).await;
            self.metrics.delay(real);
        }
    }

    /// The check of Hello's text, as slow as it was told to be.
    pub(crate) fn check_text(&self) {
        if self.text_check.slow() {
            self.text_check.run(self.state.text().len());
        }
    }

    /// The reply to a request, or the text of the application error.
    pub(crate) fn answer<O: Unary>(
        &self,
        request: O::Request,
        spoiler: Option<&Spoiler>,
    ) -> Result<O::Reply, String> {
        if O::OPERATION == Operation::Hello {
            self.check_text();
        }
        let found = match &self.mutation {
            None => O::answer(&self.state, request).map_err(|error| error.to_string()),
            Some(mutation) => mutation.answer::<O>(&self.state, request),
        };
        match (found, spoiler) {
            (found, None) => found,
            (Ok(reply), Some(_)) => Ok(spoil(reply, spoiler)),
            (Err(text), Some(_)) => Err(spoil_text(text, spoiler)),
        }
    }
}
