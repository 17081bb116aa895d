//! Elements from messages: a serde serializer into anything that takes
//! elements, attributes and values ([`Sink`]), text or tokens.

use std::fmt;

use serde::ser::{self, Impossible, Serialize};
use wirelab_contract::BASE64_BINARY;

use super::reader::Shape;

/// Takes a document piece by piece.
pub trait Sink {
    /// An element begins; its name is written as given, prefix included.
    fn open(&mut self, name: &str);
    /// An attribute of the element that has just begun.
    fn attribute(&mut self, name: &str, value: &str);
    /// The same, of a value that needs no escaping.
    fn plain_attribute(&mut self, name: &str, value: &str) {
        self.attribute(name, value);
    }
    /// An element begins that will have no attribute.
    // The variants below let a text writer append whole tags at once; the defaults keep
    // the trait small for all others.
    fn open_bare(&mut self, name: &str) {
        self.open(name);
    }
    /// The same, of such a value in parts.
    fn write_joined_attribute(&mut self, name: &str, value: &[&str]) {
        self.plain_attribute(name, &value.concat());
    }
    /// An element begins whose only attribute is `xsi:type`.
    fn open_typed(&mut self, name: &str, kind: &Simple) {
        self.open(name);
        self.attribute("xsi:type", kind.name);
    }
    /// Text of the open element.
    fn text(&mut self, text: &str);
    /// Text of the open element that needs no escaping.
    fn plain(&mut self, text: &str);
    /// An integer as text of the open element.
    fn integer(&mut self, value: i64);
    /// A boolean as text of the open element.
    fn boolean(&mut self, value: bool);
    /// A double as text of the open element.
    fn double(&mut self, value: f64);
    /// The element of that name, which was opened last, ends.
    fn close(&mut self, name: &str);
    /// A whole element of text, whose only attribute is `xsi:type` if `kind`
    /// is given.
    fn text_element(&mut self, name: &str, kind: Option<&Simple>, text: &str) {
        self.open_simple(name, kind);
        self.text(text);
        self.close(name);
    }
    /// The same of an integer.
    fn integer_element(&mut self, name: &str, kind: Option<&Simple>, value: i64) {
        self.open_simple(name, kind);
        self.integer(value);
        self.close(name);
    }
    /// Begins such an element.
    #[inline]
    fn open_simple(&mut self, name: &str, kind: Option<&Simple>) {
        match kind {
            None => self.open_bare(name),
            Some(kind) => self.open_typed(name, kind),
        }
    }
}

/// A type of XML Schema.
#[derive(Debug)]
pub struct Simple {
    /// The qualified name, with the prefix `xsd`.
    // Constants, so that neither the name nor the end of the tag is put together for
    // each element.
    pub name: &'static str,
    /// The end of a start tag whose only attribute gives this type.
    pub tag_end: &'static str,
}

macro_rules! simple {
    ($name:literal) => {
        Simple {
            name: $name,
            tag_end: concat!(" xsi:type=\"", $name, "\">"),
        }
    };
}

/// The type of the profile's bool (contracts/README.md).
pub const BOOLEAN: Simple = simple!("xsd:boolean");
/// The type of the profile's int32 (contracts/README.md).
pub const INT: Simple = simple!("xsd:int");
/// The type of the profile's int64 (contracts/README.md).
pub const LONG: Simple = simple!("xsd:long");
/// The type of the profile's double (contracts/README.md).
pub const DOUBLE: Simple = simple!("xsd:double");
/// The type of the profile's string (contracts/README.md).
pub const STRING: Simple = simple!("xsd:string");
/// The type of the profile's bytes (contracts/README.md).
pub const BASE64: Simple = simple!("xsd:base64Binary");

/// The type of an element around the items of a list.
pub const ARRAY: &str = "SOAP-ENC:Array";

