"""What a service's codec took by itself, as a trial keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wirelab.documents.codec_times import Batch, CodecTimes


@dataclass(frozen=True)
class CodecRecord:
    """What encoding and decoding the operation's last reply took, without a store and a
    connection (:class:`wirelab.documents.codec_times.CodecTimes`)."""

    operation: str
    bytes: int
    """Of the reply's body."""
    sha256: str
    encode_ns: float
    decode_ns: float

    @classmethod
    def of(cls, times: CodecTimes) -> CodecRecord:
        """Medians over the second half of the batches: in the first they grow, and compilers
        are at work."""
        return cls(
            operation=times.operation,
            bytes=times.bytes,
            sha256=times.sha256,
            encode_ns=_settled_ns(times.encode),
            decode_ns=_settled_ns(times.decode),
        )


def _settled_ns(batches: Sequence[Batch]) -> float:
    return median(batch.ns / batch.runs for batch in batches[len(batches) // 2 :])
