//! Requests of a given size, the same for the same seed; the studies' requests
//! of charging and calendar.

mod calendar;
mod charging;
mod petclinic;

use prost::Message;

use crate::allocations;
use crate::calendar::{BookRequest, DeployRequest, EntriesRequest};
use crate::calendars::DOCUMENT_BYTES_MAX;
use crate::call::Call;
use crate::contract::Contract;
use crate::model::{CHUNK_BYTES_MAX, TRANSFER_BYTES_MAX};
use crate::operation::Operation;
use crate::records::{CountAllocationsRequest, FindAllocationRequest};
use crate::streams;
use crate::texts::{SplitMix64, pattern, text};
use crate::transfer::{DownloadRequest, Record, SubmitRequest, UploadRequest};

pub use calendar::{book, deploy};
pub use charging::{
    CREDIT_AMOUNT, Carried, DIRECT_DEBIT_AMOUNT, Function, RESERVED_AMOUNT, UnknownFunction,
};

/// Smallest Submit request that is made, in bytes of its protobuf encoding.
pub const SUBMIT_BYTES_MIN: u64 = 100;

/// Largest one.
pub const SUBMIT_BYTES_MAX: u64 = 64 << 20;

/// Largest text of Hello and HelloBytes that is asked for, in bytes.
pub const HELLO_BYTES_MAX: u64 = 64 << 20;

/// A size that no request can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkloadError {
    /// The large part of the operation.
    #[error("bytes = {bytes}: {operation} takes {min} to {max} bytes")]
    Bytes {
        /// The operation.
        operation: Operation,
        /// What was asked for.
        bytes: u64,
        /// Least that can be had.
        min: u64,
        /// Most that can be had.
        max: u64,
    },
    /// The size of a chunk in a stream.
    #[error("chunk_bytes = {0}: chunks hold 1 to 1048576 bytes")]
    ChunkBytes(u32),
    /// The requests of the operation are what they are.
    #[error("bytes = {bytes}: requests of {operation} have one size; use bytes = 0")]
    OneSize {
        /// The operation.
        operation: Operation,
        /// What was asked for.
        bytes: u64,
    },
    /// The operation takes a number that only an earlier reply can give.
    #[error(
        "{0} takes a number from an earlier reply; use a function of charging, such as \
         ReservationDebit"
    )]
    Sequence(Operation),
}

/// A call of `operation` whose large part has `bytes` bytes, as a plan names
/// it. Operations without a large part take `bytes` = 0: charging's are made
/// for account 1 with the amounts of [`Function`], Book and Entries for the
/// first slot of user 0, Allocate for the student of
/// Jagannathan (2022), FindAllocation for the first stored team. Deploy's document has the study's size then.
///
/// # Errors
/// When the operation cannot have that size, or needs a number that only an
/// earlier reply can give.
pub fn call(
    operation: Operation,
    bytes: u64,
    chunk_bytes: u32,
    seed: u64,
) -> Result<Call, WorkloadError> {
    Ok(match operation {
        Operation::Hello => Call::Hello {
            hello_bytes: hello_bytes(operation, bytes)?,
        },
        Operation::HelloBytes => Call::HelloBytes {
            hello_bytes: hello_bytes(operation, bytes)?,
        },
        Operation::Submit => Call::Submit(submit_request(bytes, seed)?),
        Operation::Upload => Call::Upload(UploadRequest {
            data: upload_data(operation, bytes)?,
        }),
        Operation::UploadStream => Call::UploadStream {
            data: upload_data(operation, bytes)?,
            chunk_bytes: chunk(chunk_bytes)?.unsigned_abs(),
        },
        Operation::Download => Call::Download(DownloadRequest {
            length: check_size(operation, bytes, 0, TRANSFER_BYTES_MAX)? as i64,
            chunk_bytes: chunk(chunk_bytes)?,
        }),
        Operation::Deploy if bytes > 0 => Call::Deploy(DeployRequest {
            document: text(check_size(operation, bytes, 1, DOCUMENT_BYTES_MAX as u64)? as usize),
        }),
        Operation::Feed => {
            Call::Feed(streams::sample(
                check_size(operation, bytes, 0, streams::TEXT_BYTES_MAX)? as i32,
            ))
        }
        // 0 stands for "as it is". Another size that is silently ignored would be reported
        // as measured.
        _ if bytes > 0 => return Err(WorkloadError::OneSize { operation, bytes }),
        other => build_fixed(other)?,
    })
}