/// Writes an element that makes `namespace` the default one.
pub fn write_root<S: Sink>(
    sink: &mut S,
    name: &str,
    namespace: &str,
    content: impl FnOnce(&mut S),
) {
    sink.open(name);
    sink.plain_attribute("xmlns", namespace);
    content(sink);
    sink.close(name);
}

/// Writes the fields of a message into the element that is open.
///
/// # Panics
/// When `message` is not of the profile in contracts/README.md.
pub fn fields<M: Serialize, S: Sink>(message: &M, shape: Shape, namespace: &str, sink: &mut S) {
    let mut writer = Writer {
        sink,
        shape,
        namespace,
        level: 0,
        array: None,
        declared: false,
    };
    let whole = Element {
        writer: &mut writer,
        name: None,
        base64: false,
    };
    message
        .serialize(whole)
        // A panic, not an error: types are fixed at compile time, so that a failure is
        // a bug and no input can cause it.
        .unwrap_or_else(|error| panic!("a message of the profile: {error}"));
}

struct Writer<'w, S> {
    sink: &'w mut S,
    shape: Shape,
    /// What the prefix `ns` of types stands for (encoded only).
    namespace: &'w str,
    /// Messages within messages.
    level: usize,
    /// Items of an array whose element has begun, and whose type its first
    /// item gives (encoded only).
    array: Option<usize>,
    /// The prefix `ns` has been declared by an element that is still open.
    declared: bool,
}

/// What has no place in the profile.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct UnsupportedType(String);

impl ser::Error for UnsupportedType {
    fn custom<T: fmt::Display>(text: T) -> Self {
        UnsupportedType(text.to_string())
    }
}

fn unsupported<T>(what: &str) -> Result<T, UnsupportedType> {
    Err(UnsupportedType(format!("{what} is not in the profile")))
}

impl<S: Sink> Writer<'_, S> {
    /// Before an element of a simple type. Returns the type, where elements
    /// carry theirs.
    #[inline(always)]
    fn begin_simple<'k>(&mut self, kind: &'k Simple) -> Option<&'k Simple> {
        if self.shape != Shape::Encoded {
            return None;
        }
        // SOAP-ENC:arrayType must name the type of the items, known from the first.
        if self.array.is_some() {
            self.describe_array(Kind::Simple(kind.name));
        }
        Some(kind)
    }

    /// Begins the element of a message. Returns whether `ns` was declared here.
    fn begin_message(&mut self, name: &str, kind: &'static str) -> bool {
        if self.shape != Shape::Encoded {
            self.sink.open_bare(name);
            return false;
        }
        if self.array.is_some() {
            self.describe_array(Kind::Struct(kind));
        }
        self.sink.open(name);
        let declares = self.declare(Kind::Struct(kind));
        self.sink.write_joined_attribute("xsi:type", &["ns:", kind]);
        declares
    }

    /// Begins the element around the items of a list.
    fn begin_list(&mut self, name: &str, items: usize) {
        self.sink.open(name);
        if self.shape != Shape::Encoded {
            return;
        }
        self.sink.plain_attribute("xsi:type", ARRAY);
        self.array = Some(items);
        if items == 0 {
            // An empty array has no item to give its type; `arrayType` is still
            // required (SOAP 1.1 section 5.4.2).
            self.describe_array(Kind::Simple("xsd:anyType"));
        }
    }

    /// Declares `ns` on the element that has just begun, if a type needs it.
    fn declare(&mut self, kind: Kind) -> bool {
        // Declared once on the outermost element that needs it.
        let declares = matches!(kind, Kind::Struct(_)) && !self.declared;
        if declares {
            self.sink.plain_attribute("xmlns:ns", self.namespace);
            self.declared = true;
        }
        declares
    }

    /// Gives the array that waits for it the type of its first item (SOAP
    /// 1.1 section 5.4.2).
    fn describe_array(&mut self, kind: Kind) {
        let Some(items) = self.array.take() else {
            return;
        };
        self.declare(kind);
        let (prefix, name) = match kind {
            Kind::Simple(name) => ("", name),
            Kind::Struct(name) => ("ns:", name),
        };
        let mut digits = itoa::Buffer::new();
        let of = [prefix, name, "[", digits.format(items), "]"];
        self.sink.write_joined_attribute("SOAP-ENC:arrayType", &of);
    }
}

