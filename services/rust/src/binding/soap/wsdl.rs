//! The contracts' descriptions in WSDL 1.1, as committed.

use wirelab_contract::Contract;

use wirelab_stack::Codec;

/// The address that the committed descriptions name.
const PLACEHOLDER: &str = "location=\"http://127.0.0.1/";

/// A description whose address is `scheme` and `host`; the committed address
/// stays where `host` is none.
pub(crate) fn describe(
    contract: Contract,
    codec: Codec,
    scheme: &str,
    host: Option<&str>,
) -> String {
    let committed = read_committed(contract, codec);
    match host.filter(|host| is_host(host)) {
        Some(host) => committed.replace(PLACEHOLDER, &format!("location=\"{scheme}://{host}/")),
        None => committed.to_owned(),
    }
}

/// Whether a text is a host and port, and nothing that XML would have to escape.
fn is_host(text: &str) -> bool {
    // The field comes from the client and goes into XML: anything else keeps the committed
    // address.
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b".:-_[]".contains(&byte);
    !text.is_empty() && text.bytes().all(legal)
}

fn read_committed(contract: Contract, codec: Codec) -> &'static str {
    macro_rules! wsdl {
        ($name:literal) => {
            include_str!(concat!("../../../../../contracts/wsdl/", $name, ".wsdl"))
        };
    }
    match (contract, codec) {
        (Contract::Transfer, Codec::SoapRpc) => wsdl!("transfer-rpc"),
        (Contract::Transfer, Codec::SoapEncoded) => wsdl!("transfer-encoded"),
        (Contract::Transfer, _) => wsdl!("transfer"),
        (Contract::Charging, Codec::SoapRpc) => wsdl!("charging-rpc"),
        (Contract::Charging, Codec::SoapEncoded) => wsdl!("charging-encoded"),
        (Contract::Charging, _) => wsdl!("charging"),
        (Contract::Calendar, Codec::SoapRpc) => wsdl!("calendar-rpc"),
        (Contract::Calendar, Codec::SoapEncoded) => wsdl!("calendar-encoded"),
        (Contract::Calendar, _) => wsdl!("calendar"),
        (Contract::Records, Codec::SoapRpc) => wsdl!("records-rpc"),
        (Contract::Records, Codec::SoapEncoded) => wsdl!("records-encoded"),
        (Contract::Records, _) => wsdl!("records"),
        (Contract::Petclinic | Contract::Stream, _) => {
            unreachable!("{contract} is not offered over SOAP")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_description_names_the_address_at_which_it_was_asked_for() {
        for contract in Contract::ALL
            .into_iter()
            .filter(|one| !one.is_json_and_protobuf_only())
        {
            for codec in [Codec::SoapLiteral, Codec::SoapRpc, Codec::SoapEncoded] {
                let text = describe(contract, codec, "https", Some("[::1]:8080"));
                let address = format!("location=\"https://[::1]:8080/{contract}/soap\"");
                assert!(text.contains(&address), "{contract} {codec:?}");
                assert!(!text.contains(PLACEHOLDER));
                assert_eq!(
                    text.contains("style=\"document\""),
                    codec == Codec::SoapLiteral
                );
            }
        }
        let hostile = describe(
            Contract::Charging,
            Codec::SoapRpc,
            "http",
            Some("\"><a b=\""),
        );
        assert!(hostile.contains(PLACEHOLDER));
    }
}