/// A call of an operation whose requests have one size.
fn build_fixed(operation: Operation) -> Result<Call, WorkloadError> {
    let carried = Carried::default();
    match operation {
        Operation::Deploy => Ok(Call::Deploy(deploy())),
        Operation::Book => Ok(Call::Book(book(0, 0))),
        Operation::Entries => {
            let BookRequest { owner, day, .. } = book(0, 0);
            Ok(Call::Entries(EntriesRequest { owner, day }))
        }
        Operation::Allocate => Ok(Call::Allocate(allocations::sample())),
        Operation::FindAllocation => Ok(Call::FindAllocation(FindAllocationRequest {
            group_id: allocations::GROUP_FIRST,
        })),
        Operation::Push => Ok(Call::Push(Vec::new())),
        Operation::Chat => Ok(Call::Chat(Vec::new())),
        Operation::CountAllocations => Ok(Call::CountAllocations(CountAllocationsRequest {})),
        _ if operation.contract() == Contract::Petclinic => Ok(petclinic::call(operation)),
        Operation::DebitReservation | Operation::ReleaseRes | Operation::ConfirmAction => {
            Err(WorkloadError::Sequence(operation))
        }
        // Requests that carry a number of an earlier reply were refused above.
        other => Ok(charging::request(other, 1, &carried).expect("all others are charging's")),
    }
}

fn check_size(operation: Operation, bytes: u64, min: u64, max: u64) -> Result<u64, WorkloadError> {
    if (min..=max).contains(&bytes) {
        Ok(bytes)
    } else {
        Err(WorkloadError::Bytes {
            operation,
            bytes,
            min,
            max,
        })
    }
}

fn hello_bytes(operation: Operation, bytes: u64) -> Result<u64, WorkloadError> {
    check_size(operation, bytes, 0, HELLO_BYTES_MAX)
}

fn upload_data(operation: Operation, bytes: u64) -> Result<Vec<u8>, WorkloadError> {
    Ok(pattern(
        check_size(operation, bytes, 0, TRANSFER_BYTES_MAX)? as usize,
    ))
}

fn chunk(chunk_bytes: u32) -> Result<i32, WorkloadError> {
    let chunk = i32::try_from(chunk_bytes).ok();
    chunk
        .filter(|c| (1..=CHUNK_BYTES_MAX).contains(c))
        .ok_or(WorkloadError::ChunkBytes(chunk_bytes))
}

/// A Submit request whose protobuf encoding has exactly `bytes` bytes.
///
/// The third of every sixteen records is one that the service must refuse, so
/// that even the smallest replies are not alike. Integers come in all
/// magnitudes, beyond 2^53 too; strings in several scripts, with characters
/// that JSON or XML must escape.
///
/// # Errors
/// When `bytes` is not [`SUBMIT_BYTES_MIN`] to [`SUBMIT_BYTES_MAX`].
pub fn submit_request(bytes: u64, seed: u64) -> Result<SubmitRequest, WorkloadError> {
    check_size(Operation::Submit, bytes, SUBMIT_BYTES_MIN, SUBMIT_BYTES_MAX)?;
    let mut writer = RecordWriter::new(bytes, seed);
    let mut request = SubmitRequest {
        batch: format!("B{seed:x}-ü"),
        records: Vec::new(),
    };
    let mut left = bytes as usize - request.encoded_len();
    loop {
        let record = writer.next_record();
        let size = field_length(&record);
        // The last record fills up to the byte, for which it needs some room.
        if size + LAST_RECORD_BYTES_MIN > left {
            break;
        }
        left -= size;
        request.records.push(record);
    }
    let last = writer.last_record(&mut request.batch, left);
    request.records.push(last);
    // A release build trusts the tests, which try every size up to 2,500.
    debug_assert_eq!(request.encoded_len() as u64, bytes);
    Ok(request)
}

/// Room kept for the last record, whose remark fills the request up.
const LAST_RECORD_BYTES_MIN: usize = 40;

