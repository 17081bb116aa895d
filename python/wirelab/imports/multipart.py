"""Forms with fields and files as content (RFC 7578)."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from wirelab.imports.left_out import PLACEHOLDER, text_without_secrets
from wirelab.secrets.finding import is_secret

if TYPE_CHECKING:
    from email.message import MIMEPart

SEED = 1
"""Of the boundary, so that the same form is the same content."""
KIND = "multipart/form-data"
_TYPES = {
    ".gif": "image/gif",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".htm": "text/html",
    ".html": "text/html",
    ".pdf": "application/pdf",
    ".xml": "application/xml",
}
"""As curl knows them."""


@dataclass(frozen=True)
class Part:
    """A field or a file."""

    name: str
    content: bytes
    filename: str | None = None
    content_type: str = ""
    headers: tuple[str, ...] = ()
    """Further ones, as lines."""
    has_backslashes: bool = False
    """Quotes in names are escaped by a backslash instead of ``%22``."""

    def head(self) -> str:
        """Its headers."""
        kind = self.content_type or ("" if self.filename is None else type_of(self.filename))
        disposition = f'Content-Disposition: form-data; name="{self._quote(self.name)}"'
        if self.filename is not None:
            disposition += f'; filename="{self._quote(self.filename)}"'
        kinds = [f"Content-Type: {kind}"] if kind else []
        return "\r\n".join((disposition, *kinds, *self.headers, "", ""))

    def _quote(self, text: str) -> str:
        if self.has_backslashes:
            return text.replace("\\", "\\\\").replace('"', '\\"')
        return text.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def type_of(filename: str) -> str:
    """By the end of its name."""
    return _TYPES.get(PurePath(filename).suffix.lower(), "application/octet-stream")


def replace_secrets(parts: Iterable[Part], found: list[str]) -> list[Part]:
    """The parts with each secret replaced; ``found`` gets the name of each."""
    return [_replace_secret(part, found) for part in parts]


def _replace_secret(part: Part, found: list[str]) -> Part:
    try:
        text = part.content.decode()
    except UnicodeDecodeError:
        return part
    if part.filename is None and text and is_secret(part.name, text):
        found.append(f"form field {part.name}")
        return replace(part, content=PLACEHOLDER.encode())
    cleaned = text_without_secrets(text, f"form field {part.name}", found)
    return replace(part, content=cleaned.encode())


def encode(parts: Sequence[Part], kind: str = KIND) -> tuple[str, bytes]:
    """The content type, and the content."""
    boundary = _boundary(parts)
    content = b"".join(
        f"--{boundary}\r\n{part.head()}".encode("utf-8", "surrogateescape") + part.content + b"\r\n"
        for part in parts
    )
    return f"{kind}; boundary={boundary}", content + f"--{boundary}--\r\n".encode()


def _boundary(parts: Sequence[Part]) -> str:
    """One that no part contains."""
    numbers = random.Random(SEED)
    while True:
        boundary = f"{'-' * 24}{numbers.getrandbits(64):016x}"
        if not any(boundary.encode() in part.content for part in parts):
            return boundary


def decode(content: bytes, content_type: str) -> list[Part]:
    """The parts of a form as it was sent. Raises :class:`ValueError`."""
    from email.parser import BytesParser
    from email.policy import HTTP

    head = f"Content-Type: {content_type}\r\n\r\n".encode()
    message = BytesParser(policy=HTTP).parsebytes(head + content)
    if not message.is_multipart():
        raise ValueError("it is not a form with parts")
    return [_of_message(part) for part in message.iter_parts()]


def _of_message(message: MIMEPart) -> Part:
    name = message.get_param("name", header="content-disposition")
    if not isinstance(name, str):
        raise ValueError("a part of it has no name")
    content = message.get_payload(decode=True)
    if not isinstance(content, bytes):
        raise ValueError("a part of it has parts")
    kind = message.get_content_type() if "content-type" in message else ""
    return Part(name, content, message.get_filename(), kind)
