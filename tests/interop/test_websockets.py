"""The client of the library websockets takes streams of our services, compressed where it offers
permessage-deflate (RFC 7692)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory
from websockets.sync.client import ClientConnection, connect

from tests.interop.hosting import Host
from tests.python.compressed_frames import record_compressed

Json = dict[str, Any]
LANGUAGES = ("go", "java")
TOO_BIG = 1009
"""A status of RFC 6455 section 7.4.1."""
TEXT = "a text that repeats itself, " * 200


def _chat(client: ClientConnection, texts: list[str]) -> list[str]:
    """The answers to items with these texts, one at a time."""
    answers = []
    for index, text in enumerate(texts):
        client.send(json.dumps({"index": index, "text": text}))
        answer = json.loads(client.recv(10))
        assert answer.get("index", 0) == index
        answers.append(answer["text"])
    client.send("")
    assert client.recv(10) == ""
    return answers


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"server_no_context_takeover": True},
        {"client_no_context_takeover": True},
        {"server_no_context_takeover": True, "client_no_context_takeover": True},
    ],
    ids=["defaults", "server forgets", "client forgets", "both forget"],
)
@pytest.mark.parametrize("language", LANGUAGES)
def test_chats_are_compressed_in_both_directions(
    host: Host, language: str, parameters: Json
) -> None:
    texts = [f"{number} {TEXT}" for number in range(20)]
    offer = ClientPerMessageDeflateFactory(**parameters)
    with host.start(f"websocket@{language}?compression=permessage-deflate", "stream") as hosted:
        address = f"ws://{hosted.address}/stream/chat"
        with connect(address, compression=None, extensions=[offer]) as client:
            assert client.response is not None
            agreed = client.response.headers["Sec-WebSocket-Extensions"]
            for name in parameters:
                assert name in agreed
            seen = record_compressed(client.protocol)
            # Streams follow each other on a connection, and share its window.
            for _ in range(3):
                assert _chat(client, texts) == texts
            # The ends of streams are empty, and libraries leave them as they are.
            assert sum(seen) == 3 * len(texts)
        assert hosted.errors() == 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_client_that_offers_nothing_gets_plain_messages(host: Host, language: str) -> None:
    with (
        host.start(f"websocket@{language}?compression=permessage-deflate", "stream") as hosted,
        connect(f"ws://{hosted.address}/stream/chat", compression=None) as client,
    ):
        assert client.protocol.extensions == []
        assert _chat(client, [TEXT]) == [TEXT]


@pytest.mark.parametrize("language", ["rust", *LANGUAGES])
def test_a_service_without_compression_declines(host: Host, language: str) -> None:
    with (
        host.start(f"websocket@{language}", "stream") as hosted,
        connect(f"ws://{hosted.address}/stream/chat", compression="deflate") as client,
    ):
        assert client.protocol.extensions == []
        assert _chat(client, [TEXT]) == [TEXT]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_bomb_is_refused_by_its_length_decompressed(host: Host, language: str) -> None:
    with (
        host.start(f"websocket@{language}?compression=permessage-deflate", "stream") as hosted,
        connect(f"ws://{hosted.address}/stream/chat", compression="deflate") as client,
    ):
        # About 30 kB on the wire.
        client.send(" " * (30 << 20))
        with pytest.raises(ConnectionClosed) as end:
            client.recv(10)
        assert end.value.rcvd is not None
        assert end.value.rcvd.code == TOO_BIG
