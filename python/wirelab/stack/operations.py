"""The operations of every contract, and what can carry them (contracts/README.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

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

_SEQUENCE_NAMES = frozenset(sequence.name for sequence in SEQUENCES.values())

STREAMING_BINDINGS = ("grpc",)
"""Bindings that have streams."""


def words(name: str, size: str) -> str:
    """``Hello 150 kB``; the name alone where the requests have one size, or the contract's own."""
    operation = OPERATIONS.get(name)
    is_sized = operation.is_sized if operation else name not in _SEQUENCE_NAMES
    if operation and operation.size_default == 0 and size == format_bytes(0):
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
