//! Avro by apache-avro and the schemas of the contracts (contracts/avro).

use std::collections::HashMap;
use std::sync::LazyLock;

use apache_avro::Schema;
use apache_avro::reader::datum::GenericDatumReader;
use apache_avro::schema::{NamesRef, ResolvedSchema};
use apache_avro::writer::datum::GenericDatumWriter;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wirelab_contract::Contract;

/// The record that carries an error's text.
pub(super) const ERROR: &str = "Error";

/// A contract with the union of its records.
static SCHEMAS: LazyLock<Vec<(Contract, Schema)>> = LazyLock::new(|| {
    macro_rules! schema {
        ($name:literal) => {
            include_str!(concat!("../../../../contracts/avro/", $name, ".avsc"))
        };
    }
    let committed = [
        (Contract::Transfer, schema!("transfer")),
        (Contract::Charging, schema!("charging")),
        (Contract::Calendar, schema!("calendar")),
        (Contract::Records, schema!("records")),
    ];
    let parse = |(contract, text)| (contract, Schema::parse_str(text).expect("a schema"));
    committed.into_iter().map(parse).collect()
});

static RECORDS: LazyLock<HashMap<(Contract, &str), Record>> = LazyLock::new(|| {
    let mut records = HashMap::new();
    for (contract, schema) in SCHEMAS.iter() {
        let resolved = ResolvedSchema::new(schema).expect("references within the contract");
        for record in resolved.get_names().values().copied() {
            let name = record.name().expect("records have names").name();
            records.insert((*contract, name), Record::new(record, &resolved));
        }
    }
    records
});

/// What reads and writes the messages of one record.
struct Record {
    schema: &'static Schema,
    resolved: ResolvedSchema<'static>,
    reader: GenericDatumReader<'static>,
    writer: GenericDatumWriter<'static>,
}

impl Record {
    fn new(schema: &'static Schema, resolved: &ResolvedSchema<'static>) -> Record {
        const RESOLVED: &str = "names that were resolved";
        let reader = GenericDatumReader::builder(schema)
            .resolved_writer_schemata(resolved.clone())
            .human_readable(false);
        let writer = GenericDatumWriter::builder(schema)
            .resolved_schemata(resolved.clone())
            .human_readable(false);
        Record {
            schema,
            resolved: resolved.clone(),
            reader: reader.build().expect(RESOLVED),
            writer: writer.build().expect(RESOLVED),
        }
    }

    fn of(contract: Contract, name: &'static str) -> &'static Record {
        let found = RECORDS.get(&(contract, name));
        found.unwrap_or_else(|| panic!("contracts/avro has no record {name} of {contract}"))
    }
}

/// A message, or an error's text, as bytes.
pub(super) fn write(contract: Contract, name: &'static str, message: &impl Serialize) -> Vec<u8> {
    let written = Record::of(contract, name).writer.write_ser_to_vec(message);
    written.expect("messages have the fields of their records")
}

/// A message from bytes that it fills.
///
/// # Errors
/// What is wrong with them.
pub(super) fn read<T: DeserializeOwned>(
    contract: Contract,
    name: &'static str,
    bytes: &[u8],
) -> Result<T, String> {
    let record = Record::of(contract, name);
    let mut rest = bytes;
    skip(record.schema, record.resolved.get_names(), &mut rest)?;
    if !rest.is_empty() {
        return Err(format!("{} bytes follow the message", rest.len()));
    }
    let read = record.reader.read_deser(&mut &*bytes);
    read.map_err(|error| error.to_string())
}

/// Passes over a value: the library makes room for a text or bytes before it knows whether they
/// are there, so that a length of a few bytes would order half a gigabyte.
fn skip(schema: &Schema, names: &NamesRef, bytes: &mut &[u8]) -> Result<(), String> {
    match schema {
        Schema::Ref { name } => skip(names[name], names, bytes),
        Schema::Record(record) => {
            let mut fields = record.fields.iter();
            fields.try_for_each(|field| skip(&field.schema, names, bytes))
        }
        Schema::Array(array) => skip_blocks(&array.items, names, bytes),
        Schema::Boolean => take(1, bytes),
        Schema::Double => take(8, bytes),
        Schema::Int | Schema::Long | Schema::Enum(_) => long(bytes).map(drop),
        Schema::String | Schema::Bytes => {
            let length = long(bytes)?;
            take(length, bytes)
        }
        Schema::Union(union) => {
            let branch = usize::try_from(long(bytes)?).ok();
            let branch = branch.and_then(|branch| union.variants().get(branch));
            skip(branch.ok_or("no branch of a union")?, names, bytes)
        }
        other => unreachable!("contracts/avro has no {other:?}"),
    }
}

fn skip_blocks(items: &Schema, names: &NamesRef, bytes: &mut &[u8]) -> Result<(), String> {
    loop {
        let count = long(bytes)?;
        if count == 0 {
            return Ok(());
        }
        if count < 0 {
            // The block's length in bytes.
            long(bytes)?;
        }
        for _ in 0..count.unsigned_abs() {
            let before = bytes.len();
            skip(items, names, bytes)?;
            if bytes.len() == before {
                return Err("a list of items without fields".to_owned());
            }
        }
    }
}

fn take(length: i64, bytes: &mut &[u8]) -> Result<(), String> {
    let all = *bytes;
    let rest = usize::try_from(length)
        .ok()
        .and_then(|length| all.get(length..));
    *bytes = rest.ok_or_else(|| format!("a length of {length} beyond the end"))?;
    Ok(())
}

/// An integer: zigzag, seven bits a byte, least significant first.
fn long(bytes: &mut &[u8]) -> Result<i64, String> {
    let mut zigzag = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or("the message is cut off")?;
        *bytes = rest;
        zigzag |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok((zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed());
        }
    }
    Err("an integer of more than 64 bits".to_owned())
}
