//! WSDL 1.1 (W3C note, 2001) of a contract, self-contained, one file per style.

use super::markup::Markup;
use super::profile::{Contract, Operation};
use super::style::Style;
use super::xsd;

const WSDL: &str = "http://schemas.xmlsoap.org/wsdl/";
const HTTP: &str = "http://schemas.xmlsoap.org/soap/http";

/// A version of SOAP and the prefix and namespace of its WSDL extension.
struct Version {
    suffix: &'static str,
    prefix: &'static str,
    namespace: &'static str,
}

const SOAP_11: Version = Version {
    suffix: "Soap11",
    prefix: "soap",
    namespace: "http://schemas.xmlsoap.org/wsdl/soap/",
};
const SOAP_12: Version = Version {
    suffix: "Soap12",
    prefix: "soap12",
    namespace: "http://schemas.xmlsoap.org/wsdl/soap12/",
};

/// The contract's WSDL in a style.
pub(crate) fn write(contract: &Contract, style: Style) -> String {
    let versions = match style {
        Style::Document | Style::Rpc => &[SOAP_11, SOAP_12][..],
        Style::Encoded => &[SOAP_11],
    };
    let mut to = Markup::new(&contract.provenance());
    definitions(&mut to, contract, style, versions);
    to.text("wsdl:documentation", &contract.doc);
    if xsd::has_types(contract, style) {
        to.start("wsdl:types", &[]);
        xsd::write_embedded(&mut to, contract, style);
        to.end();
    }
    for operation in &contract.operations {
        message(
            &mut to,
            contract,
            style,
            &format!("{}Input", operation.name),
            &operation.request,
        );
        message(
            &mut to,
            contract,
            style,
            &format!("{}Output", operation.name),
            &operation.reply,
        );
    }
    port_type(&mut to, contract);
    for version in versions {
        write_binding(&mut to, contract, style, version);
    }
    service(&mut to, contract, versions);
    to.into_text()
}

fn definitions(to: &mut Markup, contract: &Contract, style: Style, versions: &[Version]) {
    let namespace = contract.namespace();
    let prefixes: Vec<(String, &str)> = versions
        .iter()
        .map(|v| (format!("xmlns:{}", v.prefix), v.namespace))
        .collect();
    let mut attributes = vec![("name", contract.service.as_str()), ("xmlns:wsdl", WSDL)];
    attributes.extend(prefixes.iter().map(|(name, value)| (name.as_str(), *value)));
    attributes.push(("xmlns:xsd", "http://www.w3.org/2001/XMLSchema"));
    if style == Style::Encoded {
        attributes.push(("xmlns:SOAP-ENC", xsd::SOAP_ENCODING));
    }
    attributes.extend([
        ("xmlns:tns", namespace.as_str()),
        ("targetNamespace", &namespace),
    ]);
    to.start("wsdl:definitions", &attributes);
}

fn message(to: &mut Markup, contract: &Contract, style: Style, name: &str, message: &str) {
    let fields = &contract.message(message).fields;
    if style == Style::Document {
        to.start("wsdl:message", &[("name", name)]);
        let element = format!("tns:{message}");
        to.empty("wsdl:part", &[("name", "body"), ("element", &element)]);
        return to.end();
    }
    if fields.is_empty() {
        return to.empty("wsdl:message", &[("name", name)]);
    }
    to.start("wsdl:message", &[("name", name)]);
    for field in fields {
        let of = xsd::part_type(field, style);
        to.empty("wsdl:part", &[("name", &field.name), ("type", &of)]);
    }
    to.end();
}

fn port_type(to: &mut Markup, contract: &Contract) {
    to.start("wsdl:portType", &[("name", &contract.service)]);
    for operation in &contract.operations {
        to.start("wsdl:operation", &[("name", &operation.lower())]);
        to.text("wsdl:documentation", &operation.doc);
        to.empty(
            "wsdl:input",
            &[("message", &format!("tns:{}Input", operation.name))],
        );
        to.empty(
            "wsdl:output",
            &[("message", &format!("tns:{}Output", operation.name))],
        );
        to.end();
    }
    to.end();
}

fn write_binding(to: &mut Markup, contract: &Contract, style: Style, version: &Version) {
    let name = format!("{}{}", contract.service, version.suffix);
    let port_type = format!("tns:{}", contract.service);
    to.start("wsdl:binding", &[("name", &name), ("type", &port_type)]);
    let kind = if style == Style::Document {
        "document"
    } else {
        "rpc"
    };
    let extension = format!("{}:binding", version.prefix);
    to.empty(&extension, &[("style", kind), ("transport", HTTP)]);
    for operation in &contract.operations {
        write_operation(to, contract, operation, style, version);
    }
    to.end();
}

fn write_operation(
    to: &mut Markup,
    contract: &Contract,
    operation: &Operation,
    style: Style,
    version: &Version,
) {
    let namespace = contract.namespace();
    let action = format!("{namespace}#{}", operation.name);
    // With rpc the namespace is the wrapper's; the encoded wrapper has none.
    let body: &[(&str, &str)] = match style {
        Style::Document => &[("use", "literal")],
        Style::Rpc => &[("use", "literal"), ("namespace", &namespace)],
        Style::Encoded => &[("use", "encoded"), ("encodingStyle", xsd::SOAP_ENCODING)],
    };
    to.start("wsdl:operation", &[("name", &operation.lower())]);
    to.empty(
        &format!("{}:operation", version.prefix),
        &[("soapAction", &action)],
    );
    for end in ["wsdl:input", "wsdl:output"] {
        to.start(end, &[]);
        to.empty(&format!("{}:body", version.prefix), body);
        to.end();
    }
    to.end();
}

fn service(to: &mut Markup, contract: &Contract, versions: &[Version]) {
    to.start(
        "wsdl:service",
        &[("name", &format!("{}Service", contract.service))],
    );
    to.text("wsdl:documentation", &contract.service_doc);
    let location = format!("http://127.0.0.1/{}/soap", contract.name);
    for version in versions {
        let port = format!("{}{}", contract.service, version.suffix);
        let binding = format!("tns:{port}");
        to.start("wsdl:port", &[("name", &port), ("binding", &binding)]);
        to.empty(
            &format!("{}:address", version.prefix),
            &[("location", &location)],
        );
        to.end();
    }
    to.end();
}
