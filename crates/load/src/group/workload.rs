//! A plan's workload, made ready to send.

use std::collections::{BTreeMap, HashMap};
use std::slice;
use std::sync::Arc;

use serde_json::Value;
use wirelab_contract::clinic::routes::{ReplyBody, Route};
use wirelab_contract::workload::{self, Function, WorkloadError};
use wirelab_contract::{
    Call, Contract, FieldError, Operation, Reply as ContractReply, model, texts,
};
use wirelab_stack::{Binding, Codec, HttpCache, Reply, Stack, Work};
use wirelab_wire::Request;
use wirelab_wire::codec::{Expected, Unsupported, supports};

use crate::call::fault;
use crate::call::result::Fault;
use crate::connection::tokens::DocumentSource;
use crate::group::prepared::{Part, PartRows, Prepared};
use crate::group::{feed, third_party};
use crate::plan::{Carry, Data, Expect, FeedItems, Group, RowPer, SequenceStep, Workload};
use crate::request::body::BodyWriter;
use crate::request::data::{self, ROW_BYTES_MAX, Row};
use crate::request::head::{self, encoding, message_format, reply_type, status_of_streams};
use crate::request::request_generator::RequestGenerator;
use crate::request::rows::RowPicker;
use crate::request::script::RequestBuilder;
use crate::request::steps::{self, CarriedField, Steps};
use crate::validate::expect::Declared;
use crate::validate::step::Step;
use crate::validate::{Expectation, Validator};

/// RFC 9110 section 15.4.5.
const NOT_MODIFIED: u16 = 304;

/// Seed of the contents of requests.
const SEED: u64 = 0;

/// Makes the request of `group`. A gRPC message given as JSON must have been
/// turned into bytes before.
///
/// # Errors
/// When the workload and the stack do not go together, or a size cannot be had.
pub fn prepare(group: &Group) -> Result<Prepared, Fault> {
    check_websocket(group)?;
    let Workload::Mix { parts, seed } = &group.workload else {
        return part(group, &group.workload).map(Prepared::only);
    };
    if parts.is_empty() {
        return refuse("mix: there are no parts", "give at least one part");
    }
    let parts = parts.iter().enumerate().map(|(at, of_mix)| {
        let part = part(group, &of_mix.workload).map_err(|fault| Fault {
            message: format!("mix: parts[{at}]: {}", fault.message),
            ..fault
        })?;
        Ok((of_mix.weight, part))
    });
    Prepared::mix(parts.collect::<Result<_, Fault>>()?, *seed)
}

/// A connection of WebSocket has the path and the fields of its first call.
fn check_websocket(group: &Group) -> Result<(), Fault> {
    let is_single = matches!(
        group.workload,
        Workload::Contract { .. } | Workload::Http { .. }
    );
    match group.stack.binding == Binding::Websocket && !is_single {
        true => refuse(
            "binding websocket: a connection carries calls of one kind",
            "use a single operation or request; give others an experiment or group of their own",
        ),
        false => Ok(()),
    }
}

/// A workload of a group, or of one part of its mix.
fn part(group: &Group, workload: &Workload) -> Result<Part, Fault> {
    match workload {
        Workload::Contract { .. } => of_contract(group, workload),
        Workload::Sequence {
            contract,
            function,
            accounts,
        } => of_sequence(group, contract, function, *accounts),
        Workload::Steps {
            contract,
            steps,
            data,
        } => of_steps(group, contract, steps, data.as_ref()),
        Workload::Http { .. } => third_party::of_http(group, workload),
        Workload::Grpc { .. } => third_party::of_grpc(group, workload),
        Workload::Requests { steps, data } => third_party::of_requests(group, steps, data.as_ref()),
        Workload::Mix { .. } => refuse(
            "a mix within a mix",
            "list all parts in one mix, each with its share as its weight",
        ),
    }
}

fn refuse<T>(message: impl Into<String>, remedy: impl Into<String>) -> Result<T, Fault> {
    Err(fault::plan(message, remedy))
}

fn contract_of(name: &str) -> Result<Contract, Fault> {
    name.parse()
        .map_err(|error| fault::plan(format!("contract: {error}"), "name one of these"))
}

