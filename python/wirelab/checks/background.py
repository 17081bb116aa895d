"""Whether the groups that run next to the probe did what they were to do."""

from __future__ import annotations

from wirelab.format.counting import of_all
from wirelab.records.group import GroupResult
from wirelab.records.trial import Check, Trial

NAME = "background"


def check(trial: Trial) -> Check | None:
    """All groups in one check, each with its calls and failures."""
    if not trial.point.load.background:
        return None
    if not trial.background:
        return Check.unmeasurable(NAME, "the record has only the probe")
    right = all(group.calls and not group.errors for group in trial.background)
    return Check.judge(NAME, right, "; ".join(map(_words, trial.background)))


def _words(group: GroupResult) -> str:
    if not group.calls:
        return f"{group.name}: no call began within the window"
    kinds = ", ".join(f"{kind} {count}" for kind, count in group.errors_by_kind.items() if count)
    failed = of_all(group.errors, group.calls, "call")
    return f"{group.name}: {failed} failed{f' ({kinds})' if kinds else ''}"