/// The type of an element.
#[derive(Clone, Copy)]
enum Kind {
    /// A type of XML Schema.
    Simple(&'static str),
    /// A message.
    Struct(&'static str),
}

/// Fields of a message.
struct Fields<'r, 'w, S> {
    writer: &'r mut Writer<'w, S>,
    /// The element to be ended; none for the message itself.
    name: Option<&'static str>,
    declares: bool,
}

/// A field or an item, to be written as an element of this name; without one
/// the message itself, whose element is open.
struct Element<'r, 'w, S> {
    writer: &'r mut Writer<'w, S>,
    name: Option<&'static str>,
    /// A string is base64 text.
    base64: bool,
}

/// A list, whose items are written as elements of this name.
struct Items<'r, 'w, S> {
    writer: &'r mut Writer<'w, S>,
    item: &'static str,
    /// The element around them.
    list: Option<&'static str>,
    declared_before: bool,
}

impl<'w, S: Sink> Element<'_, 'w, S> {
    fn simple(self, kind: &Simple, write: impl FnOnce(&mut S)) -> Result<(), UnsupportedType> {
        let name = self.named()?;
        let kind = self.writer.begin_simple(kind);
        self.writer.sink.open_simple(name, kind);
        write(self.writer.sink);
        self.writer.sink.close(name);
        Ok(())
    }

    #[inline(always)]
    fn integer(self, kind: &Simple, value: i64) -> Result<(), UnsupportedType> {
        let name = self.named()?;
        let kind = self.writer.begin_simple(kind);
        self.writer.sink.integer_element(name, kind, value);
        Ok(())
    }

    fn named(&self) -> Result<&'static str, UnsupportedType> {
        self.name
            .map_or_else(|| unsupported("a value without a field"), Ok)
    }
}

/// Types outside of the profile, and what serde would have written.
macro_rules! unsupported_types {
    ($($method:ident($($value:ty),*) -> $out:ty = $what:literal;)*) => {
        $(fn $method(self, $(_: $value),*) -> Result<$out, UnsupportedType> { unsupported($what) })*
    };
}

impl<'r, 'w, S: Sink> ser::Serializer for Element<'r, 'w, S> {
    type Ok = ();
    type Error = UnsupportedType;
    type SerializeSeq = Items<'r, 'w, S>;
    type SerializeTuple = Impossible<(), UnsupportedType>;
    type SerializeTupleStruct = Impossible<(), UnsupportedType>;
    type SerializeTupleVariant = Impossible<(), UnsupportedType>;
    type SerializeMap = Impossible<(), UnsupportedType>;
    type SerializeStruct = Fields<'r, 'w, S>;
    type SerializeStructVariant = Impossible<(), UnsupportedType>;

    #[inline]
    fn serialize_bool(self, value: bool) -> Result<(), UnsupportedType> {
        self.simple(&BOOLEAN, |sink| sink.boolean(value))
    }

    #[inline]
    fn serialize_i32(self, value: i32) -> Result<(), UnsupportedType> {
        self.integer(&INT, i64::from(value))
    }

    #[inline]
    fn serialize_i64(self, value: i64) -> Result<(), UnsupportedType> {
        self.integer(&LONG, value)
    }

    fn serialize_f64(self, value: f64) -> Result<(), UnsupportedType> {
        self.simple(&DOUBLE, |sink| sink.double(value))
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<(), UnsupportedType> {
        if self.base64 {
            return self.simple(&BASE64, |sink| sink.plain(value));
        }
        let name = self.named()?;
        let kind = self.writer.begin_simple(&STRING);
        self.writer.sink.text_element(name, kind, value);
        Ok(())
    }

    // An absent field has no element; `xsi:nil` would be the longer form of the same.
    fn serialize_none(self) -> Result<(), UnsupportedType> {
        Ok(())
    }

    #[inline]
    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<(), UnsupportedType> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), UnsupportedType> {
        self.base64 = name == BASE64_BINARY;
        value.serialize(self)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), UnsupportedType> {
        self.serialize_str(variant)
    }

