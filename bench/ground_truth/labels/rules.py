"""All labels of one capture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from bench.ground_truth.labels import losses, patterns, pauses, windows
from bench.ground_truth.labels.occurrence import (
    H2_WINDOW,
    IDLE_RESTART,
    SLOW_START,
    TCP_WINDOW,
    Circumstances,
    Occurrence,
)
from bench.ground_truth.syscalls.conversations import Conversation

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


OF_TCP = (TCP_WINDOW, SLOW_START, IDLE_RESTART)
"""Causes that may hide behind an HTTP/2 window."""


def occurrences(talk: Conversation, around: Circumstances) -> list[Occurrence]:
    """What the system calls of a capture tell, every cause asked of every exchange. While
    an HTTP/2 window is empty, the window of TCP may be, too: a moment that has two causes
    may be charged to either."""
    found = [one for rule in RULES for one in rule(talk, around)]
    starved = {one.key for one in found if one.cause == H2_WINDOW}
    return [
        replace(one, is_certain=False) if one.cause in OF_TCP and one.key in starved else one
        for one in found
    ]
