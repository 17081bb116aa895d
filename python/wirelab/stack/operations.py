"""The operations of every contract, and what can carry them (contracts/README.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from wirelab.format.units import format_bytes
from wirelab.stack.suggestions import did_you_mean

PETCLINIC = (
    "ListPetTypes",
    "GetPetType",
    "AddPetType",
    "UpdatePetType",
    "DeletePetType",
    "ListPets",
    "GetPet",
    "AddPet",
    "UpdatePet",
    "DeletePet",
    "ListOwners",
    "GetOwner",
    "AddOwner",
    "UpdateOwner",
    "DeleteOwner",
    "AddPetToOwner",
    "AddVisitToOwner",
    "GetOwnersPet",
    "ListSpecialties",
    "GetSpecialty",
    "AddSpecialty",
    "UpdateSpecialty",
    "DeleteSpecialty",
    "ListVets",
    "GetVet",
    "AddVet",
    "UpdateVet",
    "DeleteVet",
    "ListVisits",
    "GetVisit",
    "AddVisit",
    "UpdateVisit",
    "DeleteVisit",
)
"""The 33 operations of contract petclinic, in its order."""

CONTRACTS = ("transfer", "charging", "calendar", "records", "petclinic")
"""The contracts that services may serve."""


@dataclass(frozen=True)
class Operation:
    """One call of a contract."""

    name: str
    contract: str
    is_sized: bool = False
    """It has a large part, whose size a workload chooses."""
    size_default: int | None = None
    """Bytes where the workload may leave the size out; 0: the contract's own."""
    is_stream: bool = False
    """It exists in gRPC only."""
    takes_carried: bool = False
    """It takes a number that only an earlier reply can give."""
    has_text: bool = False
    """The codec text carries it."""


@dataclass(frozen=True)
class Sequence:
    """Calls in a fixed order, numbers of replies carried into later requests."""

    function: str
    contract: str
    operations: tuple[str, ...]

    @property
    def name(self) -> str:
        """As results call it: some functions share their name with an operation."""
        return f"{self.function} sequence"


OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {
        operation.name: operation
        for operation in (
            Operation("Hello", "transfer", is_sized=True, has_text=True),
            Operation("HelloBytes", "transfer", is_sized=True),
            Operation("Submit", "transfer", is_sized=True),
            Operation("Upload", "transfer", is_sized=True),
            Operation("UploadStream", "transfer", is_sized=True, is_stream=True),
            Operation("Download", "transfer", is_sized=True, is_stream=True),
            Operation("Credit", "charging"),
            Operation("DirectDebit", "charging"),
            Operation("Reserve", "charging"),
            Operation("DebitReservation", "charging", takes_carried=True),
            Operation("ReleaseRes", "charging", takes_carried=True),
            Operation("CreditControl", "charging"),
            Operation("ConfirmAction", "charging", takes_carried=True),
            Operation("Deploy", "calendar", is_sized=True, size_default=0),
            Operation("Book", "calendar"),
            Operation("Entries", "calendar"),
            Operation("Allocate", "records"),
            Operation("FindAllocation", "records"),
            Operation("CountAllocations", "records"),
            *(Operation(name, "petclinic") for name in PETCLINIC),
        )
    }
)
"""By name, which no two contracts share."""

_RESERVED = ("Reserve", "ConfirmAction")

SEQUENCES: Mapping[str, Sequence] = MappingProxyType(
    {
        function: Sequence(function, "charging", calls)
        for function, calls in (
            ("CreditControl", ("CreditControl",)),
            ("DirectDebit", ("DirectDebit", "ConfirmAction")),
            ("Credit", ("Credit", "ConfirmAction")),
            ("ReservationRelease", (*_RESERVED, "ReleaseRes", "ConfirmAction")),
            ("ReservationDebit", (*_RESERVED, "DebitReservation", "ConfirmAction")),
        )
    }
)
"""By function (Elfwing and Paulsson 2002, appendix B.2)."""

_SEVERAL = (" sequence", " steps", " mix")
"""Ends of the names of what is several calls."""
_SEQUENCE_NAMES = frozenset(sequence.name for sequence in SEQUENCES.values())

STREAMING_BINDINGS = ("grpc",)
"""Bindings that have streams."""


def words(name: str, size: str) -> str:
    """``Hello 150 kB``; the name alone where the requests have one size, or the contract's own."""
    operation = OPERATIONS.get(name.partition(" with ")[0])
    is_sized = operation.is_sized if operation else not name.endswith(_SEVERAL)
    if size == format_bytes(0) and (operation is None or operation.size_default == 0):
        return name
    return f"{name} {size}" if is_sized else name


def refusal(name: str, axes: Mapping[str, str]) -> str:
    """Why this stack cannot carry the operation or sequence of that name; empty when it can."""
    if name in _SEQUENCE_NAMES:
        return _sequence_refusal(name, axes)
    operation = OPERATIONS.get(name)
    if operation is None:
        return f"there is no operation {name!r}. {did_you_mean(name, OPERATIONS)}"
    binding, codec = axes["binding"], axes["codec"]
    if operation.takes_carried:
        return f"{name} takes a number from an earlier reply and is called within sequences only"
    if operation.is_stream and binding not in STREAMING_BINDINGS:
        return f"{name} does not exist over {binding}, only over {', '.join(STREAMING_BINDINGS)}"
    if codec == "text" and not operation.has_text:
        return f"{name} over {binding} has no codec {codec}, only json, protobuf, xml"
    return ""


def _sequence_refusal(name: str, axes: Mapping[str, str]) -> str:
    if axes["codec"] == "text":
        return f"{name} over {axes['binding']} has no codec text, only json, protobuf, xml"
    if axes["reply"] == "one-way":
        return f"{name} carries numbers of replies, and reply=one-way has none"
    return ""


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
