"""Codec times of a service, as a trial records them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wirelab.documents.codec_times import Batch, CodecTimes


@dataclass(frozen=True)
class CodecRecord:
    """Time to encode and decode the operation's last reply, without store and connection
    (:class:`wirelab.documents.codec_times.CodecTimes`)."""

    operation: str
    bytes: int
    """Size of the reply's body."""
    sha256: str
    encode_ns: float
    decode_ns: float

    @classmethod
    def of(cls, times: CodecTimes) -> CodecRecord:
        """Medians over the second half of the batches: in the first half batches grow and JIT
        compilers are active."""
        return cls(
            operation=times.operation,
            bytes=times.bytes,
            sha256=times.sha256,
            encode_ns=_steady_ns(times.encode),
            decode_ns=_steady_ns(times.decode),
        )


def _steady_ns(batches: Sequence[Batch]) -> float:
    return median(batch.ns / batch.runs for batch in batches[len(batches) // 2 :])
