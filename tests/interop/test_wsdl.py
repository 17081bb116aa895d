"""Every SOAP service answers ``GET ?wsdl`` with the contract's WSDL, which zeep calls it by."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest
import requests

from tests.interop.hosting import Host
from tests.interop.zeep_client import ZeepClient, read, wsdl
from tools.stack_table import offers
from wirelab.stack import manifests

STACKS = [
    f"soap@{offer.language}?codec={offer.codec}"
    for offer in offers(manifests.load())
    if offer.served.binding == "soap"
]
CODECS = ("soap-literal", "soap-rpc", "soap-encoded")
PLACEHOLDER = "http://127.0.0.1/"
"""The address that the committed files name."""


def describe(client: Any) -> dict[str, list[str]]:
    """What zeep reads of a description: messages, types and operations, without addresses."""
    schema = client.wsdl.types
    bindings = client.wsdl.bindings.values()
    return {
        "messages": sorted(map(repr, client.wsdl.messages)),
        "elements": sorted(element.signature(schema) for element in schema.elements),
        "types": sorted(each.signature(schema) for each in schema.types),
        "operations": sorted(
            f"{binding.name} {operation}, action {operation.soapaction}, {operation.style}"
            for binding in bindings
            for operation in binding.all().values()
        ),
    }


def read_addresses(client: Any) -> set[str]:
    """Those of every port."""
    return {
        port.binding_options["address"]
        for service in client.wsdl.services.values()
        for port in service.ports.values()
    }


def ask(url: str, method: str = "GET", **fields: str) -> requests.Response:
    """Around any proxy."""
    with requests.Session() as session:
        session.trust_env = False
        return session.request(method, url, headers=fields, timeout=10)


def test_each_codec_is_served_in_each_language_that_has_it() -> None:
    assert sorted(STACKS) == sorted(
        f"soap@{language}?codec={codec}"
        for language in ("go", "java", "rust")
        for codec in CODECS
        if (language, codec) != ("go", "soap-encoded")
    )


@pytest.mark.parametrize("contract", ["transfer", "charging", "calendar", "records"])
@pytest.mark.parametrize("reference", STACKS)
def test_the_description_is_the_contracts(host: Host, reference: str, contract: str) -> None:
    """In all languages the same document, except for the address at which it was asked for."""
    with host.start(reference, contract) as hosted:
        before = hosted.calls()
        url = f"http://{hosted.address}/{contract}/soap"
        committed = wsdl(contract, hosted.stack.axes.codec)
        for query in ("wsdl", "WSDL"):
            reply = ask(f"{url}?{query}")
            assert reply.status_code == 200
            assert reply.headers["content-type"].replace(" ", "") == "text/xml;charset=utf-8"
            expected = committed.read_text(encoding="utf-8").replace(
                f'"{PLACEHOLDER}', f'"http://{hosted.address}/'
            )
            assert reply.content.decode() == expected
        client = read(f"{url}?wsdl")
        assert read_addresses(client) == {url}
        assert describe(client) == describe(read(committed))
        assert describe(client)["operations"]
        assert hosted.calls() == before


@pytest.mark.parametrize("reference", STACKS)
def test_calls_work_by_the_description_that_is_served(host: Host, reference: str) -> None:
    with host.start(reference, "charging") as hosted:
        client = ZeepClient(hosted, f"http://{hosted.address}/charging/soap?wsdl")
        reply = client.call("CreditControl", {"id": 7})
        assert reply == {"balance": 1_000_000_000, "reserved": 0}


@pytest.mark.parametrize("reference", STACKS)
def test_only_the_query_wsdl_is_answered(host: Host, reference: str) -> None:
    """Other queries, other methods and other paths are refused, as without a query."""
    with host.start(reference, "charging") as hosted:
        url = f"http://{hosted.address}/charging/soap"
        for query in ("", "?xsd", "?wsdl=1", "?wsdl&x"):
            refused = ask(url + query)
            assert (refused.status_code, refused.headers["allow"]) == (405, "GET, POST"), query
        assert ask(f"http://{hosted.address}/transfer/soap?wsdl").status_code == 404
        assert ask(f"{url}?wsdl", "HEAD").status_code == 405


@pytest.mark.parametrize("reference", STACKS)
def test_the_address_is_that_of_the_request(host: Host, reference: str) -> None:
    """By the name that the client used; anything but a host and port stays out of the XML."""
    with host.start(reference, "charging") as hosted:
        url = f"http://{hosted.address}/charging/soap?wsdl"
        named = ask(url, host="lab.example:81")
        assert named.text.count('location="http://lab.example:81/charging/soap"') > 0
        assert PLACEHOLDER not in named.text
        hostile = ask(url, host='x"/><a b="')
        assert hostile.status_code in (200, 400)
        assert "<a b=" not in hostile.text


@pytest.mark.parametrize("language", ["rust", "go", "java"])
def test_the_address_of_a_service_with_tls_is_of_https(host: Host, language: str) -> None:
    with host.start(f"soap@{language}?security=tls", "charging") as hosted:
        assert hosted.tls is not None
        with requests.Session() as session:
            session.trust_env = False
            session.verify = str(hosted.tls.of_client("tls")["ca"])
            client = read(f"https://{hosted.address}/charging/soap?wsdl", session)
        assert read_addresses(client) == {f"https://{hosted.address}/charging/soap"}


@pytest.mark.parametrize("language", ["rust", "go", "java"])
def test_the_address_over_http2_is_that_of_the_request(host: Host, language: str) -> None:
    """HTTP/2 has it in the target (``:authority``), in place of a header."""
    with host.start(f"soap@{language}?transport=http/2", "charging") as hosted:
        url = f"http://{hosted.address}/charging/soap"
        asked = ["curl", "--silent", "--noproxy", "*", "--http2-prior-knowledge", f"{url}?wsdl"]
        reply = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=10)
    assert f'location="{url}"' in reply.stdout
    assert f'"{PLACEHOLDER}' not in reply.stdout
