"""What is called of a service of the lab: one operation or sequence, a mix, or steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.contracts import message_sizes
from wirelab.errors import UnitError, UsageError
from wirelab.format.units import format_bytes, parse_seconds
from wirelab.stack import operations
from wirelab.stack.operations import OPERATIONS, PATTERNS, SEQUENCES, Items, Message

if TYPE_CHECKING:
    from wirelab.experiment.messages import Message as ExperimentMessage

Json = dict[str, object]

HELLO = Message(operation="Hello", bytes=14)
"""The default request to a service."""
ROWS = 1_000
"""Random rows, where no number is given."""
NAME = "drive"
"""Of the mix or the steps; results of a drive do not show it."""


@dataclass(frozen=True)
class Request:
    """What is called, as a plan has it, and what a service has to know of it."""

    called: tuple[str, ...] = (HELLO.name,)
    """Operations and sequences in it, as :func:`operations.refusal` knows them."""
    contract: str = HELLO.contract
    hello_bytes: int = HELLO.bytes
    """Size of the text of Hello, which is configured when the service starts."""
    workload: Json = field(default_factory=HELLO.workload)

    @classmethod
    def of(cls, message: Message) -> Request:
        """One operation or sequence."""
        is_hello = message.name.startswith("Hello")
        size = message.bytes if is_hello else HELLO.bytes
        return cls((message.name,), message.contract, size, message.workload())


def items(count: int | None, gap: str | None, pattern: str | None) -> Items | None:
    """The items of Feed, Push and Chat; None where no option about them is given. Raises
    :class:`UsageError`."""
    if count is None and gap is None and pattern is None:
        return None
    default = Items()
    try:
        gap_us = default.gap_us if gap is None else round(parse_seconds(gap) * 1e6)
    except UnitError as error:
        raise UsageError(f"--item-gap: {error.message}", "write for example 10ms") from None
    return Items(count or default.count, gap_us, pattern or PATTERNS[0])


@dataclass(frozen=True)
class Data:
    """Options about rows whose columns replace fields of the request; "" and () where they were
    not given."""

    file: Path | None = None
    random: tuple[str, ...] = ()
    rows: int | None = None
    per: str | None = None

    def describe(self) -> Json | None:
        """As an experiment file has it; None without data. Raises :class:`UsageError`."""
        if self.file is None and not self.random:
            return None
        per = {"per": self.per or "call"}
        if self.file is not None:
            return {"file": str(self.file.absolute()), **per}
        fields = dict(_random_field(text) for text in self.random)
        return {"random": {"count": self.rows or ROWS, "fields": fields}, **per}


def single(
    operation: str | None, sequence: str | None, size: str | None, items: Items | None = None
) -> Message:
    """One operation, Hello by default, or one sequence. Raises :class:`UsageError`."""
    if operation is None and sequence is None:
        operation = HELLO.operation
    if size is None:
        size = _default_size(operation or "")
    chosen = 0 if size is None else _bytes("--size", operation or "", size)
    request = Message(operation, sequence, chosen, items=items)
    problem = (
        (operation and operations.unknown("operation", operation, OPERATIONS))
        or (sequence and operations.unknown("sequence", sequence, SEQUENCES))
        or operations.problem(request, has_size=size is not None)
    )
    if problem:
        raise UsageError(problem, "see --operation, --sequence and --size")
    return request


def with_data(message: Message, data: Json, seed: int) -> Request:
    """An operation whose requests differ. Raises :class:`UsageError`."""
    described: Json = {"operation": message.operation, "data": data}
    if OPERATIONS[str(message.operation)].is_sized:
        described["bytes"] = format_bytes(message.bytes)
    return _check_request("--data-file and --data-random", described, seed)


def mix(texts: Sequence[str], seed: int) -> Request:
    """``OPERATION[:SIZE][@WEIGHT]``, one of which each arrival is. Raises :class:`UsageError`."""
    return _check_request("--mix", {"name": NAME, "mix": list(map(_part, texts))}, seed)


def steps(texts: Sequence[str], data: Json | None, seed: int) -> Request:
    """``OPERATION[:SIZE][:FIELD=REPLY_FIELD[@STEP]]...``, in this order. Raises
    :class:`UsageError`."""
    described: Json = {"name": NAME, "steps": list(map(_step, texts))}
    return _check_request("--step", {**described, "data": data} if data else described, seed)


def _part(text: str) -> Json:
    called, _, weight = text.partition("@")
    name, _, size = called.partition(":")
    try:
        share = float(weight or 1.0)
    except ValueError:
        raise UsageError(
            f"--mix {text}: {weight!r} is not a weight",
            f"write a number behind the @, as in --mix {called}@3",
        ) from None
    return {**_call("--mix", text, name, size or None), "weight": share}


def _step(text: str) -> Json:
    name, *pieces = text.split(":")
    sizes = [piece for piece in pieces if "=" not in piece]
    if len(sizes) > 1:
        raise UsageError(
            f"--step {text} has two sizes, {sizes[0]!r} and {sizes[1]!r}",
            "write OPERATION:SIZE:FIELD=REPLY_FIELD, as in --step GetOwner:id=id",
        )
    carried = [_carry(text, piece) for piece in pieces if "=" in piece]
    return {**_call("--step", text, name, sizes[0] if sizes else None), "carry": carried}


def _carry(text: str, piece: str) -> Json:
    to, _, source = piece.partition("=")
    reply_field, at, step = source.partition("@")
    if not to or not reply_field or (at and not step.isdecimal()):
        raise UsageError(
            f"--step {text}: {piece!r} carries nothing",
            "write FIELD=REPLY_FIELD, and @STEP behind it for the reply of another step than the "
            "one before, counted from 0, as in --step GetOwner:id=id@0",
        )
    return {"to": to, "from": reply_field, **({"step": int(step)} if at else {})}


def _call(option: str, text: str, name: str, size: str | None) -> Json:
    """An operation with its size, where it has one."""
    if problem := operations.unknown("operation", name, OPERATIONS):
        raise UsageError(f"{option} {text}: {problem}")
    given = _default_size(name) if size is None else size
    if given is None:
        return {"operation": name}
    return {"operation": name, "bytes": format_bytes(_bytes(f"{option} {text}", name, given))}


def _default_size(operation: str) -> str | None:
    known = OPERATIONS.get(operation)
    needs_one = known and known.is_sized and known.size_default is None
    return f"{HELLO.bytes} B" if needs_one else None


def _bytes(option: str, operation: str, text: str) -> int:
    try:
        return message_sizes.resolve(operation, text)
    except UsageError as error:
        raise UsageError(f"{option}: {error.message}", error.remedy) from None


def _random_field(text: str) -> tuple[str, Json]:
    """``name=text:8``, ``id=integer:1:100`` or ``city=choice:Oslo,Bergen``."""
    field_name, _, values = text.partition("=")
    kind, _, given = values.partition(":")
    try:
        if field_name and kind == "text":
            return field_name, {"text": int(given)}
        if field_name and kind == "integer":
            least, greatest = map(int, given.split(":"))
            return field_name, {"integer": [least, greatest]}
    except ValueError:
        pass
    if field_name and kind == "choice" and given:
        return field_name, {"choice": given.split(",")}
    raise UsageError(
        f"--data-random {text} does not say which values the field has",
        "write FIELD=integer:LEAST:GREATEST, FIELD=text:LETTERS or FIELD=choice:ONE,OTHER",
    )


def _check_request(option: str, described: Json, seed: int) -> Request:
    """Checked by the rules of experiment files, which are loaded for it alone."""
    from pydantic import ValidationError

    from wirelab.experiment.messages import Message as ExperimentMessage
    from wirelab.experiment.yaml_model import explain

    try:
        message = ExperimentMessage.model_validate(described)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        words = explain(first, tuple(first["loc"]), ExperimentMessage)
        raise UsageError(f"{option}: {f'{place}: ' if place else ''}{words}") from None
    if message.data_problem:
        raise UsageError(f"--data-file: {message.data_problem.removeprefix('data: ')}")
    return _request(message, seed)


def _request(message: ExperimentMessage, seed: int) -> Request:
    size = next(iter(message.hello_sizes), HELLO.bytes)
    return Request(message.called, message.contract, size, message.workload(seed))
