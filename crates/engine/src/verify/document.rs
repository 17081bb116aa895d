//! What is to be verified.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wirelab_contract::{Contract, Store};
use wirelab_load::plan::{self, Group, Load, Warmup, Window, Workload};
use wirelab_load::result::{Fault, FaultKind};
use wirelab_stack::{Binding, Codec, Stack, TokenSource};
use wirelab_verify::Extent;

/// Seconds that one call may take; the largest uploads of the slowest stacks
/// take several.
const TIMEOUT_S: f64 = 60.0;

/// One service to be examined, just started, without other callers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Its address, as in a plan.
    target: String,
    /// Its object, with iiop: the `ior` of its ready line.
    #[serde(default)]
    object: Option<String>,
    /// Files for TLS, as in a plan.
    #[serde(default)]
    tls: Option<plan::Tls>,
    /// How it is called.
    stack: Stack,
    /// What it serves: `transfer`, `charging` or `calendar`.
    contract: String,
    /// What it was given to hold.
    store: StoreConfig,
    /// Seed of the generated calls.
    #[serde(default)]
    seed: u64,
    /// Also what takes long: the limits on numbers of things kept.
    #[serde(default)]
    deep: bool,
}

/// What the service was given to hold.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
struct StoreConfig {
    /// Size of the text of Hello, in bytes.
    hello_bytes: u64,
    /// Accounts, numbered from 1; 20 at least.
    accounts: i32,
    /// Units that each has at the start.
    balance: i32,
}

impl Document {
    pub(crate) fn contract(&self) -> Result<Contract, Fault> {
        let contract = self.contract.parse::<Contract>();
        contract.map_err(|error| refused(format!("contract: {error}")))
    }

    pub(crate) fn binding(&self) -> Binding {
        self.stack.binding
    }

    pub(crate) fn extent(&self) -> Extent {
        Extent {
            seed: self.seed,
            deep: self.deep,
            validation: self.stack.validation,
        }
    }

    pub(crate) fn store(&self) -> Store {
        Store {
            hello_bytes: self.store.hello_bytes,
            accounts: self.store.accounts,
            balance: self.store.balance,
        }
    }

    /// The group of a plan that would call the service this way.
    pub(crate) fn group(&self) -> Group {
        let mut stack = self.stack.clone();
        // The response is read from the text; the service gets the same tokens.
        if stack.codec == Codec::TokenXml {
            stack.token_source = TokenSource::Text;
        }
        Group {
            name: "verify".into(),
            target: self.target.clone(),
            object: self.object.clone(),
            report: None,
            tls: self.tls.clone(),
            username: None,
            password: None,
            keystore: None,
            authority: None,
            stack,
            // Never sent: the calls are the examination's own.
            workload: Workload::Http {
                name: None,
                data: None,
                method: "GET".into(),
                path: "/".into(),
                headers: Vec::new(),
                body_base64: String::new(),
                protobuf: None,
                expect: None,
                count_replies: false,
                stream: None,
            },
            load: Load::closed(1),
            window: Window::Calls {
                calls: 1,
                max_s: 1.0,
            },
            warmup: Warmup::default(),
            timeout_s: TIMEOUT_S,
            drain_s: TIMEOUT_S,
            head_limits: plan::HeadLimits::default(),
            reconnect_delay_s: plan::RECONNECT_DELAY_S,
            first_calls: 0,
            slowest: 0,
        }
    }
}

pub(crate) fn refused(message: String) -> Fault {
    let remedy = "send one JSON document as contracts/process/verify.schema.json describes it";
    Fault {
        kind: FaultKind::Plan,
        message,
        remedy: remedy.into(),
    }
}
