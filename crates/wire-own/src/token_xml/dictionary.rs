//! What is cached, what the caches hold from the start, and how large they grow.

pub use wirelab_stack::TokenCache;

/// How large a cache is, and what it holds from the start.
#[derive(Debug)]
pub(super) struct Dictionary {
    /// Numbers 0 and up; never evicted.
    pub(super) fixed: &'static [&'static str],
    /// Entries beyond those.
    pub(super) entries: usize,
}

/// Names of elements and attributes: those of SOAP are there from the start.
pub(super) static NAMES: Dictionary = Dictionary {
    // The order is part of the format (docs/reference/token-xml.md, Caches): a change
    // makes old and new peers misread each other. The first 64 have tokens of one byte.
    fixed: &[
        "soapenv:Envelope",
        "xmlns:soapenv",
        "soapenv:Header",
        "soapenv:Body",
        "soapenv:Fault",
        "faultcode",
        "faultstring",
        "faultactor",
        "detail",
        "xmlns",
        "soapenv:mustUnderstand",
        "soapenv:actor",
        "soapenv:encodingStyle",
        "xmlns:xsd",
        "xmlns:xsi",
        "xsi:type",
        "xsi:nil",
        "SOAP-ENV:Envelope",
        "xmlns:SOAP-ENV",
        "SOAP-ENV:Header",
        "SOAP-ENV:Body",
        "SOAP-ENV:Fault",
        "SOAP-ENV:mustUnderstand",
        "SOAP-ENV:actor",
        "SOAP-ENV:encodingStyle",
        "xmlns:SOAP-ENC",
        "SOAP-ENC:arrayType",
        "id",
        "href",
        "item",
    ],
    // Chosen here: the study names no size.
    entries: 1024,
};

/// Texts and values of attributes.
pub(super) static TEXTS: Dictionary = Dictionary {
    fixed: &[
        "http://schemas.xmlsoap.org/soap/envelope/",
        "http://schemas.xmlsoap.org/soap/encoding/",
        "http://www.w3.org/2001/XMLSchema",
        "http://www.w3.org/2001/XMLSchema-instance",
        "soapenv:Client",
        "soapenv:Server",
        "soapenv:VersionMismatch",
        "soapenv:MustUnderstand",
        "SOAP-ENV:Client",
        "SOAP-ENV:Server",
        "xsd:boolean",
        "xsd:int",
        "xsd:long",
        "xsd:double",
        "xsd:string",
        "xsd:base64Binary",
        "SOAP-ENC:Array",
    ],
    // At most 128 KiB of texts per cache and direction: 256 of 512 bytes.
    entries: 256,
};
