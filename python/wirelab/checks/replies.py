"""Whether replies of services that are not of the lab were compared with anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wirelab.format.counting import format_count
from wirelab.format.units import format_bytes
from wirelab.records.group import RepliesResult
from wirelab.records.trial import Check, Trial
from wirelab.stack.external import LANGUAGE

NAME = "replies"
UNCHECKED = "replies were not checked"


def check(trial: Trial) -> Check | None:
    """Of such services only: those of the lab have a contract."""
    if trial.point.axes.language != LANGUAGE:
        return None
    expected = expectation(trial)
    if expected:
        reason = f"every reply was compared with what is expected of it: {', '.join(expected)}"
        return Check(NAME, "ok", reason)
    how = differences([trial.result.replies] if trial.result.replies else [])
    return Check(NAME, "noted", f"{UNCHECKED}: {how}")


def is_unchecked(trial: Trial) -> bool:
    """Whether nothing was expected of the replies of a service that is not of the lab."""
    is_own = trial.point.axes.language == LANGUAGE
    return is_own and trial.status == "measured" and not expectation(trial)


def expectation(trial: Trial) -> tuple[str, ...]:
    """The keys of ``expect`` that the trial's replies had to fulfil; none without it."""
    message: dict[str, Any] = trial.point.options.get("message") or {}
    return tuple(message.get("expect") or trial.point.service.get("expect") or ())


def differences(results: Sequence[RepliesResult]) -> str:
    """How good replies differed: ``all 50 had status 200 and the same 312 B``, ``5 different
    ones, 300 B to 312 B``."""
    total = sum(result.count for result in results)
    if not total:
        return "there was no good reply"
    kinds = {(one.status, one.bytes, one.hash) for result in results for one in result.different}
    low = min(result.bytes_min for result in results if result.count)
    high = max(result.bytes_max for result in results if result.count)
    status = ", ".join(str(status) for status in sorted({status for status, *_ in kinds}))
    sizes = format_bytes(low) if low == high else f"{format_bytes(low)} to {format_bytes(high)}"
    if len(kinds) == 1:
        text = f"all {total:,} had status {status} and the same {sizes}"
    else:
        more = "more than " if any(result.others for result in results) else ""
        text = f"{more}{len(kinds)} different ones of {total:,}, status {status}, {sizes}"
    by_length = sum(result.compared_by_length for result in results)
    if by_length:
        text += f" ({format_count(by_length, 'reply')} of more than 1 MB compared by length alone)"
    return text
