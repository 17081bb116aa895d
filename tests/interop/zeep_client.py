"""zeep, a SOAP client for Python, on the committed WSDLs."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import requests
import zeep

from tests.interop import protobuf
from tests.interop.golden import CONTRACTS, Refused
from tests.interop.hosting import Hosted

Json = dict[str, Any]
SECONDS_MAX = 60
"""A bound against hanging, for one call."""
WSDL_OF_CODEC = {"soap-literal": "", "soap-rpc": "-rpc", "soap-encoded": "-encoded"}
REFUSALS = ("Client", "Sender")


def wsdl(contract: str, codec: str) -> Path:
    """The committed description of a contract in a style of SOAP."""
    return CONTRACTS / "wsdl" / f"{contract}{WSDL_OF_CODEC[codec]}.wsdl"


SECTION_5 = "http://schemas.xmlsoap.org/soap/encoding/"
ARRAYS = f"""<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema" targetNamespace="{SECTION_5}">
  <xsd:attribute name="arrayType" type="xsd:string"/>
  <xsd:complexType name="Array"><xsd:sequence>
    <xsd:any minOccurs="0" maxOccurs="unbounded" processContents="lax"/>
  </xsd:sequence></xsd:complexType>
</xsd:schema>"""
"""Enough of that namespace's schema for a WSDL that restricts its arrays."""


class _Transport(zeep.Transport):  # type: ignore[misc]
    """Never leaves this machine for a schema."""

    def load(self, url: str) -> Any:
        return ARRAYS.encode() if url == SECTION_5 else super().load(url)


def read(source: Path | str, session: requests.Session | None = None) -> Any:
    """zeep's client of a WSDL, in a file or at an address."""
    transport = _Transport(session=session, operation_timeout=SECONDS_MAX)
    return zeep.Client(str(source), transport=transport, settings=zeep.Settings(xml_huge_tree=True))


class ZeepClient:
    """One session of requests, so one connection. ``source`` is a WSDL in place of the committed
    one."""

    def __init__(self, hosted: Hosted, source: str | None = None) -> None:
        axes = hosted.stack.axes
        self._contract, self._codec = hosted.contract, axes.codec
        session = requests.Session()
        session.trust_env = False
        self._client = read(source or wsdl(self._contract, self._codec), session)
        port = f"{self._contract.capitalize()}Soap{axes.soap.replace('.', '')}"
        self._service = self._client.create_service(
            f"{{urn:wirelab:{self._contract}:v1}}{port}",
            f"http://{hosted.address}/{self._contract}/soap",
        )

    def call(self, operation: str, request: Json) -> Json:
        """See :class:`~tests.interop.golden.Client`."""
        requested = "Hello" if operation == "HelloBytes" else operation
        sent = self._convert_outgoing(
            protobuf.descriptor(self._contract, f"{requested}Request"), request
        )
        method = self._service[operation[0].lower() + operation[1:]]
        try:
            reply = method(**sent)
        except zeep.exceptions.Fault as fault:
            if str(fault.code).rpartition(":")[2] not in REFUSALS:
                raise
            raise Refused(fault.message) from fault
        descriptor = protobuf.descriptor(self._contract, f"{operation}Reply")
        if len(descriptor.fields) == 1:  # zeep unwraps those
            reply = {descriptor.fields[0].name: reply}
        return _convert_incoming(descriptor, reply)

    def _convert_outgoing(self, descriptor: Any, value: Json) -> Json:
        """What zeep is given: bytes as they are, every field, lists in their wrappers."""
        sent: Json = {}
        for field in descriptor.fields:
            given = value.get(field.name, [] if field.is_repeated else field.default_value)
            if field.is_repeated:
                items = [self._convert_outgoing(field.message_type, item) for item in given]
                sent[field.name] = items if self._codec == "soap-literal" else {"item": items}
            elif field.type == field.TYPE_BYTES:
                sent[field.name] = base64.b64decode(given)
            else:
                sent[field.name] = given
        return sent


def _convert_incoming(descriptor: Any, value: Any) -> Json:
    """The reverse of zeep's own mapping: an empty text is its None."""
    read: Json = {}
    for field in descriptor.fields:
        found = value[field.name]
        if field.is_repeated:
            read[field.name] = [
                _convert_incoming(field.message_type, item) for item in _items(found)
            ]
        elif field.type == field.TYPE_BYTES:
            read[field.name] = base64.b64encode(found or b"").decode()
        else:
            read[field.name] = "" if found is None and field.type == field.TYPE_STRING else found
    return read


def _items(found: Any) -> list[Any]:
    if found is None or isinstance(found, list):
        return found or []
    return found["item"] or []