/// Bytes that a record takes as field 2 of a request: tag, length, message.
fn field_length(record: &Record) -> usize {
    let body = record.encoded_len();
    1 + prost::length_delimiter_len(body) + body
}

// Escapes of JSON and XML, and UTF-8 of one to four bytes, as real texts have them.
const ITEMS: [&str; 8] = [
    "bolt M8",
    "écrou",
    "Blech 2 mm",
    "ナット",
    "гайка",
    "čep & kolík",
    "🔩",
    "tuerca \"fina\"",
];

const REMARKS: [&str; 8] = [
    "",
    "urgent",
    "für Halle 3",
    "C:\\stock\\7",
    "在庫なし",
    "<see drawing>",
    "la pièce n'est pas peinte",
    "ΔT ≤ 40 °C, 6 × 9",
];

/// Makes records of every kind.
struct RecordWriter {
    generator: SplitMix64,
    made: u64,
    /// Bytes that lengthen each remark, so that huge requests do not hold too
    /// many records.
    filler: usize,
}

impl RecordWriter {
    fn new(bytes: u64, seed: u64) -> Self {
        // Records take about 45 bytes; the contract allows 100,000 of them.
        let bytes_per_record = bytes as usize / 50_000;
        let filler = if bytes_per_record > 20 {
            bytes_per_record
        } else {
            0
        };
        RecordWriter {
            generator: SplitMix64::new(seed),
            made: 0,
            filler,
        }
    }

    fn next_record(&mut self) -> Record {
        let mut record = Record {
            id: self.integer(63),
            quantity: (self.integer(31).unsigned_abs() as i32).max(1),
            item: self.word(&ITEMS).to_owned(),
            remark: self.word(&REMARKS).to_owned(),
        };
        record.remark.extend(std::iter::repeat_n('.', self.filler));
        // The third, so that a request of 200 B, which holds few records, has one.
        if self.made % 16 == 2 {
            self.corrupt(&mut record);
        }
        self.made += 1;
        record
    }

    /// Makes a record that must be refused, each reason in turn.
    fn corrupt(&mut self, record: &mut Record) {
        match self.made / 16 % 3 {
            0 => record.quantity = 0,
            1 => record.item.clear(),
            // Never 0 or i32::MIN: it was 1 or more.
            _ => record.quantity = -record.quantity,
        }
    }

    /// A record that takes exactly `left` bytes of the request. Where a length
    /// prefix grows, one size cannot be had; the batch's name then takes a byte.
    fn last_record(&mut self, batch: &mut String, mut left: usize) -> Record {
        let mut record = Record {
            id: i64::MAX - 1,
            quantity: 1,
            item: self.word(&ITEMS).to_owned(),
            remark: String::new(),
        };
        while field_length(&record) != left {
            let missing = left - field_length(&record);
            // Near the end byte by byte: a remark that passes 127 or 16,383 bytes lengthens
            // its own prefix and that of the record. Before, in one step that cannot pass
            // the goal.
            if missing <= 2 + 2 * PREFIX_GROWTH_MAX {
                record.remark.push('.');
            } else {
                let step = missing - 2 - 2 * PREFIX_GROWTH_MAX;
                record.remark.extend(std::iter::repeat_n('.', step));
            }
            if field_length(&record) > left {
                record.remark.pop();
                batch.push('+');
                left -= 1;
            }
        }
        record
    }

    /// An integer of any magnitude up to `bits` bits; one in eight is negative.
    fn integer(&mut self, bits: u64) -> i64 {
        // Two outputs: the size must not depend on the digits.
        let digits = self.generator.next_u64();
        let shape = self.generator.next_u64();
        let magnitude = (digits >> (64 - bits + shape % bits)) as i64;
        if shape >> 61 == 0 {
            -magnitude
        } else {
            magnitude
        }
    }

    fn word(&mut self, words: &[&'static str; 8]) -> &'static str {
        words[self.generator.next_u64() as usize % words.len()]
    }
}

/// Bytes by which one length prefix can grow: a varint of a 32-bit length has
/// 1 to 5 bytes.
const PREFIX_GROWTH_MAX: usize = 4;

#[cfg(test)]
#[path = "workload_tests.rs"]
mod tests;
