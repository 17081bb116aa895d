//! Streams of items of the contract stream, made ready to send.

use wirelab_contract::stream::{FeedRequest, Item};
use wirelab_contract::streams::Schedule;
use wirelab_contract::{Call, Operation};
use wirelab_stack::{Binding, Codec, Stack, Transport, Work};
use wirelab_wire::ContentType;

use crate::call::fault;
use crate::call::result::Fault;
use crate::group::prepared::{Part, PartRows, PreparedRow};
use crate::plan::{FeedItems, Group, RowPer, Stream, StreamFormat};
use crate::request::body::BodyWriter;
use crate::request::head::{self, encoding, message_format, reply_type, status_of_streams};
use crate::validate::items::{ItemFormat, ItemRule, ItemsDue};
use crate::validate::step::Step;
use crate::validate::stream::StreamRule;
use crate::validate::{Expectation, Validator};

/// Seeds that requests take one after the other, so that an item of another stream is found.
const SEEDS: i64 = 64;

/// Bytes of one chat at most, so that those of all seeds take no more than 256 MiB.
const CHAT_BYTES_MAX: u64 = (256 << 20) / SEEDS as u64;

/// Bytes of an item besides its text, about: as JSON, with its frame.
const ITEM_BYTES: u64 = 100;

/// Items of the client, with the texts of a feed.
pub(super) fn push(bytes: u64, items: &FeedItems) -> Result<Call, Fault> {
    let schedule = schedule(&request(bytes, items, 0))?;
    Ok(Call::Push(of_client(&schedule)))
}

fn of_client(texts: &Schedule) -> Vec<Item> {
    let items = texts.clone().map(|due| Item {
        index: due.index,
        text: texts.text(due.index),
        ..Item::default()
    });
    items.collect()
}

fn schedule(request: &FeedRequest) -> Result<Schedule, Fault> {
    Schedule::of(request).map_err(|error| {
        fault::plan(
            format!("items: {error}"),
            "change items or bytes (contracts/README.md, stream)",
        )
    })
}

/// Feeds of items with texts of `bytes` bytes, or chats, whose items the client sends at once.
pub(super) fn part(
    group: &Group,
    operation: Operation,
    bytes: u64,
    items: &FeedItems,
) -> Result<Part, Fault> {
    let stack = &group.stack;
    if stack.transport != Transport::Http2 && stack.in_flight > 1 {
        return Err(fault::plan(
            "operations Feed and Chat: calls behind one in a pipeline would wait for its end",
            "use one call in flight per connection, or transport http/2",
        ));
    }
    let is_chat = operation == Operation::Chat;
    let chat_bytes = (bytes + ITEM_BYTES).saturating_mul(items.count.max(0) as u64);
    if is_chat && chat_bytes > CHAT_BYTES_MAX {
        return Err(fault::plan(
            "operation Chat: more than 4 MiB in the items of one call",
            "use fewer items, or smaller ones",
        ));
    }
    // The client's items have no times.
    let items = &FeedItems {
        gap_us: if is_chat { 0 } else { items.gap_us },
        ..items.clone()
    };
    let (mut schedules, mut rows) = (Vec::new(), Vec::new());
    for offset in 0..SEEDS {
        let request = request(bytes, items, offset);
        let schedule = schedule(&request)?;
        let call = match is_chat {
            true => Call::Chat(of_client(&schedule)),
            false => Call::Feed(request),
        };
        schedules.push(schedule);
        rows.push(row(group, &call)?);
    }
    let first = rows[0].0.clone();
    Ok(Part {
        requests: vec![first],
        steps: vec![Step {
            operation: 0,
            name: operation.name().to_owned(),
            validator: validator(stack, operation, schedules)?.into(),
        }],
        builder: None,
        rows: Some(PartRows {
            rows,
            per: RowPer::Call,
        }),
        own: None,
    })
}

fn request(bytes: u64, items: &FeedItems, offset: i64) -> FeedRequest {
    FeedRequest {
        count: items.count,
        // More than an int32 is more than a text may have, too.
        bytes: i32::try_from(bytes).unwrap_or(i32::MAX),
        gap_us: items.gap_us,
        pattern: items.pattern.clone(),
        seed: items.seed.wrapping_add(offset),
    }
}

fn row(group: &Group, call: &Call) -> Result<PreparedRow, Fault> {
    let stack = &group.stack;
    let mut request = head::of_operation(group, call.operation())?;
    let writer = BodyWriter::new(stack, message_format(stack)).called_by(group);
    let body = writer.body(call).map_err(|error| {
        fault::plan(
            error.to_string(),
            "use codec json, or protobuf where the binding has it",
        )
    })?;
    request.body = body.into();
    Ok((request, None))
}

fn validator(
    stack: &Stack,
    operation: Operation,
    schedules: Vec<Schedule>,
) -> Result<Validator, Fault> {
    let frames = head::frames(stack.binding, true);
    let (format, media_type) = match stack.binding {
        _ if frames.is_some() => (StreamFormat::Grpc, reply_type(stack, operation)),
        Binding::Sse => (StreamFormat::Sse, ContentType::EventStream),
        Binding::Websocket => (StreamFormat::Websocket, ContentType::Absent),
        // No other type has a name of its own here.
        _ => (StreamFormat::Ndjson, ContentType::Other),
    };
    let items = match stack.codec {
        Codec::Protobuf => ItemFormat::Protobuf,
        _ if frames.is_some() => ItemFormat::Message(message_format(stack)),
        _ => ItemFormat::Json,
    };
    let due = match operation {
        Operation::Chat => ItemsDue::Received,
        _ => ItemsDue::Scheduled,
    };
    let expectation = Expectation::Items(ItemRule::new(items, due, schedules));
    let mut validator = Validator::new(frames, expectation, stack.work == Work::Decode);
    validator.status = Some(status_of_streams(stack.binding));
    validator.content_type = Some(media_type);
    validator.encoding = Some(encoding(stack.compression).0);
    validator.errors = Some((message_format(stack).of_errors(stack.binding), operation));
    validator.stream = Some(StreamRule::of(&Stream::new(format))?);
    Ok(validator)
}