fn operation_of(contract: &str, name: &str) -> Result<Operation, Fault> {
    Operation::of(contract_of(contract)?, name)
        .map_err(|error| fault::plan(format!("operation: {error}"), "name one of these"))
}

fn call_of(operation: Operation, bytes: u64, chunk_bytes: u32) -> Result<Call, Fault> {
    workload::call(operation, bytes, chunk_bytes, SEED).map_err(|error| {
        let remedy = match error {
            WorkloadError::Sequence(_) => "use workload kind sequence",
            _ => "change the message's size",
        };
        fault::plan(error.to_string(), remedy)
    })
}

fn check_accounts(accounts: u32) -> Result<(), Fault> {
    // Account numbers are int32 in the contract.
    match (1..=i32::MAX as u32).contains(&accounts) {
        true => Ok(()),
        false => refuse(
            format!("accounts = {accounts}"),
            "use as many accounts as the service holds, 1 or more",
        ),
    }
}

fn unsupported(error: Unsupported) -> Fault {
    fault::plan(error.to_string(), "change the codec axis, or the operation")
}

fn of_contract(group: &Group, workload: &Workload) -> Result<Part, Fault> {
    let Workload::Contract {
        contract,
        operation,
        bytes,
        chunk_bytes,
        accounts,
        data,
        items,
    } = workload
    else {
        unreachable!("asked for workloads of contracts only")
    };
    let operation = operation_of(contract, operation)?;
    check_accounts(*accounts)?;
    check_http_cache(&group.stack, operation)?;
    if operation.has_items() && data.is_none() {
        return of_items(group, operation, *bytes, &items.clone().unwrap_or_default());
    }
    if items.is_some() {
        return refuse(
            format!("items: requests of {operation} have none"),
            "leave items out, or use contract stream",
        );
    }
    let call = call_of(operation, *bytes, *chunk_bytes)?;
    if let Some(data) = data {
        return with_rows(group, &call, data);
    }
    match generator_of(operation, *accounts) {
        Some(generator) => varying(group, generator),
        None => fixed(group, &call),
    }
}

/// Caches keep replies to GET, and only Hello's have an entity tag (contracts/README.md, Caches).
fn check_http_cache(stack: &Stack, operation: Operation) -> Result<(), Fault> {
    let has_tag = matches!(operation, Operation::Hello | Operation::HelloBytes);
    if stack.http_cache == HttpCache::None || has_tag {
        return Ok(());
    }
    refuse(
        format!(
            "http_cache={}: no cache keeps replies to {operation}",
            stack.http_cache
        ),
        "use Hello or HelloBytes, or http_cache=none",
    )
}

/// Streams of items of the contract stream.
fn of_items(
    group: &Group,
    operation: Operation,
    bytes: u64,
    items: &FeedItems,
) -> Result<Part, Fault> {
    match operation {
        Operation::Push => fixed(group, &feed::push(bytes, items)?),
        _ => feed::part(group, operation, bytes, items),
    }
}

/// The same call every time.
fn fixed(group: &Group, call: &Call) -> Result<Part, Fault> {
    let (stack, operation) = (&group.stack, call.operation());
    let format = message_format(stack);
    let mut request = head::of_call(group, call)?;
    let writer = BodyWriter::new(stack, format).called_by(group);
    let has_body = !matches!(request.method.as_str(), "GET" | "DELETE");
    if has_body || stack.binding == Binding::Websocket {
        request.body = writer.body(call).map_err(unsupported)?.into();
    }
    let expected = Expected::of(format, call).map_err(unsupported)?;
    let expectation = Expectation::Same(Box::new(expected));
    let builder = documents(stack).map(|documents| RequestBuilder {
        generator: RequestGenerator::Same(operation),
        format,
        writer,
        prepared: Some(documents.prepare(call)),
        routes: Vec::new(),
        documents: Some(documents),
    });
    let mut step = step(group, operation, 0, expectation);
    if stack.http_cache == HttpCache::Revalidate {
        revalidate(
            &mut request,
            Arc::get_mut(&mut step.validator).expect("not shared yet"),
            call,
        )?;
    }
    Ok(Part {
        requests: vec![request],
        steps: vec![step],
        builder,
        rows: None,
        own: None,
    })
}

