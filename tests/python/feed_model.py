"""Schedules and texts of the contract stream, written from contracts/stream.proto alone."""

from __future__ import annotations

import string
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

MASK = (1 << 64) - 1
ALPHABET = f"{string.ascii_uppercase}{string.ascii_lowercase}{string.digits}+/"


def splitmix64(state: int) -> Iterator[int]:
    """The outputs of a generator whose state starts as ``state``."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        yield z ^ z >> 31


@dataclass(frozen=True)
class Feed:
    """A FeedRequest."""

    count: int
    bytes: int
    gap_us: int
    pattern: str
    seed: int

    def text(self, index: int) -> str:
        """The text of an item."""
        base = next(splitmix64(self.seed & MASK))
        outputs = splitmix64((base + index) & MASK)
        letters = (ALPHABET[z >> 6 * k & 63] for z in outputs for k in range(10))
        return "".join(islice(letters, self.bytes))

    def due_ns(self) -> Iterator[int]:
        """When each item is due, after the receipt of the request."""
        gap, outputs, due = self.gap_us * 1000, splitmix64(self.seed & MASK), 8 * self.gap_us * 1000
        for index in range(self.count):
            if self.pattern == "constant":
                yield index * gap
            elif self.pattern == "bursts":
                yield index // 10 * 10 * gap
            elif self.pattern == "pause":
                yield (index + 20 * (index >= self.count // 2)) * gap
            else:
                if index:
                    due += 1000 * (next(outputs) % (2 * self.gap_us + 1))
                yield due
