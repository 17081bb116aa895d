"""The operations of every contract, and the stacks that support them (contracts/README.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from wirelab.documents.axes import Axes
from wirelab.format.units import format_bytes, format_seconds
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

CONTRACTS = ("transfer", "charging", "calendar", "records", "petclinic", "stream")
"""The contracts that services may serve."""


@dataclass(frozen=True)
class Operation:
    """One operation of a contract."""

    name: str
    contract: str
    is_sized: bool = False
    """Whether it has a variable part whose size a workload chooses."""
    size_default: int | None = None
    """Size in bytes if the workload gives none; 0: defined by the contract."""
    bindings: tuple[str, ...] = ()
    """Those that have it; empty: all but ``sse``."""
    takes_carried: bool = False
    """It takes a number that only an earlier reply contains."""
    has_text: bool = False
    """Whether codec text supports it."""
    has_entity_tag: bool = False
    """Whether caches of HTTP may keep its replies (contracts/README.md, Caches)."""


@dataclass(frozen=True)
class Sequence:
    """Calls in a fixed order; numbers from replies are used in later requests."""

    function: str
    contract: str
    operations: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name in results; some functions share their name with an operation."""
        return f"{self.function} sequence"


OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {
        operation.name: operation
        for operation in (
            Operation("Hello", "transfer", is_sized=True, has_text=True, has_entity_tag=True),
            Operation("HelloBytes", "transfer", is_sized=True, has_entity_tag=True),
            Operation("Submit", "transfer", is_sized=True),
            Operation("Upload", "transfer", is_sized=True),
            Operation("UploadStream", "transfer", is_sized=True, bindings=("grpc",)),
            Operation("Download", "transfer", is_sized=True, bindings=("grpc",)),
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
            Operation(
                "Feed",
                "stream",
                is_sized=True,
                bindings=("grpc", "connect", "sse", "websocket", "rest"),
            ),
            Operation(
                "Push", "stream", is_sized=True, bindings=("grpc", "connect", "websocket", "rest")
            ),
            Operation("Chat", "stream", is_sized=True, bindings=("grpc", "connect", "websocket")),
        )
    }
)
"""By name, which is unique across contracts."""

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
"""Name endings of messages with several calls."""
_SEQUENCE_NAMES = frozenset(sequence.name for sequence in SEQUENCES.values())

FEED = "Feed"
"""The only operation of binding ``sse``."""
CHAT = "Chat"
STREAM_BINDINGS = MappingProxyType({"sse": FEED, "websocket": f"{FEED}, Push and Chat"})
"""By binding that has the contract stream alone: its operations."""
ITEMS_MAX = 1_000_000
"""Items of one stream at most (contracts/README.md, stream)."""
PATTERNS = ("constant", "bursts", "pause", "tokens")
"""How items are spread over time (contracts/stream.proto)."""


def words(name: str, size: str) -> str:
    """``Hello 150 kB``; only the name if requests have one size, or the contract's default size."""
    operation = OPERATIONS.get(name.partition(" with ")[0])
    is_sized = operation.is_sized if operation else not name.endswith(_SEVERAL)
    if size == format_bytes(0) and (operation is None or operation.size_default == 0):
        return name
    return f"{name} {size}" if is_sized else name


def refusal(name: str, axes: Axes) -> str:
    """Why this stack does not support the operation or sequence; empty if it does."""
    if name in _SEQUENCE_NAMES:
        return _sequence_refusal(name, axes)
    operation = OPERATIONS.get(name)
    if operation is None:
        return f"there is no operation {name!r}. {did_you_mean(name, OPERATIONS)}"
    binding, codec = axes.binding, axes.codec
    if operation.takes_carried:
        return f"{name} needs a number from an earlier reply and is called within sequences only"
    if operation.bindings and binding not in operation.bindings:
        return f"{name} is not available with {binding}, only with {', '.join(operation.bindings)}"
    if (name, binding) == (CHAT, "connect") and not _has_http2(axes):
        return f"{name} with connect needs HTTP/2 all the way; use transport=http/2 without a proxy"
    if binding in STREAM_BINDINGS and not operation.bindings:
        return f"{name} is not available with {binding}, which has only {STREAM_BINDINGS[binding]}"
    if codec == "text" and not operation.has_text:
        return f"{name} with {binding} does not support codec {codec}; use json, protobuf, xml"
    if axes.http_cache != "none" and not operation.has_entity_tag:
        kept = " and ".join(each.name for each in OPERATIONS.values() if each.has_entity_tag)
        return f"no cache of HTTP keeps replies to {name}, only those to {kept}"
    return ""