/// Tokens differ from call to call, and need documents to be made of.
fn documents(stack: &Stack) -> Option<DocumentSource> {
    (stack.codec == Codec::TokenXml).then(|| DocumentSource {
        source: stack.token_source,
        cache: message_format(stack).cache,
    })
}

/// Asks whether the reply that the caller has is still right: a conditional request, and a reply
/// without content that confirms the tag (RFC 9110 sections 13.1.2 and 15.4.5).
fn revalidate(request: &mut Request, validator: &mut Validator, call: &Call) -> Result<(), Fault> {
    let (Call::Hello { hello_bytes } | Call::HelloBytes { hello_bytes }) = call else {
        unreachable!("other operations are refused before")
    };
    let text_bytes = usize::try_from(*hello_bytes).expect("a text fits into memory");
    let tag = model::entity_tag(&texts::text(text_bytes));
    request
        .fields
        .push(("if-none-match".to_owned(), tag.clone()));
    let confirmed = Expect {
        status: Some(NOT_MODIFIED),
        headers: BTreeMap::from([("etag".to_owned(), tag)]),
        ..Expect::default()
    };
    validator.status = confirmed.status;
    validator.content_type = None;
    validator.expectation = Expectation::Declared(Box::new(Declared::of(&confirmed, None)?));
    validator.errors = None;
    Ok(())
}

/// Operations whose requests differ from user to user.
fn generator_of(operation: Operation, accounts: u32) -> Option<RequestGenerator> {
    let function = match operation {
        Operation::Credit => Function::Credit,
        Operation::DirectDebit => Function::DirectDebit,
        Operation::Reserve => Function::ReservationRelease,
        Operation::CreditControl => Function::CreditControl,
        Operation::Book => return Some(RequestGenerator::book()),
        _ => return None,
    };
    Some(RequestGenerator::Function {
        function,
        accounts,
        whole: false,
    })
}

fn of_sequence(
    group: &Group,
    contract: &str,
    function: &str,
    accounts: u32,
) -> Result<Part, Fault> {
    if contract_of(contract)? != Contract::Charging {
        return refuse(
            format!("contract {contract}: sequences exist in charging only"),
            "use contract charging, or workload kind contract",
        );
    }
    if group.stack.reply == Reply::OneWay {
        return refuse(
            "reply=one-way: a sequence carries numbers of replies into requests",
            "use reply=two-way, or workload kind contract",
        );
    }
    check_accounts(accounts)?;
    let function: Function = function
        .parse()
        .map_err(|error| fault::plan(format!("function: {error}"), "name one of these"))?;
    varying(
        group,
        RequestGenerator::Function {
            function,
            accounts,
            whole: true,
        },
    )
}

/// One request for each row of data.
fn with_rows(group: &Group, call: &Call, data: &Data) -> Result<Part, Fault> {
    let (stack, operation) = (&group.stack, call.operation());
    let rows = calls_of_rows(group, slice::from_ref(call), data)?;
    if documents(stack).is_some() {
        // Tokens depend on what their connection has sent before.
        let picker = RowPicker::new(data.per, rows.len());
        let steps = Steps::new(rows, Vec::new(), picker, false);
        return varying(group, RequestGenerator::Steps(Box::new(steps)));
    }
    let format = message_format(stack);
    let writer = BodyWriter::new(stack, format).called_by(group);
    let rows = rows.iter().map(|calls| {
        let call = &calls[0];
        let mut request = head::of_call(group, call)?;
        if !matches!(request.method.as_str(), "GET" | "DELETE") {
            request.body = writer.body(call).map_err(unsupported)?.into();
        }
        let expected = Expected::of(format, call).map_err(unsupported)?;
        Ok((request, Some(Arc::new(expected))))
    });
    // A fault of raw is visible in its content only.
    let always = stack.binding == Binding::Raw;
    let expectation = Expectation::EachCall { always };
    Ok(Part {
        requests: vec![head::of_call(group, call)?],
        steps: vec![step(group, operation, 0, expectation)],
        builder: None,
        rows: Some(PartRows {
            rows: rows.collect::<Result<_, Fault>>()?,
            per: data.per,
        }),
        own: None,
    })
}

