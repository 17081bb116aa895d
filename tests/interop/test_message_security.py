"""Services sign and encrypt messages as libxmlsec1 and OpenSSL do."""

from __future__ import annotations

import http.client
from collections.abc import Iterator

import pytest
import xmlsec
from lxml import etree

from tests.interop import signed_messages as messages
from tests.interop.hosting import Host, Hosted

STACK = "soap@java?caller=java&ws_security="
TEXT = b"Hello, wirelab"
VALUES = ("signature", "encryption", "signature-encryption")


@pytest.fixture(scope="module", params=VALUES)
def hosted(request: pytest.FixtureRequest, host: Host) -> Iterator[Hosted]:
    """A service of each kind."""
    with host.start(STACK + request.param) as service:
        yield service


def _post(hosted: Hosted, envelope: etree._Element) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(hosted.address, timeout=60)
    fields = {
        "Content-Type": "text/xml; charset=utf-8",
        "SOAPAction": '"urn:wirelab:transfer:v1#Hello"',
    }
    connection.request("POST", "/transfer/soap", etree.tostring(envelope), fields)
    reply = connection.getresponse()
    content = reply.read()
    connection.close()
    return reply.status, content


def _secure(hosted: Hosted, *, age_s: float = 0) -> etree._Element:
    """A request as the stack has it."""
    keys, value = messages.read_keys(hosted.keys), hosted.stack.value("ws_security")
    envelope = messages.parse(messages.ENVELOPE)
    if value.startswith("signature"):
        messages.sign(envelope, keys["caller"], age_s=age_s)
    if value.endswith("encryption"):
        messages.encrypt(envelope, keys["service"].certificate)
    return envelope


def test_replies_are_signed_and_encrypted(hosted: Hosted) -> None:
    keys, value = messages.read_keys(hosted.keys), hosted.stack.value("ws_security")
    status, content = _post(hosted, _secure(hosted))
    assert status == 200, content
    reply = messages.parse(content)
    if value.endswith("encryption"):
        assert TEXT not in content
        with pytest.raises(ValueError, match=r"[Dd]ecryption"):
            messages.decrypt(reply, keys["service"].private)
        reply = messages.decrypt(reply, keys["caller"].private)
    assert TEXT in etree.tostring(reply)
    if value.startswith("signature"):
        messages.verify(reply, keys["service"].certificate)
        with pytest.raises(xmlsec.Error):
            messages.verify(reply, keys["caller"].certificate)
        changed = etree.tostring(reply).replace(TEXT, b"Hello, WIRELAB")
        with pytest.raises(xmlsec.Error):
            messages.verify(messages.parse(changed), keys["service"].certificate)


def test_plain_and_old_requests_are_refused(hosted: Hosted) -> None:
    calls = hosted.calls()
    refused = [messages.parse(messages.ENVELOPE)]
    if hosted.stack.value("ws_security").startswith("signature"):
        refused.append(_secure(hosted, age_s=400))
    for envelope in refused:
        status, content = _post(hosted, envelope)
        assert status == 500
        assert b"<faultcode>soap:Client</faultcode>" in content
        assert TEXT not in content
    assert hosted.calls() == calls
