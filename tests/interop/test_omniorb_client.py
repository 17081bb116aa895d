"""omniORB calls our IIOP services with stubs made from the committed IDL."""

from __future__ import annotations

import base64
import hashlib
from contextlib import nullcontext

import pytest

from tests.interop import golden, omniorb
from tests.interop.golden import Json
from tests.interop.hosting import Host
from tests.interop.omniorb import OmniClient

LANGUAGES = ("rust", "java")
LARGE_BYTES = 3_000_000
CALLS = 1_000


@pytest.fixture(autouse=True)
def _omniorb() -> None:
    omniorb.require()


@pytest.mark.parametrize("language", LANGUAGES)
def test_golden_operations(host: Host, language: str) -> None:
    """Good calls, user exceptions with their texts, Unicode, 64-bit numbers, megabytes."""
    with host.start(f"iiop@{language}") as hosted:
        client = OmniClient(hosted)
        assert client.is_a()
        for case in golden.operations("Submit", "Upload"):
            golden.play_operation(client, case)
        hello = base64.b64encode(b"Hello, wirelab").decode()
        assert client.call("Hello", {}) == {"text": "Hello, wirelab"}
        assert client.call("HelloBytes", {}) == {"text": hello}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("contract", ["charging", "calendar"])
def test_golden_scripts(host: Host, language: str, contract: str) -> None:
    """Sequences of calls, numbers of replies carried into requests."""
    golden.play_scripts(
        host, f"iiop@{language}", contract, lambda hosted: nullcontext(OmniClient(hosted))
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_large_message_each_way(host: Host, language: str) -> None:
    """3 MB of octets in a request, of text in a reply."""
    data = golden.pattern(LARGE_BYTES)
    digest: Json = {"length": LARGE_BYTES, "sha256": hashlib.sha256(data).hexdigest()}
    with host.start(f"iiop@{language}", hello_bytes=LARGE_BYTES) as hosted:
        client = OmniClient(hosted)
        assert client.call("Upload", {"data": base64.b64encode(data).decode()}) == digest
        assert client.call("Hello", {}) == {"text": golden.text(LARGE_BYTES)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_thousand_calls_on_one_connection(host: Host, language: str) -> None:
    """The ORB keeps its connection, and the service lets it."""
    with host.start(f"iiop@{language}", "charging") as hosted:
        client = OmniClient(hosted)
        before = hosted.connections(), hosted.calls()
        for _ in range(CALLS):
            reply = client.call("CreditControl", {"id": 7})
            assert reply == {"balance": 1_000_000_000, "reserved": 0}
        assert (hosted.connections() - before[0], hosted.calls() - before[1]) == (1, CALLS)