    fn serialize_seq(self, items: Option<usize>) -> Result<Items<'r, 'w, S>, UnsupportedType> {
        let name = self.named()?;
        let writer = self.writer;
        let declared_before = writer.declared;
        let wrapped = writer.shape.wraps_lists(writer.level);
        if wrapped {
            let items =
                items.ok_or_else(|| UnsupportedType("a list of unknown length".to_owned()))?;
            writer.begin_list(name, items);
        }
        Ok(Items {
            writer,
            // The mapping's name for items of a wrapped list.
            item: if wrapped { "item" } else { name },
            list: wrapped.then_some(name),
            declared_before,
        })
    }

    #[inline]
    fn serialize_struct(
        self,
        kind: &'static str,
        _: usize,
    ) -> Result<Fields<'r, 'w, S>, UnsupportedType> {
        let begin = |name| self.writer.begin_message(name, kind);
        let declares = self.name.is_some_and(begin);
        self.writer.level += 1;
        Ok(Fields {
            writer: self.writer,
            name: self.name,
            declares,
        })
    }

    unsupported_types! {
        serialize_i8(i8) -> () = "i8";
        serialize_i16(i16) -> () = "i16";
        serialize_u8(u8) -> () = "u8";
        serialize_u16(u16) -> () = "u16";
        serialize_u32(u32) -> () = "u32";
        serialize_u64(u64) -> () = "u64";
        serialize_f32(f32) -> () = "f32";
        serialize_char(char) -> () = "char";
        serialize_bytes(&[u8]) -> () = "plain bytes";
        serialize_unit() -> () = "unit";
        serialize_unit_struct(&'static str) -> () = "a unit struct";
        serialize_tuple(usize) -> Impossible<(), UnsupportedType> = "a tuple";
        serialize_tuple_struct(&'static str, usize) -> Impossible<(), UnsupportedType> = "a tuple struct";
        serialize_map(Option<usize>) -> Impossible<(), UnsupportedType> = "a map";
        serialize_tuple_variant(&'static str, u32, &'static str, usize)
            -> Impossible<(), UnsupportedType> = "a variant with values";
        serialize_struct_variant(&'static str, u32, &'static str, usize)
            -> Impossible<(), UnsupportedType> = "a variant with fields";
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), UnsupportedType> {
        unsupported("a variant with a value")
    }
}

impl<S: Sink> ser::SerializeStruct for Fields<'_, '_, S> {
    type Ok = ();
    type Error = UnsupportedType;

    #[inline]
    fn serialize_field<T: ?Sized + Serialize>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), UnsupportedType> {
        value.serialize(Element {
            writer: &mut *self.writer,
            name: Some(name),
            base64: false,
        })
    }

    fn end(self) -> Result<(), UnsupportedType> {
        self.writer.level -= 1;
        if let Some(name) = self.name {
            self.writer.sink.close(name);
        }
        // The declaration ends with its element, so that the next one must declare the
        // prefix again.
        if self.declares {
            self.writer.declared = false;
        }
        Ok(())
    }
}

impl<S: Sink> ser::SerializeSeq for Items<'_, '_, S> {
    type Ok = ();
    type Error = UnsupportedType;

    #[inline]
    fn serialize_element<T: ?Sized + Serialize>(
        &mut self,
        value: &T,
    ) -> Result<(), UnsupportedType> {
        value.serialize(Element {
            writer: &mut *self.writer,
            name: Some(self.item),
            base64: false,
        })
    }

    fn end(self) -> Result<(), UnsupportedType> {
        if let Some(name) = self.list {
            self.writer.sink.close(name);
        }
        self.writer.declared = self.declared_before;
        Ok(())
    }
}