/// Calls of any contract, with values of rows and of earlier replies.
fn of_steps(
    group: &Group,
    contract: &str,
    steps: &[SequenceStep],
    data: Option<&Data>,
) -> Result<Part, Fault> {
    steps::check_count(steps.len())?;
    if group.stack.reply == Reply::OneWay {
        return refuse(
            "reply=one-way: a sequence carries values of replies into requests",
            "use reply=two-way, or workload kind contract",
        );
    }
    let (mut calls, mut carried) = (Vec::new(), Vec::new());
    for (at, step) in steps.iter().enumerate() {
        let named = |fault: Fault| Fault {
            message: format!("steps[{at}]: {}", fault.message),
            ..fault
        };
        let operation = operation_of(contract, &step.operation).map_err(named)?;
        let call = call_of(operation, step.bytes, 0).map_err(named)?;
        if operation.streaming() {
            return refuse(
                format!("steps[{at}]: {operation} is a stream of messages"),
                "use workload kind contract for it",
            );
        }
        for carry in &step.carry {
            carried.push(carried_field(&calls, at, &call, carry).map_err(named)?);
        }
        calls.push(call);
    }
    let (rows, per) = match data {
        Some(data) => (calls_of_rows(group, &calls, data)?, data.per),
        None => (vec![calls], RowPer::Call),
    };
    let picker = RowPicker::new(per, rows.len());
    let steps = Steps::new(rows, carried, picker, true);
    varying(group, RequestGenerator::Steps(Box::new(steps)))
}

/// A value that goes into the request of step `to_step`, once it is clear that it can.
fn carried_field(
    earlier: &[Call],
    to_step: usize,
    call: &Call,
    carry: &Carry,
) -> Result<CarriedField, Fault> {
    let before = to_step.checked_sub(1);
    let from_step = carry.step.map(|step| step as usize).or(before);
    let Some((from_step, from)) =
        from_step.and_then(|step| earlier.get(step).map(|call| (step, call)))
    else {
        return refuse(
            "carry: there is no earlier step of that number",
            "name a step before this one, counted from 0",
        );
    };
    let refused = |error: FieldError| {
        fault::plan(
            format!("carry: {error}"),
            "name a field of the earlier reply as from, and one of the same type as to",
        )
    };
    let sample = ContractReply::sample_field(from.operation(), &carry.from).map_err(refused)?;
    call.with_fields([(carry.to.as_str(), &sample)])
        .map_err(refused)?;
    Ok(CarriedField {
        from_step,
        from: carry.from.clone(),
        to_step,
        to: carry.to.clone(),
    })
}

/// For each row, the calls with its values.
fn calls_of_rows(group: &Group, calls: &[Call], data: &Data) -> Result<Vec<Vec<Call>>, Fault> {
    if let Some(call) = calls.iter().find(|call| call.operation().streaming()) {
        return refuse(
            format!("data: {} is a stream of messages", call.operation()),
            "leave data out, or use another operation",
        );
    }
    let rows = data::read(&data.rows)?;
    let writer = BodyWriter::new(&group.stack, message_format(&group.stack));
    let mut bytes = 0;
    for call in calls {
        bytes += writer.body(call).map_err(unsupported)?.len();
    }
    if bytes.saturating_mul(rows.len()) > ROW_BYTES_MAX {
        return refuse(
            format!(
                "data: {} rows of requests of {bytes} bytes take more than 256 MiB",
                rows.len()
            ),
            "use fewer rows, which are taken again after the last, or smaller requests",
        );
    }
    let mut columns = Columns {
        calls,
        known: HashMap::new(),
    };
    rows.iter().map(|row| columns.calls(row)).collect()
}

/// Which calls have a field of a column's name.
struct Columns<'a> {
    calls: &'a [Call],
    /// By column, a value of that field in each call that has it.
    known: HashMap<Arc<str>, Vec<(usize, Value)>>,
}

