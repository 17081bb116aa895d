//! Faults (SOAP 1.1 section 4.4; SOAP 1.2 part 1, section 5.4).

use crate::infoset::source::{Element, Source, Step};
use crate::infoset::writer::Sink;
use crate::infoset::{Error, ErrorKind, chars};

use super::format::{EnvelopeFormat, Version};

/// Which side is at fault.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FaultCode {
    /// The envelope is of another version.
    VersionMismatch,
    /// A header block that must be understood is not.
    MustUnderstand,
    /// The request: `Client` in SOAP 1.1, `Sender` in 1.2.
    Client,
    /// The service: `Server` in SOAP 1.1, `Receiver` in 1.2.
    Server,
    /// Any other, as it was written.
    Other(String),
}

/// Why a request got no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Which side is at fault.
    pub code: FaultCode,
    /// What went wrong, for people; of an application error the contract's text.
    pub text: String,
}

impl FaultCode {
    /// The local name in a version.
    #[must_use]
    pub fn name(&self, version: Version) -> &str {
        match (self, version) {
            (FaultCode::VersionMismatch, _) => "VersionMismatch",
            (FaultCode::MustUnderstand, _) => "MustUnderstand",
            (FaultCode::Client, Version::V11) => "Client",
            (FaultCode::Client, Version::V12) => "Sender",
            (FaultCode::Server, Version::V11) => "Server",
            (FaultCode::Server, Version::V12) => "Receiver",
            (FaultCode::Other(name), _) => name,
        }
    }

    /// The code of a name; SOAP 1.1 allows refinements after a dot.
    fn of_name(name: &str, version: Version) -> Self {
        let general = match version {
            // Section 4.4.1: `Client.Authentication` is a Client fault.
            Version::V11 => name.split('.').next().unwrap_or(name),
            Version::V12 => name,
        };
        let codes = [
            FaultCode::VersionMismatch,
            FaultCode::MustUnderstand,
            FaultCode::Client,
            FaultCode::Server,
        ];
        let mut codes = codes.into_iter();
        codes
            .find(|code| code.name(version) == general)
            .unwrap_or_else(|| FaultCode::Other(name.to_owned()))
    }
}

impl Fault {
    /// A fault of the request.
    pub fn client(text: impl Into<String>) -> Self {
        Fault {
            code: FaultCode::Client,
            text: text.into(),
        }
    }

    /// The status of the HTTP reply (SOAP 1.1 section 6.2; SOAP 1.2 part 2,
    /// section 7.5.2.2).
    #[must_use]
    pub fn status(&self, version: Version) -> u16 {
        match (version, &self.code) {
            // SOAP 1.1 section 6.2 demands 500 for every fault.
            (Version::V12, FaultCode::Client) => 400,
            _ => 500,
        }
    }

    /// Writes the fault as the body's child.
    pub fn write<S: Sink>(&self, format: EnvelopeFormat, sink: &mut S) {
        let names = format.names();
        let code = format!("{}:{}", names.prefix, self.code.name(format.version()));
        sink.open(names.fault);
        match format.version() {
            Version::V11 => {
                leaf(sink, "faultcode", &code);
                leaf(sink, "faultstring", &self.text);
            }
            Version::V12 => {
                sink.open("soapenv:Code");
                leaf(sink, "soapenv:Value", &code);
                sink.close("soapenv:Code");
                sink.open("soapenv:Reason");
                sink.open("soapenv:Text");
                // Mandatory in SOAP 1.2 (part 1, section 5.4.2.1); the prefix `xml`
                // needs no declaration.
                sink.attribute("xml:lang", "en");
                sink.text(&self.text);
                sink.close("soapenv:Text");
                sink.close("soapenv:Reason");
            }
        }
        sink.close(names.fault);
    }

    /// Reads the open `Fault` element, which ends.
    pub(super) fn read<'de>(
        source: &mut impl Source<'de>,
        fault: &Element<'de>,
        version: Version,
    ) -> Result<Self, Error> {
        let mut code = None;
        let mut text = None;
        while let Some(child) = source.child()? {
            match (version, child.namespace, child.local) {
                // SOAP 1.1 faults have children without a namespace (section 4.4), 1.2
                // puts them into the envelope's.
                (Version::V11, "", "faultcode") => code = Some(read_code(source, version)?),
                (Version::V11, "", "faultstring") => text = Some(read_text(source)?),
                (Version::V12, space, "Code") if space == version.namespace() => {
                    code = inner(source, version, "Value", |s| read_code(s, version))?;
                }
                (Version::V12, space, "Reason") if space == version.namespace() => {
                    text = inner(source, version, "Text", read_text)?;
                }
                // `faultactor`, `detail`, `Node`, `Role`: no application error of the
                // contracts uses them.
                _ => source.skip()?,
            }
        }
        let without = |what| Error::new(fault.offset, ErrorKind::Envelope(what));
        Ok(Fault {
            code: code.ok_or_else(|| without("a fault without a code"))?,
            text: text.ok_or_else(|| without("a fault without a text"))?,
        })
    }
}

fn leaf<S: Sink>(sink: &mut S, name: &str, text: &str) {
    sink.open(name);
    sink.text(text);
    sink.close(name);
}

/// Reads the first child of that name within the open element, which ends.
fn inner<'de, S: Source<'de>, T>(
    source: &mut S,
    version: Version,
    name: &str,
    read: impl Fn(&mut S) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    let mut first = None;
    while let Some(child) = source.child()? {
        // A 1.2 Reason has a Text per language; the first is taken, whatever its
        // language is.
        if first.is_none() && child.is(version.namespace(), name) {
            first = Some(read(source)?);
        } else {
            source.skip()?;
        }
    }
    Ok(first)
}

fn read_text<'de>(source: &mut impl Source<'de>) -> Result<String, Error> {
    Ok(source.text()?.into_str().into_owned())
}

/// Reads a qualified name as the content of the open element, which ends. Its
/// prefix is looked up while the element is still open, because that may have
/// declared it.
fn read_code<'de>(source: &mut impl Source<'de>, version: Version) -> Result<FaultCode, Error> {
    let mut written = String::new();
    let mut namespace = None;
    loop {
        match source.step()? {
            Step::Text(text) => {
                written.push_str(&text.into_str());
                let (prefix, _) = parts(&written);
                // After the element has ended its declarations are out of scope.
                namespace = source.namespace(prefix);
            }
            Step::Open(element) => return Err(element.unexpected("text")),
            Step::Close => break,
        }
    }
    let (_, local) = parts(&written);
    // A qualified name: `soapenv:Client` and `s:Client` are the same code where both
    // prefixes stand for the envelope's namespace.
    Ok(if namespace == Some(version.namespace()) {
        FaultCode::of_name(local, version)
    } else {
        FaultCode::Other(chars::trim(&written).to_owned())
    })
}

fn parts(name: &str) -> (&str, &str) {
    let name = chars::trim(name);
    name.split_once(':').unwrap_or(("", name))
}
