"""Which messages of a connection of the library websockets come compressed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from websockets.extensions import Extension
from websockets.extensions.permessage_deflate import (
    PerMessageDeflate,
    ServerPerMessageDeflateFactory,
)
from websockets.frames import Frame
from websockets.protocol import Protocol
from websockets.typing import ExtensionParameter

MESSAGES = (1, 2)
"""Opcodes of frames that begin a message."""


def record_compressed(protocol: Protocol) -> list[bool]:
    """Of each message that comes from now on: whether it is compressed. Empty without an agreed
    extension."""
    seen: list[bool] = []
    for extension in protocol.extensions:
        _record(extension, seen)
    return seen


class RecordingFactory(ServerPerMessageDeflateFactory):
    """Agrees to permessage-deflate, and records the same of every connection in ``seen``."""

    def __init__(self, seen: list[bool], **options: Any) -> None:
        super().__init__(**options)
        self.seen = seen

    def process_request_params(
        self, params: Sequence[ExtensionParameter], accepted_extensions: Sequence[Extension]
    ) -> tuple[list[ExtensionParameter], PerMessageDeflate]:
        """As the library's own, which makes the extension of a connection."""
        answer, extension = super().process_request_params(params, accepted_extensions)
        _record(extension, self.seen)
        return answer, extension


def _record(extension: Extension, seen: list[bool]) -> None:
    decode = extension.decode

    def decode_recorded(frame: Frame, *, max_size: int | None = None) -> Frame:
        # Before the library decompresses it, which clears the bit.
        if frame.opcode in MESSAGES:
            seen.append(frame.rsv1)
        return decode(frame, max_size=max_size)

    extension.decode = decode_recorded  # type: ignore[method-assign]
