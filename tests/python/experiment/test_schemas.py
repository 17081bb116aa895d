"""The derived schemas, read by programs that are not ours: zeep, libxml2, omniidl, a
validator of OpenAPI. That they are fresh is a test of the engine, which makes them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import openapi_spec_validator
import pytest
import zeep
import zeep.transports
from lxml import etree

CONTRACTS = Path(__file__).resolve().parents[3] / "contracts"
NAMES = ("transfer", "charging", "calendar", "records")
ENCODING = "http://schemas.xmlsoap.org/soap/encoding/"
SOAP_ENCODING = f"""
<schema xmlns="http://www.w3.org/2001/XMLSchema" xmlns:tns="{ENCODING}"
    targetNamespace="{ENCODING}">
  <attribute name="arrayType" type="string"/>
  <complexType name="Array">
    <sequence>
      <any namespace="##any" minOccurs="0" maxOccurs="unbounded" processContents="lax"/>
    </sequence>
    <attribute ref="tns:arrayType"/>
  </complexType>
</schema>
"""
"""As much of SOAP 1.1's encoding schema as arrays need; zeep would fetch it."""

RECORDS = [{"id": 2**62, "quantity": 3, "item": "bolt <&>", "remark": ""}]
ENTRY = {
    "owner": "Åsa",
    "day": 364,
    "slot": 0,
    "title": "tea",
    "open": True,
    "weight": 0.1,
    "note": "",
}
CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("transfer", "hello", {}),
    ("transfer", "submit", {"batch": "b", "records": RECORDS * 2}),
    ("transfer", "submit", {"batch": "b", "records": []}),
    ("transfer", "upload", {"data": b"\x00\xff"}),
    ("charging", "directDebit", {"id": 1, "am": 438}),
    ("charging", "releaseRes", {"res": 2**31 - 1}),
    ("calendar", "book", ENTRY),
    ("records", "allocate", {"name": "Zoë", "id": 113_517, "courseCode": "<CS>"}),
    ("records", "countAllocations", {}),
]


class Offline(zeep.transports.Transport):  # type: ignore[misc]
    """Files of this checkout, and no network."""

    def load(self, url: str) -> bytes:
        """The document at a path. Raises :class:`AssertionError` for any other address."""
        if url == ENCODING:
            return SOAP_ENCODING.encode()
        assert "://" not in url, f"{url} would be fetched"
        return Path(url).read_bytes()


def _client(contract: str, style: str = "") -> zeep.Client:
    path = CONTRACTS / "wsdl" / f"{contract}{style}.wsdl"
    return zeep.Client(str(path), transport=Offline())


def _schema(contract: str, style: str = "") -> etree.XMLSchema:
    return etree.XMLSchema(etree.parse(str(CONTRACTS / "xsd" / f"{contract}{style}.xsd")))


def _operations(contract: str) -> set[str]:
    """Unary operations of the .proto with a lower-case first letter."""
    source = (CONTRACTS / f"{contract}.proto").read_text(encoding="utf-8")
    found = re.findall(r"rpc (\w+)\((\w+)\) returns \((\w+)\)", source)
    return {name[0].lower() + name[1:] for name, _, _ in found}


@pytest.mark.parametrize("contract", NAMES)
@pytest.mark.parametrize("style", ["", "-rpc", "-encoded"])
def test_a_soap_client_finds_every_operation_in_every_version(contract: str, style: str) -> None:
    services = _client(contract, style).wsdl.services
    (service,) = services.values()
    versions = {"Soap11"} if style == "-encoded" else {"Soap11", "Soap12"}
    assert set(service.ports) == {contract.capitalize() + version for version in versions}
    for port in service.ports.values():
        assert set(port.binding._operations) == _operations(contract)
        assert port.binding_options["address"] == f"http://127.0.0.1/{contract}/soap"


@pytest.mark.parametrize(("contract", "operation", "fields"), CALLS)
def test_requests_of_a_soap_client_are_valid(
    contract: str, operation: str, fields: dict[str, Any]
) -> None:
    body = _write_message(_client(contract), operation, fields)
    _schema(contract).assertValid(body)
    assert body.tag == f"{{urn:wirelab:{contract}:v1}}{_upper(operation)}Request"