def _has_http2(axes: Axes) -> bool:
    """Whether both directions of a stream flow at once. Proxies may end or gather requests."""
    return (axes.transport, axes.via) == ("http/2", "none")


def _sequence_refusal(name: str, axes: Axes) -> str:
    if axes.codec == "text":
        return f"{name} with {axes.binding} does not support codec text; use json, protobuf, xml"
    if axes.reply == "one-way":
        return f"{name} needs numbers from replies, but reply=one-way has no replies"
    return ""


SIZE_BYTES_MAX = 64 * 1024 * 1024
"""Maximum message size of the contracts (contracts/README.md)."""

Json = dict[str, object]


@dataclass(frozen=True)
class Items:
    """The items of Feed, Push and Chat."""

    count: int = 100
    gap_us: int = 10_000
    """Mean gap between two items."""
    pattern: str = PATTERNS[0]

    @property
    def is_scheduled(self) -> bool:
        """Whether they have times, which only Feed has."""
        return (self.gap_us, self.pattern) != (Items.gap_us, Items.pattern)

    def words(self, operation: str) -> str:
        """``100 items (constant, 10 ms)``, of Feed with pattern and mean gap."""
        if operation != FEED:
            return f"{self.count} items"
        return f"{self.count} items ({self.pattern}, {format_seconds(self.gap_us / 1e6)})"

    def plan(self) -> Json:
        """The items in the engine's plan."""
        return {"count": self.count, "gap_us": self.gap_us, "pattern": self.pattern}


@dataclass(frozen=True)
class Message:
    """An operation or a sequence."""

    operation: str | None = None
    sequence: str | None = None
    """A function of the charging contract."""
    bytes: int = 0
    """Size of the operation's variable part, if it has one."""
    chunk: int | None = None
    """Chunk size of streams in bytes; None: the engine's default."""
    items: Items | None = None
    """Of Feed, Push and Chat; None: the engine's default."""

    @property
    def name(self) -> str:
        """The operation, or ``ReservationDebit sequence``."""
        return self.operation if self.operation else SEQUENCES[str(self.sequence)].name

    @property
    def contract(self) -> str:
        """The contract of the operation or sequence."""
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
        if self.chunk is not None:
            workload["chunk_bytes"] = self.chunk
        if self.items is not None:
            workload["items"] = self.items.plan()
        return workload


def problem(message: Message, *, has_size: bool) -> str:
    """Why the message is invalid; empty if it is valid. ``has_size``: a size was given, even 0. The
    names in it are already known to exist."""
    if (message.operation is None) == (message.sequence is None):
        return "a message has either operation or sequence"
    if message.bytes > SIZE_BYTES_MAX:
        return f"the maximum size in this contract is {SIZE_BYTES_MAX} B"
    operation = OPERATIONS.get(message.operation or "")
    if message.items and (operation is None or operation.contract != "stream"):
        return f"{message.name} has no items: use operation {FEED}"
    if message.items and message.items.is_scheduled and message.operation != FEED:
        return f"{message.name} sends its items at once: a gap and a pattern belong to {FEED}"
    if has_size and (operation is None or not operation.is_sized):
        return f"{message.name} has a fixed size: leave bytes out"
    if not has_size and operation and operation.is_sized and operation.size_default is None:
        return f"{message.name} needs a size: add for example bytes: 150 kB"
    return ""


def unknown(noun: str, name: str, known: Iterable[str]) -> str:
    """Why the name is not a known operation or sequence; empty if it is."""
    names = list(known)
    if name in names:
        return ""
    return f"there is no {noun} {name!r}. {did_you_mean(name, names)}"
