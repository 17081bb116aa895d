"""The messages of wirelab's own contracts whose size a workload chooses.

They are those of the engine (crates/contract/src/workload.rs), value by value, so that their sizes
in every codec are known before a call is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

from wirelab.contracts.schema import Contract, Field, Kind, Label, Message
from wirelab.contracts.values import Value
from wirelab.errors import UsageError

SUBMIT_BYTES_MIN = 100
"""Smallest Submit request, in bytes of Protocol Buffers."""
_LAST_RECORD_BYTES_MIN = 40
"""Room kept for the last record, whose remark fills the request up."""
_PREFIX_GROWTH_MAX = 4
"""Bytes by which one length prefix can grow: a varint of a 32-bit length has 1 to 5."""
_MASK = (1 << 64) - 1
_ITEMS = (
    *("bolt M8", "écrou", "Blech 2 mm", "ナット", "гайка", "čep & kolík", "🔩"),
    'tuerca "fina"',
)
_REMARKS = (
    *("", "urgent", "für Halle 3", "C:\\stock\\7", "在庫なし", "<see drawing>"),
    *("la pièce n'est pas peinte", "ΔT ≤ 40 °C, 6 × 9"),
)


def _field(number: int, name: str, kind: Kind, type_name: str = "") -> Field:
    label = Label.REPEATED if type_name else Label.SINGLE
    return Field(name, name, number, kind, label, type_name)


TRANSFER = Contract(
    "wirelab.transfer.v1",
    "Transfer",
    "Submit",
    "SubmitRequest",
    "SubmitReply",
    (
        Message("HelloReply", (_field(1, "text", Kind.STRING),)),
        Message("HelloBytesReply", (_field(1, "text", Kind.BYTES),)),
        Message(
            "Record",
            (
                _field(1, "id", Kind.INT64),
                _field(2, "quantity", Kind.INT32),
                _field(3, "item", Kind.STRING),
                _field(4, "remark", Kind.STRING),
            ),
        ),
        Message(
            "SubmitRequest",
            (
                _field(1, "batch", Kind.STRING),
                _field(2, "records", Kind.MESSAGE, "Record"),
            ),
        ),
        Message("Refusal", (_field(1, "id", Kind.INT64), _field(2, "reason", Kind.STRING))),
        Message(
            "SubmitReply",
            (
                _field(1, "batch", Kind.STRING),
                _field(2, "accepted", Kind.INT32),
                _field(3, "quantity_total", Kind.INT64),
                _field(4, "refused", Kind.MESSAGE, "Refusal"),
            ),
        ),
        Message("UploadRequest", (_field(1, "data", Kind.BYTES),)),
    ),
)
"""The large messages of contracts/transfer.proto, and the reply of Submit."""
CALENDAR = Contract(
    "wirelab.calendar.v1",
    "Calendar",
    "Deploy",
    "DeployRequest",
    "DeployReply",
    (
        Message("DeployRequest", (_field(1, "document", Kind.STRING),)),
        Message("DeployReply", (_field(1, "status", Kind.STRING),)),
    ),
)
"""The same of contracts/calendar.proto."""


@dataclass(frozen=True)
class LargeMessage:
    """The message of an operation that has the size."""

    contract: Contract
    name: str
    value: Value


def large_message(operation: str, size: int) -> LargeMessage | None:
    """The request or reply of an operation at a size in bytes; None where a single message does not
    have it. Texts are of letters that no codec escapes. Raises :class:`UsageError` for a size that
    Submit cannot have."""
    if operation == "Hello":
        return LargeMessage(TRANSFER, "HelloReply", {"text": "x" * size})
    if operation == "HelloBytes":
        return LargeMessage(TRANSFER, "HelloBytesReply", {"text": bytes(size)})
    if operation == "Upload":
        return LargeMessage(TRANSFER, "UploadRequest", {"data": bytes(size)})
    if operation == "Deploy" and size:
        return LargeMessage(CALENDAR, "DeployRequest", {"document": "x" * size})
    if operation == "Submit":
        return LargeMessage(TRANSFER, "SubmitRequest", submit_request(size))
    return None


def submit_request(size: int, seed: int = 0) -> Value:
    """The request whose encoding as Protocol Buffers has ``size`` bytes. The engine has seed 0 in
    every plan."""
    if size < SUBMIT_BYTES_MIN:
        raise UsageError(
            f"Submit cannot have {size} B", f"give {SUBMIT_BYTES_MIN} B or more of protobuf"
        )
    writer = _RecordWriter(size, seed)
    batch = f"B{seed:x}-ü"
    left = size - _length_of_text(batch)
    records = []
    for record in writer.records():
        if record.length + _LAST_RECORD_BYTES_MIN > left:
            break
        left -= record.length
        records.append(record)
    pluses, last = writer.last_record(left)
    return {"batch": batch + "+" * pluses, "records": list(map(asdict, [*records, last]))}


@dataclass
class _Record:
    """One record of Submit."""

    id: int
    quantity: int
    item: str
    remark: str

    @property
    def length(self) -> int:
        """As field 2 of a request: tag, length, message."""
        body = sum(1 + _varint(number) for number in (self.id, self.quantity) if number)
        body += _length_of_text(self.item) + _length_of_text(self.remark)
        return 1 + _varint(body) + body


@dataclass
class _SplitMix64:
    """Steele, Lea, Flood 2014."""

    state: int

    def next(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & _MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)


@dataclass
class _RecordWriter:
    """Makes records of every kind."""

    size: int
    seed: int
    _random: _SplitMix64 = field(init=False)

    def __post_init__(self) -> None:
        self._random = _SplitMix64(self.seed)

    def records(self) -> Iterator[_Record]:
        # The contract allows 100,000 records of about 45 bytes each.
        share = self.size // 50_000
        filler = "." * share if share > 20 else ""
        made = 0
        while True:
            record = _Record(
                id=self._integer(63),
                quantity=max(1, abs(self._integer(31))),
                item=self._word(_ITEMS),
                remark=self._word(_REMARKS) + filler,
            )
            if made % 16 == 2:
                _corrupt(record, made)
            made += 1
            yield record

    def last_record(self, left: int) -> tuple[int, _Record]:
        """How many bytes the name of the batch takes for a length that no record has, and the
        record that takes the others."""
        record = _Record(2**63 - 2, 1, self._word(_ITEMS), "")
        pluses = 0
        while (missing := left - pluses - record.length) != 0:
            if missing < 0:
                record.remark = record.remark[:-1]
                pluses += 1
            else:
                # Near the end byte by byte: a longer remark may lengthen two prefixes.
                record.remark += "." * max(1, missing - 2 - 2 * _PREFIX_GROWTH_MAX)
        return pluses, record

    def _integer(self, bits: int) -> int:
        digits, shape = self._random.next(), self._random.next()
        magnitude = digits >> (64 - bits + shape % bits)
        return -magnitude if shape >> 61 == 0 else magnitude

    def _word(self, words: tuple[str, ...]) -> str:
        return words[self._random.next() % len(words)]


def _corrupt(record: _Record, made: int) -> None:
    """Makes a record that a service must refuse, each reason in turn."""
    reason = made // 16 % 3
    if reason == 0:
        record.quantity = 0
    elif reason == 1:
        record.item = ""
    else:
        record.quantity = -record.quantity


def _length_of_text(text: str) -> int:
    """As a field: tag, length, text; an empty one is left out."""
    length = len(text.encode())
    return 1 + _varint(length) + length if length else 0


def _varint(number: int) -> int:
    """Bytes of an integer of Protocol Buffers; negative ones take ten."""
    return max(1, -(-(number & _MASK).bit_length() // 7))
