//! Avro by apache-avro and the contract's schema.

use std::sync::LazyLock;

use apache_avro::Schema;
use apache_avro::reader::datum::GenericDatumReader;
use apache_avro::schema::{NamesRef, ResolvedSchema};
use apache_avro::writer::datum::GenericDatumWriter;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::contract::{REPLY_RECORD, REQUEST_RECORD};

/// Bounds values within values: the stack is not used up.
const DEPTH_MAX: usize = 100;

/// Bounds the items of a body's lists that have no bytes: their number alone would fill the memory.
const EMPTY_ITEMS_MAX: usize = 1_000_000;

/// The union of the records of request and reply.
static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    Schema::parse_str(include_str!("../service.avsc")).expect("service.avsc is a schema")
});

static REQUEST: LazyLock<Record> = LazyLock::new(|| Record::new(REQUEST_RECORD));
static REPLY: LazyLock<Record> = LazyLock::new(|| Record::new(REPLY_RECORD));

/// What reads and writes the messages of one record.
struct Record {
    schema: &'static Schema,
    resolved: ResolvedSchema<'static>,
    reader: GenericDatumReader<'static>,
    writer: GenericDatumWriter<'static>,
}

impl Record {
    fn new(full_name: &str) -> Record {
        const RESOLVED: &str = "names that were resolved";
        let resolved = ResolvedSchema::new(&SCHEMA).expect("service.avsc has all its types");
        let mut names = resolved.get_names().iter();
        let found = names.find(|(name, _)| name.fullname(None) == full_name);
        let schema = *found.expect("service.avsc has request and reply").1;
        let reader = GenericDatumReader::builder(schema)
            .resolved_writer_schemata(resolved.clone())
            .human_readable(false);
        let writer = GenericDatumWriter::builder(schema)
            .resolved_schemata(resolved.clone())
            .human_readable(false);
        Record {
            schema,
            reader: reader.build().expect(RESOLVED),
            writer: writer.build().expect(RESOLVED),
            resolved,
        }
    }

    fn read<M: DeserializeOwned>(&self, body: &[u8]) -> Result<M, String> {
        let mut check = Check {
            names: self.resolved.get_names(),
            rest: body,
            depth: 0,
            empty_left: EMPTY_ITEMS_MAX,
        };
        check.skip(self.schema)?;
        if !check.rest.is_empty() {
            return Err(format!("{} bytes follow the message", check.rest.len()));
        }
        let read = self.reader.read_deser(&mut &*body);
        read.map_err(|error| error.to_string())
    }
}

/// Reads a request.
///
/// # Errors
/// Bytes that are not the message.
pub fn read_request<M: DeserializeOwned>(body: &[u8]) -> Result<M, String> {
    REQUEST.read(body)
}

/// Reads a reply.
///
/// # Errors
/// Bytes that are not the message.
pub fn read_reply<M: DeserializeOwned>(body: &[u8]) -> Result<M, String> {
    REPLY.read(body)
}

/// Writes a reply.
///
/// # Errors
/// A value that has no form there.
pub fn write_reply<M: Serialize>(message: &M) -> Result<Vec<u8>, String> {
    let written = REPLY.writer.write_ser_to_vec(message);
    written.map_err(|error| error.to_string())
}

/// Passes over the values of a body: the library makes room for a text or bytes before it knows
/// whether they are there, and recurses without bound.
struct Check<'a> {
    names: &'a NamesRef<'static>,
    rest: &'a [u8],
    depth: usize,
    empty_left: usize,
}

impl Check<'_> {
    fn skip(&mut self, schema: &Schema) -> Result<(), String> {
        match schema {
            Schema::Ref { name } => self.skip(self.names[name]),
            Schema::Record(_) | Schema::Array(_) | Schema::Map(_) => self.skip_nested(schema),
            Schema::Union(union) => {
                let index = self.long()?;
                let branch = usize::try_from(index).ok();
                let branch = branch.and_then(|branch| union.variants().get(branch));
                self.skip(branch.ok_or_else(|| format!("the union has no branch {index}"))?)
            }
            Schema::Null => Ok(()),
            Schema::Boolean => self.take(1),
            Schema::Float => self.take(4),
            Schema::Double => self.take(8),
            Schema::Int | Schema::Long | Schema::Enum(_) => self.long().map(drop),
            Schema::String | Schema::Bytes => {
                let length = self.long()?;
                self.take(length)
            }
            other => Err(format!("service.avsc has {other:?}")),
        }
    }

    fn skip_nested(&mut self, schema: &Schema) -> Result<(), String> {
        if self.depth == DEPTH_MAX {
            return Err(format!("values are nested more than {DEPTH_MAX} deep"));
        }
        self.depth += 1;
        match schema {
            Schema::Record(record) => {
                let mut fields = record.fields.iter();
                fields.try_for_each(|field| self.skip(&field.schema))?;
            }
            Schema::Array(array) => self.skip_blocks(|check| check.skip(&array.items))?,
            Schema::Map(map) => self.skip_blocks(|check| {
                check.skip(&Schema::String)?;
                check.skip(&map.types)
            })?,
            _ => {}
        }
        self.depth -= 1;
        Ok(())
    }

    fn skip_blocks(
        &mut self,
        item: impl Fn(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        loop {
            let count = self.long()?;
            if count == 0 {
                return Ok(());
            }
            if count < 0 {
                // The block's length in bytes.
                self.long()?;
            }
            for _ in 0..count.unsigned_abs() {
                let begun = self.rest.len();
                item(self)?;
                if self.rest.len() == begun {
                    let left = self.empty_left.checked_sub(1);
                    let many = || format!("more than {EMPTY_ITEMS_MAX} items have no bytes");
                    self.empty_left = left.ok_or_else(many)?;
                }
            }
        }
    }

    fn take(&mut self, length: i64) -> Result<(), String> {
        let rest = usize::try_from(length)
            .ok()
            .and_then(|length| self.rest.get(length..));
        self.rest = rest.ok_or_else(|| format!("a length of {length} is beyond the end"))?;
        Ok(())
    }

    /// An integer: zigzag, seven bits a byte, least significant first.
    fn long(&mut self) -> Result<i64, String> {
        let mut zigzag = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let (byte, rest) = self.rest.split_first().ok_or("the message is cut off")?;
            self.rest = rest;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            zigzag |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok((zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed());
            }
        }
        Err("a number is beyond 64 bits".to_owned())
    }
}
