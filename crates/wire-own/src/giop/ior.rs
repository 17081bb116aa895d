//! Interoperable object references (CORBA 3.3 part 2, section 7.6 and 9.7.2).

use std::fmt::Write as _;

use super::corbaloc::{self, Corbaloc, CorbalocError};
use super::service_contexts::{CODE_SET_UTF8, CODE_SET_UTF16};
use crate::cdr::{ByteOrder, Error, Reader, Writer};

/// Profile tag of IIOP.
const TAG_INTERNET_IOP: u32 = 0;
/// Component tag of `CodeSetComponentInfo` (section 7.10.2.4).
const TAG_CODE_SETS: u32 = 1;

/// Bytes of a profile or component without data.
const TAGGED_BYTES_MIN: usize = 8;

/// Hexadecimal digits that a reference may have.
// Two digits per byte: a reference of 64 KiB, as much as a reply may forward to.
const DIGITS_MAX: usize = 128 << 10;

/// A reference to an object.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ior {
    /// Repository id of its interface; empty when unknown.
    pub type_id: String,
    /// The ways to reach it.
    pub profiles: Vec<Profile>,
}

/// One way to reach an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Profile {
    /// Over TCP.
    Iiop(IiopProfile),
    /// Some other way, kept as it was.
    Other {
        /// What kind.
        tag: u32,
        /// Its encapsulation.
        data: Vec<u8>,
    },
}

/// How to reach an object over TCP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IiopProfile {
    /// Highest version that the server supports, major and minor.
    pub version: (u8, u8),
    /// Name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Names the object at that server.
    pub object_key: Vec<u8>,
    /// Further properties; none in version 1.0.
    pub components: Vec<Component>,
}

/// A tagged component of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Component {
    /// What kind.
    pub tag: u32,
    /// Its encapsulation.
    pub data: Vec<u8>,
}