impl Columns<'_> {
    /// The calls with the values of a row.
    fn calls(&mut self, row: &Row) -> Result<Vec<Call>, Fault> {
        let refused = |error: &dyn ToString| {
            fault::plan(
                format!("data: {}: {}", row.place, error.to_string()),
                "name columns like fields of the request, and give values of their types",
            )
        };
        let mut fields: Vec<Vec<(&str, Value)>> = vec![Vec::new(); self.calls.len()];
        for (name, cell) in &row.values {
            let calls = self.calls;
            let known = self.known.entry(Arc::clone(name)).or_insert_with(|| {
                let fields = calls.iter().map(|call| call.field(name)).enumerate();
                fields
                    .filter_map(|(at, field)| Some((at, field?)))
                    .collect()
            });
            for (at, like) in known.iter() {
                fields[*at].push((name, cell.value(like)));
            }
            if known.is_empty() {
                // Refuses the column, and lists the fields that there are.
                let value = cell.value(&Value::Null);
                let refusal = calls[0].with_fields([(&**name, &value)]);
                return Err(refused(&refusal.map_or_else(
                    |error| error.to_string(),
                    |_| format!("no request has a field {name:?}"),
                )));
            }
        }
        let calls = self.calls.iter().zip(&fields).map(|(call, fields)| {
            if fields.is_empty() {
                return Ok(call.clone());
            }
            let fields = fields.iter().map(|(name, value)| (*name, value));
            call.with_fields(fields).map_err(|error| refused(&error))
        });
        calls.collect()
    }
}

/// Requests made call by call.
fn varying(group: &Group, generator: RequestGenerator) -> Result<Part, Fault> {
    let stack = &group.stack;
    let format = message_format(stack);
    let operations = generator.operations();
    let last = operations.len() - 1;
    // A fault of raw is visible in its content only.
    let always = stack.binding == Binding::Raw;
    let mut names: Vec<Operation> = Vec::new();
    let (mut requests, mut steps, mut routes) = (Vec::new(), Vec::new(), Vec::new());
    for (at, operation) in operations.iter().copied().enumerate() {
        if !supports(format.codec, operation) {
            return Err(unsupported(Unsupported {
                codec: format.codec,
                operation,
            }));
        }
        let request = match generator.call(at) {
            Some(call) => head::of_call(group, call)?,
            None => head::of_operation(group, operation)?,
        };
        let is_rest = stack.binding == Binding::Rest;
        let own = |route: &Route| is_rest && (route.varies() || !route.has_body());
        routes.push(operation.route().filter(own));
        requests.push(request);
        // A function may call an operation twice: both are recorded as one.
        let place = names.iter().position(|name| *name == operation);
        let place = place.unwrap_or_else(|| {
            names.push(operation);
            names.len() - 1
        });
        // Numbers of every reply but the last go into a later request.
        let always = always || at < last;
        steps.push(step(
            group,
            operation,
            place,
            Expectation::EachCall { always },
        ));
    }
    Ok(Part {
        requests,
        steps,
        builder: Some(RequestBuilder {
            generator,
            format,
            writer: BodyWriter::new(stack, format).called_by(group),
            documents: documents(stack),
            prepared: None,
            routes,
        }),
        rows: None,
        own: None,
    })
}

/// A kind of calls of a contract, with the validator of its replies.
fn step(group: &Group, operation: Operation, place: usize, expectation: Expectation) -> Step {
    let validator = match group.stack.reply {
        Reply::TwoWay => validator(&group.stack, operation, expectation),
        Reply::OneWay => Validator::new(None, Expectation::Anything, false),
    };
    Step {
        operation: place,
        name: operation.name().to_owned(),
        validator: Arc::new(validator),
    }
}

fn validator(stack: &Stack, operation: Operation, expectation: Expectation) -> Validator {
    let frames = head::frames(stack.binding, operation.streaming());
    // The caches of tokens must follow every reply.
    let decode = stack.work == Work::Decode || stack.codec == Codec::TokenXml;
    let mut validator = Validator::new(frames, expectation, decode);
    validator.accepts_repeats = stack.work == Work::Frame;
    let route = match stack.binding {
        Binding::Rest => operation.route(),
        _ => None,
    };
    let status = route.map(|route| route.status);
    validator.status = Some(status.unwrap_or_else(|| status_of_streams(stack.binding)));
    validator.encoding = Some(encoding(stack.compression).0);
    validator.errors = Some((message_format(stack).of_errors(stack.binding), operation));
    match stack.binding {
        Binding::Raw => validator.imposed = validator.encoding,
        Binding::Iiop | Binding::Websocket => {}
        // A reply without a body has no content type.
        _ if route.is_some_and(|route| route.reply == ReplyBody::Empty) => {}
        _ => validator.content_type = Some(reply_type(stack, operation)),
    }
    validator
}
