"""All labels of one capture."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bench.ground_truth import losses, patterns, pauses, windows
from bench.ground_truth.circumstances import Circumstances
from bench.ground_truth.conversations import Conversation
from bench.ground_truth.occurrence import Occurrence

Rule = Callable[[Conversation, Circumstances], Iterator[Occurrence]]

RULES: tuple[Rule, ...] = (
    pauses.nagle_delayed_ack,
    patterns.split_writes,
    patterns.connection_per_call,
    patterns.read_until_close,
    losses.syn_retransmission,
    losses.data_retransmission,
    windows.rounds,
    windows.h2_window,
    pauses.server_think_time,
    pauses.client_not_reading,
)


def occurrences(talk: Conversation, around: Circumstances) -> list[Occurrence]:
    """What the system calls of a capture tell, every cause asked of every exchange."""
    return [one for rule in RULES for one in rule(talk, around)]