/// A text that is not a reference.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IorError {
    /// Neither of the two forms.
    #[error("an object reference begins with IOR: or corbaloc:")]
    Scheme,
    /// Not pairs of hexadecimal digits, or too many.
    #[error("IOR: must be followed by an even number of hexadecimal digits, at most {DIGITS_MAX}")]
    Digits,
    /// The digits encode no reference.
    #[error("not an IOR: {0}")]
    Cdr(#[from] Error),
    /// A `corbaloc:` that cannot be understood.
    #[error(transparent)]
    Corbaloc(#[from] CorbalocError),
    /// Nothing that can be called over TCP.
    #[error("the reference has no IIOP profile; only objects behind TCP can be called")]
    NoIiop,
}

impl Component {
    /// The code sets that a server of UTF-8 and UTF-16 announces.
    #[must_use]
    pub fn code_sets() -> Component {
        let mut data = Vec::new();
        let mut writer = Writer::new(ByteOrder::Big, &mut data, 0);
        // An encapsulation begins with the octet of its byte order (section 9.3.3),
        // whatever the order of the message around it.
        writer.octet(ByteOrder::Big.flag());
        for code_set in [CODE_SET_UTF8, CODE_SET_UTF16] {
            writer.ulong(code_set);
            writer.ulong(0); // no conversion code sets
        }
        Component {
            tag: TAG_CODE_SETS,
            data,
        }
    }
}

impl IiopProfile {
    /// The native code sets of `char` and `wchar`, where the server announced them.
    ///
    /// # Errors
    /// When the component is malformed.
    pub fn native_code_sets(&self) -> Result<Option<(u32, u32)>, Error> {
        let mut components = self.components.iter();
        // Without the component the server takes ISO 8859-1 for `char` and no `wchar`
        // at all (section 7.10.2.4).
        let Some(component) = components.find(|component| component.tag == TAG_CODE_SETS) else {
            return Ok(None);
        };
        let mut reader = Reader::encapsulation(&component.data)?;
        let narrow = reader.ulong()?;
        for _ in 0..reader.length(4)? {
            reader.ulong()?;
        }
        Ok(Some((narrow, reader.ulong()?)))
    }

    fn parse(data: &[u8]) -> Result<IiopProfile, Error> {
        let mut reader = Reader::encapsulation(data)?;
        let version = (reader.octet()?, reader.octet()?);
        let mut profile = IiopProfile {
            version,
            host: reader.string()?.to_owned(),
            port: reader.ushort()?,
            object_key: reader.octets()?.to_owned(),
            components: Vec::new(),
        };
        // IIOP 1.0 profiles end behind the object key (section 9.7.2).
        // A profile of a later minor version may have more behind the components; it is
        // ignored, so that newer servers stay reachable (section 9.7.2).
        if version >= (1, 1) {
            for _ in 0..reader.length(TAGGED_BYTES_MIN)? {
                profile.components.push(Component {
                    tag: reader.ulong()?,
                    data: reader.octets()?.to_owned(),
                });
            }
        }
        Ok(profile)
    }

    fn encapsulate(&self, order: ByteOrder) -> Result<Vec<u8>, Error> {
        let mut data = Vec::new();
        let mut writer = Writer::new(order, &mut data, 0);
        writer.octet(order.flag());
        writer.octet(self.version.0);
        writer.octet(self.version.1);
        writer.string(&self.host)?;
        writer.ushort(self.port);
        writer.octets(&self.object_key)?;
        if self.version >= (1, 1) {
            writer.length(self.components.len())?;
            for component in &self.components {
                writer.ulong(component.tag);
                writer.octets(&component.data)?;
            }
        }
        Ok(data)
    }
}

impl Ior {
    /// A reference to an object of a GIOP 1.2 server whose strings are UTF-8.
    #[must_use]
    pub fn new(type_id: &str, host: &str, port: u16, object_key: &[u8]) -> Ior {
        Ior {
            type_id: type_id.to_owned(),
            profiles: vec![Profile::Iiop(IiopProfile {
                // The highest version of the server, not the one of the message:
                // clients choose one up to it.
                version: (1, 2),
                host: host.to_owned(),
                port,
                object_key: object_key.to_owned(),
                components: vec![Component::code_sets()],
            })],
        }
    }

    /// Reads `IOR:` and hexadecimal digits, or a `corbaloc:` address.
    ///
    /// # Errors
    /// When `text` is neither.
    pub fn parse(text: &str) -> Result<Ior, IorError> {
        let text = text.trim();
        if corbaloc::has_scheme(text) {
            return Ok(Ior::of_corbaloc(corbaloc::parse(text)?));
        }
        let digits = text
            .get(..4)
            .filter(|head| head.eq_ignore_ascii_case("IOR:"));
        let digits = digits.map(|_| &text[4..]).ok_or(IorError::Scheme)?;
        // Section 7.6.9: every octet is two digits, the high nibble first.
        if digits.len() > DIGITS_MAX || !digits.len().is_multiple_of(2) {
            return Err(IorError::Digits);
        }
        let bytes = digits.as_bytes().chunks(2).map(|pair| {
            let digit = |digit: u8| char::from(digit).to_digit(16).ok_or(IorError::Digits);
            Ok((digit(pair[0])? << 4 | digit(pair[1])?) as u8)
        });
        let bytes = bytes.collect::<Result<Vec<u8>, IorError>>()?;
        Ok(Ior::read(&mut Reader::encapsulation(&bytes)?)?)
    }

    fn of_corbaloc(corbaloc: Corbaloc) -> Ior {
        let object_key = corbaloc.object_key;
        let profiles = corbaloc.addresses.into_iter().map(|address| {
            Profile::Iiop(IiopProfile {
                version: address.version,
                host: address.host,
                port: address.port,
                object_key: object_key.clone(),
                // A `corbaloc:` carries no components (section 7.6.10.1), so that the
                // server's code sets stay unknown.
                components: Vec::new(),
            })
        });
        Ior {
            // An empty repository id is legal and means "not known" (section 7.6.2).
            type_id: String::new(),
            profiles: profiles.collect(),
        }
    }

    /// The first way over TCP.
    ///
    /// # Errors
    /// When there is none.
    pub fn iiop(&self) -> Result<&IiopProfile, IorError> {
        let mut profiles = self.profiles.iter();
        let iiop = profiles.find_map(|profile| match profile {
            Profile::Iiop(iiop) => Some(iiop),
            Profile::Other { .. } => None,
        });
        iiop.ok_or(IorError::NoIiop)
    }

    /// Takes a reference off the front of CDR, as it is in a body.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(reader: &mut Reader<'_>) -> Result<Ior, Error> {
        let mut ior = Ior {
            type_id: reader.string()?.to_owned(),
            profiles: Vec::new(),
        };
        for _ in 0..reader.length(TAGGED_BYTES_MIN)? {
            ior.profiles.push(Ior::read_profile(reader)?);
        }
        Ok(ior)
    }

    /// Takes one tagged profile off the front of CDR.
    pub(super) fn read_profile(reader: &mut Reader<'_>) -> Result<Profile, Error> {
        let tag = reader.ulong()?;
        let data = reader.octets()?;
        Ok(match tag {
            TAG_INTERNET_IOP => Profile::Iiop(IiopProfile::parse(data)?),
            _ => Profile::Other {
                tag,
                data: data.to_owned(),
            },
        })
    }

    /// Appends the reference to a body.
    ///
    /// # Errors
    /// When a text contains NUL.
    pub fn write(&self, writer: &mut Writer<'_>) -> Result<(), Error> {
        writer.string(&self.type_id)?;
        writer.length(self.profiles.len())?;
        for profile in &self.profiles {
            match profile {
                Profile::Iiop(iiop) => {
                    writer.ulong(TAG_INTERNET_IOP);
                    writer.octets(&iiop.encapsulate(writer.order())?)?;
                }
                Profile::Other { tag, data } => {
                    writer.ulong(*tag);
                    writer.octets(data)?;
                }
            }
        }
        Ok(())
    }

    /// The reference as `IOR:` and hexadecimal digits.
    ///
    /// # Errors
    /// When a text in it contains NUL.
    pub fn to_text(&self) -> Result<String, Error> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(ByteOrder::Big, &mut bytes, 0);
        writer.octet(ByteOrder::Big.flag());
        self.write(&mut writer)?;
        let mut text = String::with_capacity(4 + 2 * bytes.len());
        text.push_str("IOR:");
        for byte in bytes {
            write!(text, "{byte:02x}").expect("writing to memory does not fail");
        }
        Ok(text)
    }
}
