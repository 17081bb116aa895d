"""Prepared requests of a user-defined service, each with what makes its reply right."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import msgspec
from pydantic import ValidationError

from wirelab.experiment.expect import Expect
from wirelab.experiment.fields import Json
from wirelab.format.untrusted import read_bounded

BYTES_MAX = 64 * 1024 * 1024
"""Of the file."""
COUNT_MAX = 1_000
"""Requests in a file, for each is a part of a mix."""
REQUEST = "request"
"""Message name for services that declare their own request, under which its calls are recorded."""


class PreparedRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the file: a body as base64, and what its reply must be."""

    body: bytes
    expect: msgspec.Raw = msgspec.Raw(b"")
    """As in an experiment file; empty: nothing is known."""

    @property
    def expectation(self) -> Expect | None:
        """What its reply must be; None: nothing is known. Raises :class:`BadRequestList`."""
        if not bytes(self.expect):
            return None
        try:
            return Expect.model_validate_json(bytes(self.expect))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, ("expect", *first["loc"])))
            raise BadRequestList(f"requests: {place}: {first['msg']}") from error

    def workload(self, alone: Json) -> Json:
        """The object ``workload`` of its calls, made of that of a call without it."""
        made = {**alone, "name": REQUEST, "body_base64": base64.b64encode(self.body).decode()}
        if self.expectation is None:
            return made
        return {k: v for k, v in made.items() if k != "count_replies"} | {
            "expect": self.expectation.plan
        }


class BadRequestList(ValueError):
    """The file does not contain requests; the message names the line."""


def read(file: Path) -> tuple[PreparedRequest, ...]:
    """The requests of a file of JSON lines. Raises :class:`OSError` and
    :class:`BadRequestList`."""
    try:
        lines = read_bounded(file, BYTES_MAX).splitlines()
    except ValueError as error:
        raise BadRequestList(f"requests: {error}") from error
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(msgspec.json.decode(line, type=PreparedRequest))
        except msgspec.DecodeError as error:
            raise BadRequestList(f"requests: {file}, line {number}: {error}") from error
    if not 1 <= len(found) <= COUNT_MAX:
        raise BadRequestList(f"requests: {file} has {len(found):,} lines: write 1 to {COUNT_MAX:,}")
    return tuple(found)


def digest(file: Path) -> str:
    """SHA-256 of the file. Raises :class:`OSError`."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def mix(prepared: tuple[PreparedRequest, ...], alone: Json, seed: int) -> Json:
    """The object ``workload`` of calls that take one of the requests at random."""
    parts = [{"weight": 1.0, "workload": one.workload(alone)} for one in prepared]
    return {"kind": "mix", "parts": parts, "seed": seed}
