"""What a call carries: one operation at one size, or one sequence of calls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from wirelab.stack.operations import OPERATIONS, SEQUENCES
from wirelab.stack.suggestions import did_you_mean

SIZE_BYTES_MAX = 64 * 1024 * 1024
"""The largest message of the contract (contracts/README.md)."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Message:
    """An operation, or a sequence in its place."""

    operation: str | None = None
    sequence: str | None = None
    """A function of charging."""
    bytes: int = 0
    """Size of the operation's large part, where it has one."""
    chunk: int | None = None
    """Bytes of a chunk in streams; None: the engine's own."""

    @property
    def name(self) -> str:
        """The operation, or ``ReservationDebit sequence``."""
        return self.operation if self.operation else SEQUENCES[str(self.sequence)].name

    @property
    def contract(self) -> str:
        """The contract that it is of."""
        if self.operation:
            return OPERATIONS[self.operation].contract
        return SEQUENCES[str(self.sequence)].contract

    def workload(self) -> Json:
        """The object ``workload`` of a group in the engine's plan."""
        if self.sequence:
            return {"kind": "sequence", "contract": self.contract, "function": self.sequence}
        workload: Json = {
            "kind": "contract",
            "contract": self.contract,
            "operation": self.operation,
            "bytes": self.bytes,
        }
        return workload if self.chunk is None else {**workload, "chunk_bytes": self.chunk}


def problem(message: Message, *, has_size: bool) -> str:
    """Why there is no such message; empty where there is one. ``has_size``: a size was given,
    be it 0. The names in it are known."""
    if (message.operation is None) == (message.sequence is None):
        return "a message has either operation or sequence"
    if message.bytes > SIZE_BYTES_MAX:
        return f"at most {SIZE_BYTES_MAX} B in this contract"
    operation = OPERATIONS.get(message.operation or "")
    if has_size and (operation is None or not operation.is_sized):
        return f"{message.name} has one size: leave bytes out"
    if not has_size and operation and operation.is_sized and operation.size_default is None:
        return f"{message.name} needs its size: add for example bytes: 150 kB"
    return ""


def unknown(noun: str, name: str, known: Iterable[str]) -> str:
    """Why there is no operation or sequence of that name; empty where there is."""
    names = list(known)
    if name in names:
        return ""
    return f"there is no {noun} {name!r}. {did_you_mean(name, names)}"