@pytest.mark.parametrize(("contract", "operation", "fields"), CALLS)
def test_requests_of_an_rpc_client_are_valid(
    contract: str, operation: str, fields: dict[str, Any]
) -> None:
    parts = {
        name: {"item": value} if isinstance(value, list) else value
        for name, value in fields.items()
    }
    body = _write_message(_client(contract, "-rpc"), operation, parts)
    _schema(contract, "-rpc").assertValid(body)
    assert body.tag == f"{{urn:wirelab:{contract}:v1}}{operation}"
    assert [child.tag for child in body] == list(fields)


def test_an_encoded_call_has_no_namespace() -> None:
    body = _write_message(_client("charging", "-encoded"), "directDebit", {"id": 1, "am": 438})
    assert body.tag == "directDebit"
    assert [(child.tag, child.text) for child in body] == [("id", "1"), ("am", "438")]


def test_the_schema_accepts_right_documents_and_refuses_wrong_ones() -> None:
    schema = _schema("charging")
    for text, is_valid in (
        ("<ReserveReply {ns}><res>1</res><cn>2</cn></ReserveReply>", True),
        ("<Error {ns}><error>no such account</error></Error>", True),
        ("<ReserveReply {ns}><cn>2</cn><res>1</res></ReserveReply>", False),
        ("<ReserveReply {ns}><res>1</res></ReserveReply>", False),
        ("<ReserveReply {ns}><res>x</res><cn>2</cn></ReserveReply>", False),
        ("<ReserveReply {ns}><res>2147483648</res><cn>2</cn></ReserveReply>", False),
        ("<ReserveReply><res>1</res><cn>2</cn></ReserveReply>", False),
    ):
        document = etree.fromstring(text.format(ns='xmlns="urn:wirelab:charging:v1"'))
        assert schema.validate(document) == is_valid, text


@pytest.mark.parametrize("contract", NAMES)
def test_openapi_is_valid_and_has_every_operation(contract: str) -> None:
    document = _openapi(contract)
    openapi_spec_validator.validate(document)
    calls = [call for path in document["paths"].values() for call in path.values()]
    assert {call["operationId"] for call in calls} == _operations(contract)


def test_openapi_takes_the_golden_messages() -> None:
    schemas = _openapi("transfer")["components"]["schemas"]
    vectors = json.loads((CONTRACTS / "vectors" / "messages.json").read_text(encoding="utf-8"))
    known = [each for each in vectors["accepted"] if each["message"] in schemas]
    assert {each["message"] for each in known} >= {"HelloReply", "SubmitRequest", "SubmitReply"}
    for each in known:
        schema = {"$ref": f"#/components/schemas/{each['message']}", "components": {}}
        schema["components"] = {"schemas": schemas}
        jsonschema.Draft4Validator(schema).validate(json.loads(each["json"]))


@pytest.mark.parametrize("contract", NAMES)
def test_omniidl_compiles_the_idl_without_output(contract: str, tmp_path: Path) -> None:
    omniidl = shutil.which("omniidl")
    if omniidl is None:
        pytest.skip("omniidl is not installed (Debian: omniidl)")
    idl = CONTRACTS / "idl" / f"{contract}.idl"
    done = subprocess.run(
        [omniidl, "-bcxx", f"-C{tmp_path}", str(idl)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    stubs = (tmp_path / f"{contract}.hh").read_text(encoding="utf-8")
    assert f"IDL:wirelab/{contract}_v1/{contract.capitalize()}:1.0" in (
        stubs + (tmp_path / f"{contract}SK.cc").read_text(encoding="utf-8")
    )


def _openapi(contract: str) -> dict[str, Any]:
    text = (CONTRACTS / "openapi" / f"{contract}.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def _write_message(client: zeep.Client, operation: str, fields: dict[str, Any]) -> etree._Element:
    envelope = client.create_message(client.service, operation, **fields)
    (body,) = envelope.findall("{http://schemas.xmlsoap.org/soap/envelope/}Body")
    (content,) = body
    # Apart from the envelope, as a receiver hands it to a validator.
    return etree.fromstring(etree.tostring(content))


def _upper(operation: str) -> str:
    return operation[0].upper() + operation[1:]
