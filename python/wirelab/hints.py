"""What a person may want to try after `wirelab drive`, where the result itself suggests it."""

from __future__ import annotations

from typing import Any

from wirelab.stacks import Stack
from wirelab.targets import Server

Json = dict[str, Any]

WINDOW_S_MIN = 0.8
"""A shorter window has too few slots to tell a trend."""


def hints(target: Stack | Server, outcome: Json, *, keeps: bool = True) -> list[str]:
    """Sentences, none for a result that explains itself. ``keeps``: connections were to be
    kept."""
    group = outcome["groups"][0]
    steady = None if outcome["interrupted"] else _unsteady(group)
    ended = _ended(group) if keeps else None
    found = (_nobody(target, group), _tls(target, group), ended, steady)
    return [hint for hint in found if hint is not None]


def _nobody(target: Stack | Server, group: Json) -> str | None:
    if isinstance(target, Stack) or _kinds(group) != ["refused"] or group["ok"]:
        return None
    if "Connection refused" not in " ".join(group["error_examples"]):
        return None
    return f"nobody listens at {target.address}: is the server running, and is the port right?"


def _tls(target: Stack | Server, group: Json) -> str | None:
    """TLS on one side only; a server may also just close without a word."""
    if isinstance(target, Stack) or group["ok"] or not group["errors"]:
        return None
    words = " ".join(group["error_examples"])
    plain = "grpc://" if target.kind == "grpc" else "http://"
    secure = "grpcs://" if target.kind == "grpc" else "https://"
    if "no TLS record" in words:
        return f"the server speaks without TLS: write {plain} in place of {secure}"
    if "answered with a TLS record" in words or "HTTPS" in words:
        return f"the server wants TLS: write {secure} in place of {plain}"
    silent = not group["bytes_received"] and set(_kinds(group)) <= {"reset", "closed"}
    if silent and target.secure_name is None:
        return f"the server ended every connection without a byte; does it want TLS ({secure})?"
    return None


def _ended(group: Json) -> str | None:
    """A server that ends connections which the caller would keep: closing and opening are
    then what was measured."""
    opened = group["connections_opened"] - group["connections_peak"]
    if not group["ok"] or opened < group["calls"] / 2:
        return None
    return (
        f"the server kept no connection: {group['connections_opened']:,} were opened for "
        f"{group['calls']:,} calls, and response times hold that; is keep-alive off there?"
    )


def _kinds(group: Json) -> list[str]:
    return [kind for kind, count in group["errors_by_kind"].items() if count]


def _unsteady(group: Json) -> str | None:
    """A rate that moved during the window, as that of a virtual machine which still compiles."""
    if not group["ok"] or group["window_s"] < WINDOW_S_MIN:
        return None
    # scipy takes a second to load, and nobody waits for it before the calls.
    from wirelab.statistics import stationary
    from wirelab.verdicts import whole_slots

    found = stationary(whole_slots(group))
    if found.stationary is not False:
        return None
    warmed = float(group["warmup"]["seconds"])
    longer = f"a --warmup longer than {warmed:g}s" if warmed else "--warmup 5s"
    return (
        f"the rate was not steady over the window ({found.reason}): {longer} leaves the "
        "beginning out, which a service on a virtual machine needs for compiling"
    )
