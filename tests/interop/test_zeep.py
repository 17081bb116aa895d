"""zeep calls our SOAP services by the committed WSDLs, in every style and version."""

from __future__ import annotations

import base64
import hashlib
from contextlib import nullcontext

import pytest

from tests.interop import golden
from tests.interop.golden import Json
from tests.interop.hosting import Host
from tests.interop.zeep_client import ZeepClient, read, wsdl
from tools.stack_table import offers
from wirelab.stack import manifests

LARGE_BYTES = 1_500_000
CALLS = 1_000
RECORDS_MAX = 1_000
"""zeep takes a minute for the golden call of 100,000 records."""

STACKS = [
    f"soap@{offer.language}?codec={offer.codec}&soap={version}"
    for offer in offers(manifests.load())
    if offer.served.binding == "soap"
    for version in offer.served.soap
    # Section 5 is of SOAP 1.1: no service offers it with 1.2.
    if offer.codec != "soap-encoded" or version == "1.1"
]
FLAT = [stack for stack in STACKS if "encoded" not in stack]
"""zeep does not write arrays of SOAP 1.1 section 5, so these carry the lists."""
COVERED = {
    f"soap@{language}?codec={codec}&soap={version}"
    for language, codec, version in (
        ("rust", "soap-literal", "1.2"),
        ("rust", "soap-rpc", "1.1"),
        ("go", "soap-literal", "1.1"),
        ("go", "soap-rpc", "1.2"),
        ("java", "soap-literal", "1.2"),
        ("java", "soap-rpc", "1.2"),
    )
}
"""A version changes nothing of a connection, and zeep's thousand calls take 5 s."""


@pytest.mark.parametrize("codec", ["soap-literal", "soap-rpc", "soap-encoded"])
@pytest.mark.parametrize("contract", ["transfer", "charging", "calendar"])
def test_every_wsdl_is_read(contract: str, codec: str) -> None:
    """Each names its operations on each of its ports."""
    client = read(wsdl(contract, codec))
    ports = next(iter(client.wsdl.services.values())).ports.values()
    assert len(ports) == (1 if codec == "soap-encoded" else 2)
    counts = {"transfer": 4, "charging": 7, "calendar": 3}
    assert {len(port.binding.all()) for port in ports} == {counts[contract]}


@pytest.mark.parametrize("reference", FLAT)
def test_golden_operations(host: Host, reference: str) -> None:
    """Good calls and application errors of ``transfer``, 64-bit numbers and Unicode."""
    with host.start(reference) as hosted:
        client = ZeepClient(hosted)
        for case in golden.operations("Submit", "Upload"):
            if case.get("records_repeated", 0) <= RECORDS_MAX:
                golden.play_operation(client, case)


@pytest.mark.parametrize("reference", STACKS)
def test_golden_scripts_of_charging(host: Host, reference: str) -> None:
    """The functions of the study, and every fault's text."""
    golden.play_scripts(host, reference, "charging", lambda hosted: nullcontext(ZeepClient(hosted)))


@pytest.mark.parametrize("reference", FLAT)
def test_golden_scripts_of_calendar(host: Host, reference: str) -> None:
    """Documents, booleans, doubles and lists."""
    golden.play_scripts(host, reference, "calendar", lambda hosted: nullcontext(ZeepClient(hosted)))


@pytest.mark.parametrize("reference", STACKS)
def test_a_large_message_each_way(host: Host, reference: str) -> None:
    """1.5 MB of base64 in a request, of text in a reply."""
    data = golden.pattern(LARGE_BYTES)
    digest: Json = {"length": LARGE_BYTES, "sha256": hashlib.sha256(data).hexdigest()}
    with host.start(reference, hello_bytes=LARGE_BYTES) as hosted:
        client = ZeepClient(hosted)
        assert client.call("Upload", {"data": base64.b64encode(data).decode()}) == digest
        assert client.call("Hello", {}) == {"text": golden.text(LARGE_BYTES)}


@pytest.mark.parametrize("reference", [stack for stack in STACKS if stack not in COVERED])
def test_a_thousand_calls_on_one_connection(host: Host, reference: str) -> None:
    """The session keeps its connection, and the service lets it."""
    with host.start(reference, "charging") as hosted:
        client = ZeepClient(hosted)
        before = hosted.connections(), hosted.calls()
        for _ in range(CALLS):
            assert client.call("CreditControl", {"id": 7}) == {
                "balance": 1_000_000_000,
                "reserved": 0,
            }
        assert (hosted.connections() - before[0], hosted.calls() - before[1]) == (1, CALLS)
